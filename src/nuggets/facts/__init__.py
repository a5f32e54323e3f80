"""Facts: finds the key that a question means and decodes its value from phase vectors.

Here are the tables of the index, all derived from notes. Every process must know these, and nothing
else of this package.
"""

FORMAT = 6  # raise it whenever the derived rows change

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
    # The facts whose keys have a word, or some that are that word if written together: their
    # postings (`key_table.Candidate.posting`), 8 bytes each, in any order.
    """CREATE TABLE IF NOT EXISTS fact_words (
        word TEXT NOT NULL,
        nugget TEXT NOT NULL,
        project TEXT NOT NULL,
        stretch INTEGER NOT NULL,
        postings BLOB NOT NULL,
        PRIMARY KEY (word, nugget, project, stretch)
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
