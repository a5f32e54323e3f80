"""What the algebra decoded from pages of facts, kept in the database. Knows no key and no text.

A decode depends on the nugget's name and configuration and on the page's pattern of values, which
are its fingerprint, and on nothing else. So it is done once, by whoever asks first, and holds
until one of them changes.
"""

from collections.abc import Mapping
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.records import NuggetConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nuggets.facts.banks import Banks
    from nuggets.sql import Database

Pattern = tuple[int, ...]

ALGEBRA = 1  # raised when the same page may be decoded differently
BUILT_NUGGETS = 2  # whose vectors stay in memory, some 16 MB each
DECODES_REMEMBERED = 1024  # by a living process: about a megabyte
CLOSE = 1e-4  # between machines sums are rounded differently

VERDICT = Struct("<Idd")  # number of the value, confidence, margin


class Page(NamedTuple):
    """One page of a nugget, as far as a decode depends on it."""

    nugget: str  # folded
    config: NuggetConfig
    number: int
    pattern: Pattern  # for each fact in order, the number of its value among the page's

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
        """Pages without a repeated value differ in size alone: one decode serves all of a size."""
        distinct = len(self.pattern) == max(self.pattern) + 1
        return -len(self.pattern) if distinct else self.number


class Pages:
    """The table `fact_pages`, and the vectors of the nuggets decoded last."""

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._remembered: dict[str, bytes] = {}  # by fingerprint, oldest first
        self._fresh: dict[tuple[str, int], tuple[str, bytes]] = {}  # not in the table yet
        self._banks: dict[str, tuple[NuggetConfig, Banks]] = {}  # least recently used first

    def verdict(self, page: Page, position: int) -> tuple[int, float, float]:
        """Which value lies at this position, with confidence and margin."""
        fingerprint = page.fingerprint
        decoded = self._remembered.get(fingerprint) or self._kept(page, fingerprint)
        if decoded is None:
            decoded = self._decoded(page)
            _limit(self._fresh, DECODES_REMEMBERED - 1)
            self._fresh[page.nugget, page.slot] = fingerprint, decoded
        if fingerprint not in self._remembered:
            _limit(self._remembered, DECODES_REMEMBERED - 1)
            self._remembered[fingerprint] = decoded
        best, confidence, margin = VERDICT.unpack_from(decoded, position * VERDICT.size)
        return best, confidence, margin

    def _kept(self, page: Page, fingerprint: str) -> bytes | None:
        row = self._database.execute(
            "SELECT decoded FROM fact_pages WHERE nugget = ? AND page = ? AND fingerprint = ?",
            (page.nugget, page.slot, fingerprint),
        ).fetchone()
        whole = row is not None and len(row[0]) == len(page.pattern) * VERDICT.size
        return bytes(row[0]) if whole else None

    def _decoded(self, page: Page) -> bytes:
        verdicts = self._banks_of(page).decode(page.pattern)
        return b"".join(VERDICT.pack(*verdict) for verdict in verdicts)

    def _banks_of(self, page: Page) -> "Banks":
        from nuggets.facts.banks import Banks
        from nuggets.fhrr.phasors import seed_from_text

        config, banks = self._banks.pop(page.nugget, (None, None))
        if banks is None or config != page.config:
            banks = Banks(page.config, seed_from_text(page.nugget))
        _limit(self._banks, BUILT_NUGGETS - 1)
        self._banks[page.nugget] = page.config, banks
        return banks

    @property
    def has_fresh(self) -> bool:
        return bool(self._fresh)

    def keep(self) -> None:
        """Store what was decoded since; what it replaces has another fingerprint."""
        if not self._fresh:
            return
        rows = [(*slot, *decode) for slot, decode in self._fresh.items()]
        self._database.executemany(
            "INSERT INTO fact_pages VALUES (?, ?, ?, ?) ON CONFLICT (nugget, page) DO UPDATE"
            " SET fingerprint = excluded.fingerprint, decoded = excluded.decoded",
            rows,
        )
        self._fresh.clear()

    def forget(self) -> None:
        """Numbers say little, but which values were equal is also a trace."""
        self._database.execute("DELETE FROM fact_pages")
        self._fresh.clear()
        self._remembered.clear()

    def check(self, configs: Mapping[str, NuggetConfig]) -> list[str]:
        """What the algebra decodes otherwise than it was kept."""
        rows = self._database.execute(
            "SELECT nugget, page, fingerprint, decoded FROM fact_pages ORDER BY nugget, page"
        ).fetchall()
        return [
            f"nugget {nugget}: kept decode {number}: {fault}"
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
            return  # of another configuration: never read
        if len(decoded) != len(page.pattern) * VERDICT.size:
            yield "incomplete"
            return
        again = VERDICT.iter_unpack(self._decoded(page))
        kept = VERDICT.iter_unpack(decoded)
        for position, (ours, theirs) in enumerate(zip(kept, again, strict=True)):
            if ours[0] != theirs[0] or max(map(_distance, ours, theirs)) > CLOSE:
                yield f"position {position} is kept as {ours}, and decoded as {theirs}"


def _distance(ours: float, theirs: float) -> float:
    return abs(ours - theirs)


def _limit(kept: dict[Any, Any], most: int) -> None:
    while len(kept) > most:
        del kept[next(iter(kept))]
