"""What a client may call at a server: every public name of `NuggetShelf`.

The protocol between client and server is the public API of the shelf. A test walks all names, so
that a new one must be placed here. Which role a call needs: `team/required_roles.py`.
"""

from collections.abc import Mapping
from typing import Literal

PROTOCOL = 1  # another number if a client and a server of different numbers would not understand
CALL_PATH = "/api/shelf"
HOOK_PATH = "/api/hook"

# "read": changes nothing but the count of recalls. "write": one commit, with an id by which it is
# done once however often it is sent, so that it can wait in a queue. "act": anything else.
Kind = Literal["read", "attribute", "write", "act"]

METHODS: Mapping[str, Kind] = {
    **dict.fromkeys(("project", "revision", "size", "is_team"), "attribute"),
    **dict.fromkeys(
        (
            *("get", "has", "list", "status"),
            *("recall", "recall_or_search", "facts"),
            *("get_note", "get_notes", "count_hit", "list_notes", "search_notes", "explain"),
            *("notes_titled", "leading_notes", "sessions", "get_session", "search_sessions"),
            *("commits", "commit_summaries", "history", "versions", "note_at", "commit"),
            *("changes_in_effect", "undoable", "last_run", "next_run", "audit"),
            *("projects", "meaning_status", "copy_index", "change_counter", "members"),
            *("last_own_change", "new_commits"),
        ),
        "read",
    ),
    **dict.fromkeys(
        (
            *("create", "get_or_create", "remove", "remember", "forget", "clear"),
            *("create_note", "edit_note", "delete_note", "restore_note"),
            *("add_link", "remove_link", "merge_notes", "keep_session"),
        ),
        "write",
    ),
    **dict.fromkeys(
        (
            *("undo", "reflect", "import_memories", "move_project", "join_project"),
            *("leave_project", "record_location", "purge", "purge_fact", "run_daily"),
            *("add_member", "revoke_member"),
        ),
        "act",
    ),
}
# What the client does by itself, with its own files or with the answers of other calls.
LOCAL = frozenset(
    (
        *("open", "close", "server", "client_name", "for_client", "for_project", "for_caller"),
        *("location", "checkout", "working_folder", "project_of", "recognition"),
        *("known_location", "forget_recognition", "own_revision", "snapshot", "load_all"),
        *(
            "save_all",
            "discard_unsaved",
            "caveats",
            "record_reading",
            "namesakes",
            "invalidity",
            "is_foreign",
        ),
        *("warnings", "exports_status", "export_lines", "memory_path", "memory_text"),
        *("edited_memory_files", "import_file_edits", "memory_file_problems"),
        *("promoted_blocks", "is_promoted", "encode_waiting", "sync_shared", "needs_trust"),
        *("has_encoder", "nearest_by_meaning"),
    )
)
# What a client refuses, and what to do instead.
_ON_SERVER = "do this on the machine of the server, with its own --dir"
_OF_FILES = "this needs a shelf on this machine; the memory is at the server"
REFUSED: Mapping[str, str] = {
    "batch": "a server takes one operation at a time; call them one after the other",
    **dict.fromkeys(
        (
            *("install_meaning", "update_meaning", "remove_meaning", "checkup", "backup"),
            *("restore", "copy_from", "export", "find_moved_files"),
            "find_member",
        ),
        _ON_SERVER,
    ),
    **dict.fromkeys(
        (
            *("promote", "promotion", "pin", "withdraw_promotion", "share_project"),
            *("trust_project", "unshare_project", "untrust_project", "record_trust_question"),
        ),
        _OF_FILES,
    ),
}
