"""A local sentence encoder and the vectors of notes. Optional: without it search is complete.

Every process must know the tables of the vectors, and nothing else of this package.
"""

FORMAT = 3  # raise it whenever vectors are made or kept in another way

TABLES = (
    """CREATE TABLE encoder_vectors (
        place INTEGER PRIMARY KEY,
        note TEXT NOT NULL,
        vector BLOB NOT NULL
    )""",
    """CREATE TABLE encoder_pending (
        place INTEGER PRIMARY KEY,
        note TEXT NOT NULL
    )""",
    """CREATE TABLE encoder_state (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
    )""",
)
