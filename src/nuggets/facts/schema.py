"""The tables of the fact index. All are derived from notes and can be rebuilt."""

FORMAT = 1  # to be raised when the derived rows change

# One row for each fact that is not hidden, clustered by nugget, so that a scan of one nugget's keys
# reads no others. Names and keys are folded. The columns after the key describe its form: the words
# with a blank around each, the number of significant words, the characters as bits, and so on.
KEYS = """
CREATE TABLE IF NOT EXISTS fact_keys (
    nugget TEXT NOT NULL,
    place INTEGER NOT NULL,
    note TEXT NOT NULL,
    project TEXT NOT NULL,
    key TEXT NOT NULL,
    words TEXT NOT NULL,
    telling INTEGER NOT NULL,
    scoped INTEGER NOT NULL,
    letters BIGINT NOT NULL,
    digits TEXT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (nugget, place)
) WITHOUT ROWID
"""

BY_KEY = "CREATE INDEX IF NOT EXISTS fact_keys_by_key ON fact_keys (key)"

# The number of facts in each stretch of places: a rank is a sum of these and a short count.
COUNTS = """
CREATE TABLE IF NOT EXISTS fact_counts (
    nugget TEXT NOT NULL,
    stretch INTEGER NOT NULL,
    facts INTEGER NOT NULL,
    PRIMARY KEY (nugget, stretch)
) WITHOUT ROWID
"""

# Decoded pages, so that a cold process need not load NumPy.
PAGES = """
CREATE TABLE IF NOT EXISTS fact_pages (
    nugget TEXT NOT NULL,
    page INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    decoded BLOB NOT NULL,
    PRIMARY KEY (nugget, page)
) WITHOUT ROWID
"""

TABLES: tuple[str, ...] = (KEYS, BY_KEY, COUNTS, PAGES)
