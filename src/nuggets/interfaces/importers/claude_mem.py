"""The database of claude-mem: its observations become notes, its summaries of sessions become notes
of sessions."""

from nuggets.interfaces.importers import Records, moment
from nuggets.interfaces.importers.past_sessions import add_record
from nuggets.interfaces.importers.program_tables import Program, Row, Tables, json_list
from nuggets.operations.session_note_text import title_of
from nuggets.operations.session_notes import SessionRecord

_TEXTS = ("subtitle", "narrative", "text")
_TOLD = {  # what a summary tells, and as what
    "request": "Goal",
    "investigated": "Looked at",
    "learned": "Learned",
    "completed": "Done",
    "next_steps": "Open",
    "notes": "Notes",
}


def _read(tables: Tables, at: str, found: Records) -> None:
    observed = ("id", "title", "type", "project", "concepts", "created_at", "facts", *_TEXTS)
    for row in tables.rows("observations", observed, texts=("title", *_TEXTS)):
        _add_observation(row, at, found)
    summarised = ("id", "memory_session_id", "created_at", *_TOLD)
    for row in tables.rows("session_summaries", summarised, texts=_TOLD):
        _add_summary(row, at, found)


def _add_observation(row: Row, at: str, found: Records) -> None:
    """The same id of an observation gets the same note."""
    texts = [str(row[name]) for name in _TEXTS if row.get(name)]
    texts += [f"- {item}" for item in json_list(row.get("facts"))]
    found.add_memory(
        f"observation {row['id']}",
        str(row["title"] or ""),
        "\n".join(texts),
        identity=f"claude-mem {row['id']} {row.get('created_at')}",
        at=moment(row.get("created_at"), at),
        tags=[row.get("type") or "", row.get("project") or "", *json_list(row.get("concepts"))],
    )


def _add_summary(row: Row, at: str, found: Records) -> None:
    told = [(heading, str(row[name])) for name, heading in _TOLD.items() if row.get(name)]
    ended = moment(row.get("created_at"), at)
    record = None
    if told:
        session = f"claude-mem {row.get('memory_session_id')} {row['id']}"
        text = "\n".join(f"{heading}: {said}" for heading, said in told)
        title = title_of(told[0][1], ended[:10])
        record = SessionRecord(session, "claude-mem", "", title, text, ended, ended)
    add_record(record, f"summary {row['id']}", found)


CLAUDE_MEM = Program("claude-mem", "observations", frozenset(("id", "title")), _read)
