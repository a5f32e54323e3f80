"""What a shelf at a server lacks, for its clients and for the members of its team: files beside the
repository that someone works in, and documented files. Those are on another machine.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nuggets.shelf import NuggetShelf

if TYPE_CHECKING:
    from nuggets.domain.records import ExportsStatus
    from nuggets.maintenance.trusted_repositories import SyncResult


class ShelfWithoutFiles(NuggetShelf):
    """A shelf without files of its own."""

    def exports_status(self) -> "ExportsStatus | None":
        return None

    def edited_memory_files(self) -> Sequence[str]:
        return ()

    def _own_memory_path(self) -> str:
        return ""

    def memory_file_problems(self) -> Mapping[str, str]:
        return {}

    def promoted_blocks(self) -> Sequence[str]:
        return ()

    def sync_shared(self, *, has_written: bool = False) -> "SyncResult | None":
        return None

    def needs_trust(self) -> bool:
        return False
