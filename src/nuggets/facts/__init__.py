"""Facts: finds the key that a question means and decodes its value from phase vectors.

Here are the tables of the index, all derived from notes, and how many facts a page and a nugget
hold. Every process must know these, and nothing else of this package.
"""

from collections.abc import Mapping
from math import isqrt

from nuggets.domain.records import NoteKind, NuggetConfig, NuggetStatus
from nuggets.language.text import fold_case

FORMAT = 5  # raise it whenever the derived rows change

TABLES = (
    # One row for each fact that is not hidden, clustered by nugget. Names and keys are folded; the
    # words are those of `key_words.split_words`, with a blank between. Equal values have equal
    # hashes, so the pattern of a page is known without reading its notes.
    """CREATE TABLE IF NOT EXISTS fact_keys (
        nugget TEXT NOT NULL,
        place INTEGER NOT NULL,
        note TEXT NOT NULL,
        project TEXT NOT NULL,
        key TEXT NOT NULL,
        words TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (nugget, place)
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS fact_keys_by_key ON fact_keys (key)",
    "CREATE INDEX IF NOT EXISTS fact_keys_by_place ON fact_keys (place)",
    # The facts whose keys have a word, or some that are that word if written together: their
    # postings (`key_table.Candidate.postings`), 8 bytes each, ascending.
    """CREATE TABLE IF NOT EXISTS fact_words (
        word TEXT NOT NULL,
        nugget TEXT NOT NULL,
        project TEXT NOT NULL,
        block INTEGER NOT NULL,
        postings BLOB NOT NULL,
        PRIMARY KEY (word, nugget, project, block)
    ) WITHOUT ROWID""",
    # The spellings of each word (`key_words.spellings`): they find the words that a question
    # misspells.
    """CREATE TABLE IF NOT EXISTS fact_spellings (
        spelling TEXT NOT NULL,
        word TEXT NOT NULL,
        PRIMARY KEY (spelling, word)
    ) WITHOUT ROWID""",
    # The number of facts in each stretch of places: a rank is a sum of these and a short count.
    """CREATE TABLE IF NOT EXISTS fact_counts (
        nugget TEXT NOT NULL,
        stretch INTEGER NOT NULL,
        facts INTEGER NOT NULL,
        PRIMARY KEY (nugget, stretch)
    ) WITHOUT ROWID""",
    # Decoded pages, so that a cold process need not load NumPy.
    """CREATE TABLE IF NOT EXISTS fact_pages (
        nugget TEXT NOT NULL,
        page INTEGER NOT NULL,
        fingerprint TEXT NOT NULL,
        decoded BLOB NOT NULL,
        PRIMARY KEY (nugget, page)
    ) WITHOUT ROWID""",
)

FACTS_PER_PAGE_AT_LEAST = 4  # one for each of the four default banks
DIMS_OF_SEVERAL = 24  # with 16, one of sixteen facts in pages of four was answered wrongly
DIMS_PER_FACT = 256  # a right answer is then 22 standard deviations above the crosstalk
APPROACHING, NEARLY_FULL = 80.0, 90.0  # per cent


def capacity(config: NuggetConfig) -> int:
    """Facts that one superposition of all banks is documented to hold."""
    return config.banks * isqrt(config.dims)


def page_size(dims: int) -> int:
    """Facts in a page; so few that decoding is always right, with few dimensions a single one."""
    return max(FACTS_PER_PAGE_AT_LEAST, dims // DIMS_PER_FACT) if dims >= DIMS_OF_SEVERAL else 1


def nugget_status(config: NuggetConfig, counts: Mapping[tuple[str, NoteKind], int]) -> NuggetStatus:
    """What a nugget holds, and how full it is; `counts` has its visible notes by folded name and
    kind."""
    name, most = fold_case(config.name), capacity(config)
    facts, notes = counts.get((name, "fact"), 0), counts.get((name, "note"), 0)
    used = round(100 * facts / most, 1)
    return NuggetStatus(
        config.name,
        facts,
        notes,
        config.dims,
        config.banks,
        config.ensembles,
        most,
        used,
        _warning(used, -(-facts // page_size(config.dims))),
        config.max_facts,
    )


def _warning(used: float, pages: int) -> str:
    """`used`: per cent of the capacity."""
    if used > 100:
        return f"over capacity: the nugget continues in {pages} pages and stays exact"
    if used >= NEARLY_FULL:
        return "CRITICAL: nearly full"
    return "WARNING: approaching capacity" if used >= APPROACHING else ""
