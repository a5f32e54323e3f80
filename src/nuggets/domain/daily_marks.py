"""The marks that the daily pass leaves on a shelf."""

RUN_MARK = "last_run"  # of the clean-up
MOVED_FILES_MARK = "moved files"  # note id -> old path -> new path
