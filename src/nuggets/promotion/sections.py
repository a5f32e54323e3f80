"""The sections of MEMORY.md: under which heading a note is listed, and the order of headings."""

from nuggets.domain.records import MemoryNote
from nuggets.graph.metadata_inference import PREFERENCE_NUGGETS
from nuggets.language.text import fold_case

FIRST_SECTIONS = ("learnings", "preferences")


def section_of(note: MemoryNote) -> str:
    """The heading of its entry. A memory of a project is not listed as the user's."""
    if "learnings" in note.tags:
        return "learnings"
    is_users = not note.project or fold_case(note.nugget_name) in PREFERENCE_NUGGETS
    if "preferences" in note.tags and is_users:
        return "preferences"
    if note.project and note.scope != "session":
        return "shared-context"
    if note.subject == "assistant:self":
        return "assistant-self"
    if note.subject.startswith("user:"):
        return "user"
    return "shared-context" if note.scope in ("shared", "project") else note.nugget_name


def section_order(name: str) -> tuple[int, str]:
    """A sort key: learnings and preferences first, then alphabetical."""
    first = FIRST_SECTIONS.index(name) if name in FIRST_SECTIONS else len(FIRST_SECTIONS)
    return first, fold_case(name)
