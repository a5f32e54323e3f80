"""The databases of hippo and of mcp-memory-service: a table of memories without titles."""

from nuggets.interfaces.importers import Records, make_note, moment
from nuggets.interfaces.importers.program_tables import Program, Row, json_list


def _add_hippo(row: Row, place: str, nugget: str, at: str, found: Records) -> None:
    """A memory of hippo; what another one took the place of is archived."""
    changed = moment(_utc(row.get("updated_at")), at)
    note = make_note(
        nugget,
        "",
        str(row["content"]),
        identity=f"hippo {row['id']}",
        at=changed,
        created=moment(row.get("created"), changed),
        tags=[*json_list(row.get("tags_json")), row.get("layer") or ""],
    )
    gone = {"hidden": True, "archivedAt": changed} if row.get("superseded_by") else {}
    found.add({**note, **gone}, place)


def _utc(time: object) -> object:
    """SQLite's `datetime('now')` is UTC, and does not say so."""
    return f"{time}Z" if isinstance(time, str) and len(time) == len("2026-01-31 09:00:00") else time


def _add_service(row: Row, place: str, nugget: str, at: str, found: Records) -> None:
    """A memory of mcp-memory-service; one that was deleted is kept there for a while."""
    if row.get("deleted_at"):
        return
    changed = moment(row.get("updated_at"), at)
    note = make_note(
        nugget,
        "",
        str(row["content"]),
        identity=f"memory {row['content_hash']}",
        at=changed,
        created=moment(row.get("created_at"), changed),
        tags=[*str(row.get("tags") or "").split(","), row.get("memory_type") or ""],
    )
    found.add(note, place)


HIPPO = Program(
    "hippo",
    frozenset(("id", "content", "layer", "tags_json")),
    {"memories": _add_hippo},
    {"memories": ("id", "content", "layer", "tags_json", "created", "updated_at", "superseded_by")},
)
MCP_MEMORY_SERVICE = Program(
    "mcp-memory-service",
    frozenset(("id", "content", "content_hash")),
    {"memories": _add_service},
    {
        "memories": (
            *("id", "content", "content_hash", "tags", "memory_type", "created_at"),
            *("updated_at", "deleted_at"),
        )
    },
)
