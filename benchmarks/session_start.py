"""The start of a session: how many tokens it costs, and whether it tells what the work is about.

    python -m benchmarks.session_start [--list]

A shelf holds the 80 memories of data/start_memories.txt. A session starts after each scene of
data/start_scenes.txt: a branch, the files touched last, and the note of the last session. Tokens
are estimated (`language/text.py`). "About the work": the memories of the scene's area.
And of the memories that the prompts of data/everyday/ want: how many a session knows of from its
start, and how many it knows of when the prompt's own memories are shown too; in a shelf for each
project (some 30 memories), and in one for all of a set (93 to 161).
--list prints what the sessions are given.
"""

import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks.everyday import DATA as EVERYDAY
from benchmarks.everyday import SETS, read_samples, write_memory
from nuggets.interfaces.hooks.help_probability import LEAST, MOST_SHOWN
from nuggets.interfaces.hooks.prompt_context import rank_memories
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


class Known(NamedTuple):
    """How much a session knows of the memories that a prompt wants."""

    in_full: bool  # from its start
    by_title: bool
    on_prompt: bool


def everyday_starts(*, in_one_shelf: bool) -> Iterator[tuple[str, Known]]:
    """The kind of each prompt that wants a memory, and what the session knows of it."""
    for name in SETS:
        samples = {path.stem: read_samples(path) for path in (EVERYDAY / name).glob("*.jsonl")}
        memories = samples["shelves"]
        projects = dict.fromkeys(memory["project"] for memory in memories)
        for own in projects:
            with NuggetShelf("memory:", project=PROJECT, at_work=True) as shelf, shelf.batch():
                ids = {
                    memory["id"]: write_memory(shelf, memory)
                    for memory in memories
                    if in_one_shelf or memory["project"] == own
                }
                text, told = start_context(shelf, loads_memory_file=False, session=None)
                for sample in (*samples["wanted"], *samples["names"]):
                    wanted = [ids[one] for one in sample["ids"] if one in ids]
                    if not wanted or sample.get("project", next(iter(projects))) != own:
                        continue
                    ranked = rank_memories(shelf, sample["prompt"])[:MOST_SHOWN]
                    shown = [one.note.id for one in ranked if one.probability >= LEAST]
                    yield (
                        sample.get("kind", "names"),
                        Known(
                            all(note.id in told for note in wanted),
                            all(note.id in told or note.title in text for note in wanted),
                            all(note.id in shown for note in wanted),
                        ),
                    )


def everyday_rows() -> Iterator[Row]:
    for where in (False, True):
        kinds: dict[str, list[Known]] = {}
        for kind, known in everyday_starts(in_one_shelf=where):
            kinds.setdefault(kind, []).append(known)
        for kind, some in kinds.items():
            counts = (
                sum(one.in_full for one in some),
                sum(one.by_title for one in some),
                sum(one.in_full or one.on_prompt for one in some),
                sum(one.by_title or one.on_prompt for one in some),
            )
            shelf = "one shelf" if where else "a shelf each"
            yield {
                "what": f"{kind}, {shelf}: at the start, or by title; with the prompt's",
                "goal": "",
                "measured": "{}, {}; {}, {} of {}".format(*counts, len(some)),
            }


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
    if not quick:
        yield from everyday_rows()


def main(argv: list[str]) -> int:
    if "--list" in argv:
        for scene in scenes():
            print(f"== {scene.area}: {scene.branch}\n{start_after(scene).text}")
    for row in rows():
        print(f"{row['what']:70} {row['measured']:>12}  {row['goal']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
