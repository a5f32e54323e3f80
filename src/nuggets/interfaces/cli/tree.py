"""Linked notes as a tree of text. Knows no shelf."""

from collections.abc import Iterable, Iterator, Mapping

from nuggets.interfaces.cli.printing import one_line, styled, titles
from nuggets.records import MemoryNote


def tree(notes: Mapping[str, MemoryNote], roots: list[str], depth: int) -> Iterator[str]:
    """Neighbours below each note. Every note has one place, the nearest to its root, and every
    link one line: what leads to a note further up says so."""
    near = _reasons(notes)
    names = titles(notes.values())
    below = _places(near, roots, depth)
    above: set[str] = set()

    def branches(note_id: str, parent: str, indent: str) -> Iterator[str]:
        back = [other for other in near[note_id] if other in above and other != parent]
        above.add(note_id)
        leads = [*back, *below[note_id]]
        for place, other in enumerate(leads, 1):
            last = place == len(leads)
            why = styled(f"  ({one_line('; '.join(near[note_id][other]))})", "dim")
            mark = styled("  ↑ shown above", "dim") if place <= len(back) else ""
            name = f"{names[other]}{archived(notes[other])}"
            yield f"{indent}{'└─' if last else '├─'} {name}{why}{mark}"
            if place > len(back):
                yield from branches(other, note_id, indent + ("   " if last else "│  "))

    for root in roots:
        if root not in above:
            title = styled(one_line(notes[root].title), "bold") + archived(notes[root])
            yield title + styled(f"  {one_line(root)}", "dim")
            yield from branches(root, "", "")


def archived(note: MemoryNote) -> str:
    """A mark for it."""
    return " (archived)" if note.hidden else ""


def _reasons(notes: Mapping[str, MemoryNote]) -> dict[str, dict[str, list[str]]]:
    """Of each note its neighbours and why, also where a link stands at the other end alone."""
    near: dict[str, dict[str, list[str]]] = {note_id: {} for note_id in notes}
    ends = [(note.id, link.to, link.reason) for note in notes.values() for link in note.links]
    for a, b, reason in (*ends, *((b, a, reason) for a, b, reason in ends)):
        if a in notes and b in notes and a != b and reason not in near[a].setdefault(b, []):
            near[a][b].append(reason)
    return near


def _places(
    near: Mapping[str, Mapping[str, list[str]]], roots: Iterable[str], depth: int
) -> dict[str, list[str]]:
    """What stands below each note, breadth first; a root that has its place by then has no tree."""
    below: dict[str, list[str]] = {}
    for root in roots:
        edge = [] if root in below else [root]
        for note_id in edge:
            below[note_id] = []
        for _ in range(depth):
            further = []
            for note_id in edge:
                new = [other for other in near[note_id] if other not in below]
                below[note_id] = new
                below.update((other, []) for other in new)
                further += new
            edge = further
    return below
