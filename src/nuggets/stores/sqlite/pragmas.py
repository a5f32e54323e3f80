"""The PRAGMAs that decide how SQLite keeps our database: durability, the log, erasure, pages."""

PAGE_BYTES = 8192  # notes of a few hundred bytes leave less of such a page empty
CACHE_BYTES = 16_000_000  # of pages that were read; a search reads some hundred, all over the file
CHECKPOINT_PAGES = 512  # 4 MB, some 30 writes: the first process after a crash reads them

WRITE_AHEAD_LOG = "journal_mode = WAL"  # readers never wait for a writer
DURABLE = "synchronous = FULL"  # a commit returns when it is on the disk
NOT_DURABLE = "synchronous = NORMAL"  # for counting recalls: a power cut may take the last ones
OF_EVERY_CONNECTION = (
    DURABLE,
    "secure_delete = ON",  # what is deleted is overwritten with zeros
    f"wal_autocheckpoint = {CHECKPOINT_PAGES}",
    f"cache_size = {-CACHE_BYTES // 1024}",
)
WHILE_BUILDING = (  # of a new file that nobody sees before it is complete and synced
    f"page_size = {PAGE_BYTES}",
    "journal_mode = OFF",
    "synchronous = OFF",
    "cache_size = -65536",  # KiB
)
