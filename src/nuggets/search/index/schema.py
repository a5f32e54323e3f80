"""The tables of the search index, written in the transaction that writes the notes.

`space` is 0 for visible notes and 1 for archived ones, which ordinary questions do not read.
Postings are kept in segments, each of one space and of one block of 65,536 document numbers. The
newest notes wait in `search_recent` until there are enough of them for a segment; `search_words`
does not count them before that.
"""

TABLES = (
    """CREATE TABLE search_documents (
        doc INTEGER PRIMARY KEY,
        note TEXT NOT NULL UNIQUE,
        space INTEGER NOT NULL,
        length INTEGER NOT NULL,
        norm REAL NOT NULL,
        created INTEGER NOT NULL,
        flags INTEGER NOT NULL,
        boost REAL NOT NULL,
        groups TEXT NOT NULL,
        links TEXT NOT NULL
    )""",
    """CREATE TABLE search_segments (
        segment INTEGER PRIMARY KEY,
        space INTEGER NOT NULL,
        block INTEGER NOT NULL,
        notes INTEGER NOT NULL,
        target INTEGER NOT NULL,
        position TEXT NOT NULL
    )""",
    """CREATE TABLE search_postings (
        segment INTEGER NOT NULL,
        term TEXT NOT NULL,
        part INTEGER NOT NULL,
        docs BLOB NOT NULL,
        gone BLOB NOT NULL,
        groups BLOB NOT NULL,
        PRIMARY KEY (segment, term, part)
    ) WITHOUT ROWID""",
    """CREATE TABLE search_recent (
        doc INTEGER NOT NULL,
        removed INTEGER NOT NULL,
        space INTEGER NOT NULL,
        entry TEXT NOT NULL,
        PRIMARY KEY (doc, removed)
    ) WITHOUT ROWID""",
    """CREATE TABLE search_words (
        space INTEGER NOT NULL,
        length INTEGER NOT NULL,
        word TEXT NOT NULL,
        language INTEGER NOT NULL,
        letters INTEGER NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY (space, length, word, language)
    ) WITHOUT ROWID""",
    """CREATE TABLE search_groups (
        number INTEGER PRIMARY KEY,
        tag TEXT NOT NULL UNIQUE,
        size INTEGER NOT NULL,
        length INTEGER NOT NULL,
        archived_size INTEGER NOT NULL,
        archived_length INTEGER NOT NULL
    )""",
    "CREATE INDEX search_groups_by_size ON search_groups (size)",
    """CREATE TABLE search_statistics (
        space INTEGER NOT NULL,
        name TEXT NOT NULL,
        value INTEGER NOT NULL,
        PRIMARY KEY (space, name)
    ) WITHOUT ROWID""",
)
NAMES = (
    "search_documents",
    "search_segments",
    "search_postings",
    "search_recent",
    "search_words",
    "search_groups",
    "search_statistics",
)
