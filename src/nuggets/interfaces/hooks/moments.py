"""What memory does at each moment of a conversation."""

import json
import os
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from nuggets.interfaces.fencing import without_fenced
from nuggets.interfaces.hooks.context import at_start, on_prompt, safe_line
from nuggets.interfaces.hooks.folding import fold
from nuggets.interfaces.hooks.inbox import waiting
from nuggets.interfaces.hooks.payload import Event
from nuggets.settings import load
from nuggets.text import words
from nuggets.traces import append, host_processes, note_session, place, sweep

if TYPE_CHECKING:
    from nuggets.interfaces.hooks.capture import Stated
    from nuggets.shelf import NuggetShelf

HINTS = (  # no preference without one
    *("always", "never", "prefer", "remember", "forget", "now on", "here on", "future", "forward"),
    *("default", "don", "do not", "avoid", "stop", "use "),
)
PROMPT_CHARACTERS = 20_000  # that are looked at: what we showed may stand before a person's words
TASK_PROMPTS = 3  # the last ones say what the task has become
TASK_CHARACTERS = 600  # of each
TO_BE_MOVED = (
    "Nuggets: this memory was written by an earlier version, and hooks leave it alone until a "
    "command has moved it to the new one. Run `nuggets list` once."
)
HOSTS_WITH_MEMORY_FILE = ("claude-code",)


def act(event: Event, directory: str, say: Callable[[str], None]) -> None:
    """Do what the moment asks for. What the agent shall read is said before anything is kept:
    whoever waits for the store must not cost the answer."""
    if event.name == "session-end":  # hosts leave hardly a second: the next start does the work
        return
    if event.name == "stop" and not waiting(directory):
        return
    from nuggets.shelf import SESSION_CHARACTERS

    event = event._replace(session=event.session[:SESSION_CHARACTERS])  # more would be refused
    for process in host_processes():
        note_session(directory, process, event.session)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if _is_to_be_moved(directory):
        if event.name == "session-start":
            say(TO_BE_MOVED)
        return
    with _opened(event, directory) as shelf:
        if event.name == "session-start":
            say(_session_start(shelf, event, directory))
        elif event.name == "user-prompt":
            stated = _stated(event.prompt)
            say(_user_prompt(shelf, event, directory, counts=not stated))
            _keep(shelf, stated)
        elif event.name == "pre-compact":
            _pre_compact(shelf, event, directory)
        if event.name != "user-prompt":  # a person waits for that one to end
            fold(shelf, directory)


def _is_to_be_moved(directory: str) -> bool:
    """Is it of an earlier version? Moving it in takes longer than a hook may."""
    from nuggets.place import directory_of
    from nuggets.stores.moving_in import is_needed

    place = directory_of(directory)
    return bool(place) and is_needed(place)


def _opened(event: Event, directory: str) -> "NuggetShelf":
    from nuggets.opening import open_shelf

    settings = load(os.environ, {"dir": directory})
    # the agent may have gone elsewhere meanwhile, but not its task; the server goes by it too
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or event.directory
    return open_shelf(settings, client="hook", short_lived=True, folder=folder, at_work=True)


def _session_start(shelf: "NuggetShelf", event: Event, directory: str) -> str:
    if event.source in ("compact", "clear"):  # what was shown is gone from the context
        append(_diary(directory, event), json.dumps({"forgotten": True}) + "\n")
    sweep(directory)
    text, ids = at_start(
        shelf,
        loads_memory_file=event.host in HOSTS_WITH_MEMORY_FILE,
        task=_task_title(event) if event.source in ("resume", "compact", "fork") else "",
    )
    append(_diary(directory, event), json.dumps({"shown": ids}) + "\n")
    return text


def _user_prompt(shelf: "NuggetShelf", event: Event, directory: str, counts: bool) -> str:
    """`counts`: whether it may recall something; who states a preference asks for none."""
    own = without_fenced(event.prompt[:PROMPT_CHARACTERS]).strip()
    shown, _ = _diary_of(directory, event)
    text, ids = on_prompt(shelf, own, frozenset(shown), event.session if counts else "")
    entry = {"prompt": safe_line(own, TASK_CHARACTERS), "shown": ids}
    append(_diary(directory, event), json.dumps(entry) + "\n")
    return text


def _stated(prompt: str) -> "list[Stated]":
    """What the person states for good, if anything."""
    lower = prompt.lower()
    if not any(hint in lower for hint in HINTS):
        return []
    from nuggets.interfaces.hooks.capture import preferences

    return preferences(prompt)


def _keep(shelf: "NuggetShelf", preferences: "list[Stated]") -> None:
    """What holds a credential is not kept at all: blacked out it would say nothing."""
    from nuggets.secrets import found

    for stated in preferences:
        if found(stated.text):
            continue
        project = "" if stated.personal else shelf.project
        shelf.remember(
            "prefs",
            _known_key(shelf, stated.key, project),
            stated.text,
            scope="project" if project else "user",
            project=project,  # or a rule would take a taste of the same words along, and vice versa
            source="explicit_user",
            stability="durable",
        )


def _known_key(shelf: "NuggetShelf", key: str, project: str) -> str:
    """As it is called already: the same words in another order change a mind."""
    if not shelf.has("prefs"):
        return key
    same = (
        note.title
        for note in shelf.list_notes(nugget="prefs", kind="fact")
        if note.project == project and set(words(note.title)) == set(words(key))
    )
    return next(same, key)


def _pre_compact(shelf: "NuggetShelf", event: Event, directory: str) -> None:
    """What the agent was asked last, so that it finds back after its context is cut."""
    _, prompts = _diary_of(directory, event)
    if not prompts:
        return
    content = " / ".join(prompts[-TASK_PROMPTS:])
    title = _task_title(event)
    for note in shelf.titled(title, nugget="tasks"):
        shelf.edit_note(note.id, content=content)
        return
    shelf.create_note(
        "tasks",
        title,
        content,
        ["task"],
        type="note",
        scope="session",
        source="system",
        stability="temporary",
    )


def _task_title(event: Event) -> str:
    return f"task of session {_short(event)}"


def _short(event: Event) -> str:
    """A name for a file; hashlib would take longer to load than all the rest of this."""
    raw = event.session.encode(errors="replace")
    return f"{zlib.crc32(raw):08x}{zlib.adler32(raw):08x}"


def _diary(directory: str, event: Event) -> str:
    """The file in which a conversation's prompts and what it was shown stand."""
    return place(directory, "sessions", _short(event)) if event.session else ""


def _diary_of(directory: str, event: Event) -> tuple[list[str], list[str]]:
    """Ids of the notes that are in the context, and the prompts so far."""
    shown: list[str] = []
    prompts: list[str] = []
    try:
        with open(_diary(directory, event), encoding="utf-8") as file:
            lines = file.readlines()
    except OSError:
        return [], []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry.get("forgotten"):
            shown.clear()
        shown += entry.get("shown", ())
        if entry.get("prompt"):
            prompts.append(entry["prompt"])
    return shown, prompts
