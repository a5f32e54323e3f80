"""The database of claude-mem: its observations become notes, its summaries of sessions become notes
of sessions."""

from nuggets.domain import codec, times
from nuggets.interfaces.importers import Records, make_note, moment
from nuggets.interfaces.importers.program_tables import Program, Row, json_list
from nuggets.operations.session_note_text import title_of
from nuggets.operations.session_notes import SessionRecord, new_session_note

_TEXTS = ("subtitle", "narrative", "text")
_TOLD = {  # what a summary tells, and as what
    "request": "Goal",
    "investigated": "Looked at",
    "learned": "Learned",
    "completed": "Done",
    "next_steps": "Open",
    "notes": "Notes",
}


def _add_observation(row: Row, place: str, nugget: str, at: str, found: Records) -> None:
    """The same id of an observation gets the same note."""
    texts = [str(row[name]) for name in _TEXTS if row.get(name)]
    texts += [f"- {item}" for item in json_list(row.get("facts"))]
    tags = [row.get("type") or "", row.get("project") or "", *json_list(row.get("concepts"))]
    note = make_note(
        nugget,
        str(row["title"] or ""),
        "\n".join(texts),
        identity=f"claude-mem {row['id']} {row.get('created_at')}",
        at=moment(row.get("created_at"), at),
        tags=tags,
    )
    found.add(note, place)


def _add_summary(row: Row, place: str, nugget: str, at: str, found: Records) -> None:
    told = [(heading, str(row[name])) for name, heading in _TOLD.items() if row.get(name)]
    ended = moment(row.get("created_at"), at)
    if not told:
        found.idle_sessions += 1
    elif ended < found.oldest_session:
        found.old_sessions += 1
    else:
        session = f"claude-mem {row.get('memory_session_id')} {row['id']}"
        text = "\n".join(f"{heading}: {said}" for heading, said in told)
        record = SessionRecord(
            session, "claude-mem", "", title_of(told[0][1], ended[:10]), text, ended, ended
        )
        note = new_session_note(record, times.now())
        found.add(codec.note_to_json(note, vector=False), place)


CLAUDE_MEM = Program(
    "claude-mem",
    frozenset(("id", "title")),
    {"observations": _add_observation, "session_summaries": _add_summary},
    {
        "observations": (
            *("id", "title", "type", "project", "concepts", "created_at", "facts"),
            *_TEXTS,
        ),
        "session_summaries": ("id", "memory_session_id", "created_at", *_TOLD),
    },
)
