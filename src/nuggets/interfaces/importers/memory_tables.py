"""The databases of hippo and of mcp-memory-service: a table of memories without titles."""

from nuggets.interfaces.importers import Records, moment
from nuggets.interfaces.importers.program_tables import Program, Tables, json_list

_TABLE = "memories"


def _read_hippo(tables: Tables, at: str, found: Records) -> None:
    """Memories of hippo; what another one took the place of is archived."""
    columns = ("id", "content", "layer", "tags_json", "created", "updated_at", "superseded_by")
    for row in tables.rows(_TABLE, columns, texts=("content",)):
        changed = moment(_utc(row.get("updated_at")), at)
        gone = {"hidden": True, "archivedAt": changed} if row.get("superseded_by") else {}
        found.add_memory(
            f"memory {row['id']}",
            "",
            str(row["content"]),
            identity=f"hippo {row['id']}",
            at=changed,
            created=moment(row.get("created"), changed),
            tags=[*json_list(row.get("tags_json")), row.get("layer") or ""],
            **gone,
        )


def _utc(time: object) -> object:
    """SQLite's `datetime('now')` is UTC, and does not say so."""
    return f"{time}Z" if isinstance(time, str) and len(time) == len("2026-01-31 09:00:00") else time


def _read_service(tables: Tables, at: str, found: Records) -> None:
    """Memories of mcp-memory-service; one that was deleted is kept there for a while."""
    columns = ("id", "content", "content_hash", "tags", "memory_type")
    times = ("created_at", "updated_at", "deleted_at")
    for row in tables.rows(_TABLE, (*columns, *times), texts=("content",)):
        if row.get("deleted_at"):
            continue
        changed = moment(row.get("updated_at"), at)
        found.add_memory(
            f"memory {row['id']}",
            "",
            str(row["content"]),
            identity=f"memory {row['content_hash']}",
            at=changed,
            created=moment(row.get("created_at"), changed),
            tags=[*str(row.get("tags") or "").split(","), row.get("memory_type") or ""],
        )


HIPPO = Program("hippo", _TABLE, frozenset(("id", "content", "layer", "tags_json")), _read_hippo)
MCP_MEMORY_SERVICE = Program(
    "mcp-memory-service", _TABLE, frozenset(("id", "content", "content_hash")), _read_service
)
