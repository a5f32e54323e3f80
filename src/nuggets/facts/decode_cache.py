"""Decoded pages of facts, stored in the database. Knows no key and no text.

A decode depends only on the nugget's name and configuration and on the page's pattern of values.
These are its fingerprint. So the first process that needs a page decodes it and stores the result,
which is valid until the fingerprint changes. As long as all values differ, the next facts change a
page in a way that is known before they exist, so some of those pages are decoded with it: that is
quicker than loading NumPy again for each.
"""

from collections.abc import Mapping
from struct import Struct
from typing import TYPE_CHECKING, Any

from nuggets.domain.records import NuggetConfig
from nuggets.facts.capacity import page_size
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nuggets.domain.state import Database

Pattern = tuple[int, ...]

ALGEBRA = 1  # to be raised when the same page may be decoded differently
DECODES_REMEMBERED = 1024  # by one process: about a megabyte
CLOSE = 1e-4  # machines round sums differently
AHEAD = 8  # pages that are decoded with one; 8 take 25 to 90 ms, and loading NumPy takes 140

VERDICT = Struct("<Idd")  # number of the value, confidence, margin


class Page(NamedTuple):
    """What the decode of a page depends on."""

    nugget: str  # folded
    config: NuggetConfig
    number: int
    pattern: Pattern  # for each fact in order, the number of its value in the page

    @property
    def fingerprint(self) -> str:
        config = self.config
        settings = (
            *(config.dims, config.banks, config.ensembles, config.ortho_iters),
            *(config.sharpen_p, config.corvacs_a, config.temperature),
        )
        head = " ".join(map(str, (ALGEBRA, *settings)))
        return f"{self.nugget}|{head}|{' '.join(map(str, self.pattern))}"

    @property
    def slot(self) -> int:
        """Where the decode is stored: pages without repeated values share one by size."""
        distinct = len(self.pattern) == max(self.pattern) + 1
        return -len(self.pattern) if distinct else self.number


class DecodeCache:
    """The table `fact_pages`, and what it does not hold yet."""

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._remembered: dict[str, bytes] = {}  # by fingerprint, oldest first
        self._fresh: dict[tuple[str, int], tuple[str, bytes]] = {}  # not in the table yet

    def verdict(self, page: Page, position: int) -> tuple[int, float, float]:
        """The number of the value at this position, with confidence and margin."""
        fingerprint = page.fingerprint
        decoded = self._remembered.get(fingerprint) or self._stored_decode(page, fingerprint)
        if decoded is None:
            decoded = _decode(page)
            self._add_fresh(page, decoded)
            for larger in _larger_pages(page):
                self._add_fresh(larger, _decode(larger))
        if fingerprint not in self._remembered:
            _limit(self._remembered, DECODES_REMEMBERED - 1)
            self._remembered[fingerprint] = decoded
        best, confidence, margin = VERDICT.unpack_from(decoded, position * VERDICT.size)
        return best, confidence, margin

    def _add_fresh(self, page: Page, decoded: bytes) -> None:
        _limit(self._fresh, DECODES_REMEMBERED - 1)
        self._fresh[page.nugget, page.slot] = page.fingerprint, decoded

    def _stored_decode(self, page: Page, fingerprint: str) -> bytes | None:
        row = self._database.execute(
            "SELECT decoded FROM fact_pages WHERE nugget = ? AND page = ? AND fingerprint = ?",
            (page.nugget, page.slot, fingerprint),
        ).fetchone()
        is_complete = row is not None and len(row[0]) == len(page.pattern) * VERDICT.size
        return bytes(row[0]) if is_complete else None

    @property
    def has_fresh(self) -> bool:
        return bool(self._fresh)

    def keep(self) -> None:
        """Store the new decodes; each replaces one with another fingerprint."""
        rows = [(*slot, *decode) for slot, decode in self._fresh.items()]
        self._database.executemany(
            "INSERT INTO fact_pages VALUES (?, ?, ?, ?) ON CONFLICT (nugget, page) DO UPDATE"
            " SET fingerprint = excluded.fingerprint, decoded = excluded.decoded",
            rows,
        )
        self._fresh.clear()

    def forget(self) -> None:
        """Delete all decodes: they still show which values were equal."""
        self._database.execute("DELETE FROM fact_pages")
        self._fresh.clear()
        self._remembered.clear()

    def check(self, configs: Mapping[str, NuggetConfig]) -> list[str]:
        """Decode every stored page again and describe what differs."""
        rows = self._database.execute(
            "SELECT nugget, page, fingerprint, decoded FROM fact_pages ORDER BY nugget, page"
        ).fetchall()
        return [
            f"nugget {nugget}: stored decode {number}: {fault}"
            for nugget, number, fingerprint, decoded in rows
            for fault in self._faults(
                Page(nugget, configs.get(nugget, NuggetConfig(nugget)), number, ()),
                fingerprint,
                decoded,
            )
        ]

    def _faults(self, page: Page, fingerprint: str, decoded: bytes) -> "Iterator[str]":
        numbers = fingerprint.rpartition("|")[2].split()
        page = page._replace(pattern=tuple(int(n) for n in numbers if n.isdecimal()))
        if page.fingerprint != fingerprint:
            return  # it belongs to another configuration and is never read
        if len(decoded) != len(page.pattern) * VERDICT.size:
            yield "incomplete"
            return
        stored = VERDICT.iter_unpack(decoded)
        fresh = VERDICT.iter_unpack(_decode(page))
        for position, (before, now) in enumerate(zip(stored, fresh, strict=True)):
            if any(abs(was - made) > CLOSE for was, made in zip(before, now, strict=True)):
                yield f"position {position} is stored as {before}, and decoded as {now}"


def _decode(page: Page) -> bytes:
    from nuggets.facts.fhrr import seed_from_text
    from nuggets.facts.memory_banks import decode_page

    verdicts = decode_page(page.config, seed_from_text(page.nugget), page.pattern)
    return b"".join(VERDICT.pack(*verdict) for verdict in verdicts)


def _larger_pages(page: Page) -> "Iterator[Page]":
    """What the page becomes with the next facts, if their values differ from all there are."""
    size = len(page.pattern)
    if page.slot != -size:  # some values are equal
        return
    for larger in range(size + 1, min(size + AHEAD, page_size(page.config.dims)) + 1):
        yield page._replace(pattern=tuple(range(larger)))


def _limit(cache: dict[Any, Any], most: int) -> None:
    """Drop the oldest entries."""
    while len(cache) > most:
        del cache[next(iter(cache))]
