"""Words that several doors have for people: counts that agree, what a clean-up did, the version."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nuggets.records import ReflectionResult

PACKAGE = "nuggets-memory"  # as pyproject.toml calls it


def version() -> str:
    """Of what is installed."""
    from importlib.metadata import version

    return version(PACKAGE)


def counted(number: int, one: str, many: str = "") -> str:
    """So many of them, in words that agree."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def cleaned(result: "ReflectionResult") -> str:
    """What a clean-up did to the notes that it inspected."""
    return (
        f"rewritten {result.rewritten}, merged {result.merged}, archived {result.hidden}, "
        f"tagged {result.tagged}, linked {result.linked}"
    )
