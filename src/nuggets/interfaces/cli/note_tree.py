"""Linked notes as a tree of text. Knows no shelf."""

from collections.abc import Iterable, Iterator, Mapping

from nuggets.domain.records import MemoryNote
from nuggets.interfaces.cli.terminal_text import distinct_titles, one_line, style


def tree(notes: Mapping[str, MemoryNote], roots: list[str], depth: int) -> Iterator[str]:
    """Every note once, as near to its root as possible, with its neighbours below it. A link to a
    note that is printed above is marked."""
    reasons = _link_reasons(notes)
    titles = distinct_titles(notes.values())
    children = _assign_children(reasons, roots, depth)
    printed: set[str] = set()

    def branches(note_id: str, parent: str, indent: str) -> Iterator[str]:
        repeats = [
            neighbour
            for neighbour in reasons[note_id]
            if neighbour in printed and neighbour != parent
        ]
        printed.add(note_id)
        neighbours = [*repeats, *children[note_id]]
        for number, neighbour in enumerate(neighbours, 1):
            is_last, is_repeat = number == len(neighbours), number <= len(repeats)
            reason = style(f"  ({one_line('; '.join(reasons[note_id][neighbour]))})", "dim")
            mark = style("  ↑ shown above", "dim") if is_repeat else ""
            title = f"{titles[neighbour]}{archived_mark(notes[neighbour])}"
            yield f"{indent}{'└─' if is_last else '├─'} {title}{reason}{mark}"
            if not is_repeat:
                yield from branches(neighbour, note_id, indent + ("   " if is_last else "│  "))

    for root in roots:
        if root not in printed:
            title = style(one_line(notes[root].title), "bold") + archived_mark(notes[root])
            yield title + style(f"  {one_line(root)}", "dim")
            yield from branches(root, "", "")


def archived_mark(note: MemoryNote) -> str:
    """What follows the title of an archived note."""
    return " (archived)" if note.hidden else ""


def _link_reasons(notes: Mapping[str, MemoryNote]) -> dict[str, dict[str, list[str]]]:
    """The neighbours of each note and the reasons of their links, in both directions."""
    reasons: dict[str, dict[str, list[str]]] = {note_id: {} for note_id in notes}
    links = [(note.id, link.to, link.reason) for note in notes.values() for link in note.links]
    for a, b, reason in (*links, *((b, a, reason) for a, b, reason in links)):
        if a in notes and b in notes and a != b and reason not in reasons[a].setdefault(b, []):
            reasons[a][b].append(reason)
    return reasons


def _assign_children(
    reasons: Mapping[str, Mapping[str, list[str]]], roots: Iterable[str], depth: int
) -> dict[str, list[str]]:
    """The notes below each note, breadth first; a root that is below another has no own tree."""
    children: dict[str, list[str]] = {}
    for root in roots:
        level = [] if root in children else [root]
        for note_id in level:
            children[note_id] = []
        for _ in range(depth):
            next_level = []
            for note_id in level:
                new = [neighbour for neighbour in reasons[note_id] if neighbour not in children]
                children[note_id] = new
                children.update((neighbour, []) for neighbour in new)
                next_level += new
            level = next_level
    return children
