"""Search of notes: one index in the shelf's database, one ranking, explained scores.

Here are the tables of the index. Every process must know these, and nothing else of this package.
"""

FORMAT = 8  # raise it whenever notes are analysed in another way

TABLES = (
    """CREATE TABLE search_documents (
        doc INTEGER PRIMARY KEY,
        note TEXT NOT NULL UNIQUE,
        length INTEGER NOT NULL,
        norm REAL NOT NULL,
        created INTEGER NOT NULL,
        flags INTEGER NOT NULL,
        boost REAL NOT NULL,
        groups TEXT NOT NULL,
        links TEXT NOT NULL
    )""",
    """CREATE TABLE search_postings (
        term INTEGER NOT NULL,
        block INTEGER NOT NULL,
        docs BLOB NOT NULL,
        codes BLOB NOT NULL,
        PRIMARY KEY (term, block)
    ) WITHOUT ROWID""",
    """CREATE TABLE search_recent (
        term INTEGER NOT NULL,
        doc INTEGER NOT NULL,
        code INTEGER NOT NULL,
        PRIMARY KEY (term, doc)
    ) WITHOUT ROWID""",
    """CREATE TABLE search_words (
        length INTEGER NOT NULL,
        word TEXT NOT NULL,
        term TEXT NOT NULL,
        letters INTEGER NOT NULL,
        PRIMARY KEY (length, word, term)
    ) WITHOUT ROWID""",
    "CREATE INDEX search_words_by_term ON search_words (term)",
    """CREATE TABLE search_statistics (
        name TEXT PRIMARY KEY,
        value INTEGER NOT NULL
    ) WITHOUT ROWID""",
)
