"""Interfaces to the shelf: each translates a request, calls the shelf, translates the result. Here
is what they share: a process, an open shelf, and texts for people."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from nuggets.domain.records import MemoryNote, ReflectionResult
    from nuggets.operations.permissions import Client
    from nuggets.operations.project_identity import Recognition
    from nuggets.settings import Settings
    from nuggets.shelf import NuggetShelf


def run_process(main: Callable[[], int]) -> NoReturn:
    """Run a short process without work that only long ones need.

    Garbage collection is off while modules are imported (`main` turns it on again), and the
    interpreter is not torn down at the end.
    """
    gc.disable()
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        sys.exit(code)  # stdout is closed: let Python report it
    threads = sys.modules.get("threading")
    if threads is not None and threads.active_count() > 1:
        sys.exit(code)
    import atexit

    atexit._run_exitfuncs()
    os._exit(code)


def open_shelf(
    settings: "Settings",
    *,
    client: "Client",
    short_lived: bool = False,
    folder: str | None = None,
    uses_encoder: bool = True,
) -> "NuggetShelf":
    """The shelf of the settings.

    `folder`: the directory someone works in, if it is not the current directory.
    `short_lived`: the process ends after this call, as a command does.
    `uses_encoder`: False if a search should not load the sentence encoder.
    """
    from nuggets.shelf import NuggetShelf  # not for `nuggets --version`, nor for a quick hook

    return NuggetShelf.open(
        settings["dir"],
        settings=settings,
        client=client,
        short_lived=short_lived,
        folder=folder,
        uses_encoder=uses_encoder,
    )


# --- texts that several interfaces show to people -------------------------------------------------


def pluralize(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun: "1 note", "2 notes"."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def summarize_clean_up(result: "ReflectionResult") -> str:
    """How many notes a reflection changed, by kind of change."""
    return (
        f"rewritten {result.rewritten}, merged {result.merged}, archived {result.hidden}, "
        f"tagged {result.tagged}, linked {result.linked}"
    )


def where_valid(note: "MemoryNote") -> str:
    """Where a memory is valid, for a receipt; it may have been written in an earlier session."""
    from nuggets.filesystem.current_project import name_of

    if note.scope == "session":
        return "only in its session"
    return f"only in project {name_of(note.project)}" if note.project else "in every project"


def cautions(note: "MemoryNote", *, insists: bool = False) -> Iterator[str]:
    """What is seldom meant of a memory that was just written: that it is archived soon, or that it
    may hold a secret that no form betrays. A third of harmless texts about passwords name one too,
    so it is kept. `insists`: whoever wrote it said that it is no secret."""
    from nuggets.domain.credentials import names_secret
    from nuggets.operations.metadata_inference import WORTHLESS_CHARACTERS, passes_unless_recalled

    is_tiny = note.kind == "note" and len(note.content.strip()) <= WORTHLESS_CHARACTERS
    if not note.hidden and passes_unless_recalled(note):
        yield (
            "by its title it is temporary, and the next reflection archives it unless it is "
            "recalled before; stability durable keeps it"
        )
    elif not note.hidden and is_tiny:
        yield "it says next to nothing; the next reflection archives it"
    if not insists and names_secret(f"{note.title}: {note.content}"):
        yield (
            "it names a password, PIN or code; if that is in it too, a person can erase it with "
            f"nuggets note delete {note.id} --purge"
        )


TRUST_QUESTION = (
    "This repository carries memories in .nuggets. `nuggets project trust --dry-run` shows them, "
    "`nuggets project trust` reads them together with yours; until then nothing of them is read."
)


def explain_recognition(recognition: "Recognition | None") -> str:
    """What a person should know, or say, of the project that they work in; "" if nothing."""
    if recognition is None:
        return ""
    import shlex

    from nuggets.filesystem.current_project import root_of

    if recognition.moved_from:
        return (
            f"This repository was at {root_of(recognition.moved_from)} before; its memories are "
            "used here. `nuggets project leave` gives this place memories of its own."
        )
    other = recognition.resembles_at or recognition.question
    place = root_of(other) or other
    return (
        f"This repository resembles {place}, which has memories. To use them here too: "
        f"`nuggets project join {shlex.quote(place)}`. Otherwise this place has its own."
    )
