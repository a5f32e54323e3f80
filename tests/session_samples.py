"""Sessions with agents in two projects, as hooks note them."""

from datetime import UTC, datetime, timedelta

from nuggets.operations.session_notes import SessionRecord
from nuggets.shelf import NuggetShelf

PROJECT = "/home/me/here/.git"
ELSEWHERE = "/home/me/there/.git"
SESSIONS = (  # id, agent, project, days ago, goal, the rest of its note
    ("one", "codex", PROJECT, 3, "Move orders to UUID keys", ""),
    ("two", "claude-code", PROJECT, 2, "Shorten the deploy pipeline", "Open:\n- one\n- two *"),
    ("three", "codex", ELSEWHERE, 1, "Another project", "Files changed: a.py"),
)


def keep_sessions(shelf: NuggetShelf) -> None:
    """Keep their notes."""
    for session, agent, project, days, goal, rest in SESSIONS:
        day = (datetime.now(UTC) - timedelta(days=days)).date().isoformat()
        times = (f"{day}T09:00:00Z", f"{day}T10:00:00Z")
        text = f"Goal: {goal}\n{rest}".strip()
        shelf.keep_session(SessionRecord(session, agent, project, f"{day} {goal}", text, *times))
