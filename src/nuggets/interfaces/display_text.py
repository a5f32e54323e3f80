"""Texts that several interfaces show to people: plurals, the summary of a reflection."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nuggets.domain.records import ReflectionResult
    from nuggets.operations.project_identity import Recognition

PACKAGE = "nuggets-memory"  # as pyproject.toml calls it


def pluralize(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun: "1 note", "2 notes"."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def summarize_clean_up(result: "ReflectionResult") -> str:
    """How many notes a reflection changed, by kind of change."""
    return (
        f"rewritten {result.rewritten}, merged {result.merged}, archived {result.hidden}, "
        f"tagged {result.tagged}, linked {result.linked}"
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
