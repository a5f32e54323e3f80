"""The tables of the fact index: all derived from notes, and rebuilt at will."""

# One row for each fact in sight. Clustered by nugget, so that looking through the keys of one
# nugget reads nothing else. Names and keys are folded; what follows the key is its form: the words
# with a blank around each, how many of them are significant, the signs as bits, and so on.
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

# How many facts of a nugget lie in each stretch of places: a rank is a sum and a short count.
COUNTS = """
CREATE TABLE IF NOT EXISTS fact_counts (
    nugget TEXT NOT NULL,
    stretch INTEGER NOT NULL,
    facts INTEGER NOT NULL,
    PRIMARY KEY (nugget, stretch)
) WITHOUT ROWID
"""

# What the algebra decoded, so that a cold process need not load it to say so again.
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
