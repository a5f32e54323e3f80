"""The start of a session: how many tokens it costs, and whether it tells what the work is about.

    python -m benchmarks.session_start [--list]

A shelf holds the 80 memories of data/start_memories.txt. A session starts after each scene of
data/start_scenes.txt: a branch, the files touched last, and the note of the last session. Tokens
are estimated (`language/text.py`). "About the work": the memories of the scene's area.
--list prints what the sessions are given.
"""

import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from nuggets.interfaces.hooks.session_start import start_context
from nuggets.language.text import estimate_tokens
from nuggets.operations.session_notes import SessionRecord
from nuggets.shelf import NuggetShelf

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
PROJECT = "/home/me/shop/.git"
BUDGET = 800
ALWAYS = ("person", "rules")  # areas that every session is about
Row = dict[str, Any]


class Scene(NamedTuple):
    area: str
    branch: str
    files: tuple[str, ...]
    goal: str
    request: str


class Start(NamedTuple):
    """What a session was given."""

    scene: Scene
    text: str
    areas: list[str]  # of the memories in it


def records(name: str) -> Iterator[list[str]]:
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                yield [part.strip() for part in line.split("|")]


def scenes() -> list[Scene]:
    return [
        Scene(area, branch, tuple(filter(None, map(str.strip, files.split(",")))), goal, request)
        for area, branch, files, goal, request in records("start_scenes.txt")
    ]


def filled(shelf: NuggetShelf, home: str = PROJECT) -> dict[str, str]:
    """Fill a shelf with the memories of a project; the area of each memory by id."""
    areas: dict[str, str] = {}
    for area, nugget, title, content, sessions in records("start_memories.txt"):
        project = "" if area == "person" else home
        source = "explicit_user" if nugget == "prefs" else "agent_reflection"
        write = shelf.create_note if nugget == "learnings" else shelf.remember
        note = write(nugget, title, content, project=project, source=source)  # type: ignore[arg-type]
        areas[note.id] = area
        for number in range(int(sessions)):
            shelf.get_note(note.id, session=f"session {number}")
    return areas


def start_after(scene: Scene) -> Start:
    """What the session after a scene is given."""
    with NuggetShelf("memory:", project=PROJECT, at_work=True) as shelf:
        areas = filled(shelf)
        for path in scene.files:
            shelf.create_note(
                "files",
                f"file: {path}",
                f"{path} was edited on 2026-01-31",
                ["seen-file"],
                scope="project",
                source="tool_observation",
                stability="temporary",
            )
        if scene.goal:
            text = f"Goal\n- {scene.goal}\nAsked last\n- {scene.request}"
            times = ("2026-01-30T09:00:00Z", "2026-01-30T10:00:00Z")
            record = SessionRecord("s", "codex", PROJECT, f"2026-01-30 {scene.goal}", text, *times)
            shelf.keep_session(record)
        context, ids = start_context(
            shelf, loads_memory_file=False, session=None, branch=scene.branch
        )
        return Start(scene, context, [areas[note_id] for note_id in ids])


def rows(quick: bool = False) -> Iterator[Row]:
    starts = [start_after(scene) for scene in scenes()]
    most = max(estimate_tokens(start.text) for start in starts)
    yield {
        "what": "tokens at the start of a session, 80 memories",
        "goal": f"≤ {BUDGET}",
        "measured": f"{most}",
        "reached": most <= BUDGET,
    }
    known = [area for area, *_ in records("start_memories.txt")]
    working = [start for start in starts if start.scene.area in known]
    for what, wanted in (
        ("memories about the work that are given", lambda area, scene: area == scene.area),
        ("preferences and rules that are given", lambda area, scene: area in ALWAYS),
    ):
        given = sum(wanted(area, start.scene) for start in working for area in start.areas)
        total = sum(wanted(area, start.scene) for start in working for area in known)
        yield {"what": what, "goal": "", "measured": f"{given} of {total}"}


def main(argv: list[str]) -> int:
    if "--list" in argv:
        for scene in scenes():
            print(f"== {scene.area}: {scene.branch}\n{start_after(scene).text}")
    for row in rows():
        print(f"{row['what']:50} {row['measured']:>12}  {row['goal']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
