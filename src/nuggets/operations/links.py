"""Links between notes: always at both ends, never dangling, never twice. Knows no nugget."""

from collections.abc import Container, Iterable, Mapping
from typing import Literal

from nuggets.domain.limits import LINKS, check_most, checked_reason
from nuggets.domain.records import DEFAULT_REASON, Changes, MemoryNote, NoteLink
from nuggets.domain.state import Notes
from nuggets.errors import InvalidInput
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple

Pair = tuple[MemoryNote, MemoryNote]


class BrokenLink(NamedTuple):
    """A link that no operation here could have made: a file was edited or half restored."""

    note_id: str
    link: NoteLink
    problem: Literal["dangling", "self", "repeated", "one-sided"]


def add_link(a: MemoryNote, b: MemoryNote, reason: str, now: str) -> Pair | None:
    """Both notes with the link; None if they have it. A link that is missing at one end is
    completed."""
    if a.id == b.id:
        raise InvalidInput(f"{a.id} cannot be linked to itself; name two notes")
    reason = checked_reason(reason, DEFAULT_REASON)
    forward, back = _find_link(a, b.id, reason), _find_link(b, a.id, reason)
    if forward and back:
        return None
    link = forward or back or NoteLink("", reason, now)
    return (
        a if forward else _with_link(a, link._replace(to=b.id)),
        b if back else _with_link(b, link._replace(to=a.id)),
    )


def remove_link(a: MemoryNote, b: MemoryNote, reason: str | None = None) -> Pair | None:
    """Both notes without their link of this reason, or without any; None when there is none."""
    after = _without_link(a, b.id, reason), _without_link(b, a.id, reason)
    return None if after == (a, b) else after


def without_links_to(notes: Iterable[MemoryNote], gone: Container[str]) -> tuple[MemoryNote, ...]:
    """Those notes that lose a link when the ids in `gone` go, without it."""
    return tuple(
        note._replace(links=tuple(link for link in note.links if link.to not in gone))
        for note in notes
        if any(link.to in gone for link in note.links)
    )


def drop_notes(notes: Notes, gone: Iterable[str]) -> Changes:
    """Drop notes, and with them every link that leads to them."""
    ids = tuple(gone)
    if not ids:
        return Changes()
    dropped = set(ids)
    rest = (note for note in notes.linking_to(dropped) if note.id not in dropped)
    return Changes(put=without_links_to(rest, dropped), drop=ids)


def redirect_links(
    links: Iterable[NoteLink], old: str, new: str, owner: str
) -> tuple[NoteLink, ...]:
    """The owner's links with those to `old` leading to `new`: none to itself, none twice."""
    return _valid_links(
        (link._replace(to=new) if link.to == old else link for link in links), owner
    )


def asymmetries(notes: Mapping[str, MemoryNote]) -> tuple[BrokenLink, ...]:
    """Every link that breaks the law, in the order of the notes."""
    ends = {note.id: {link_identity(link) for link in note.links} for note in notes.values()}
    broken = []
    for note in notes.values():
        seen: set[tuple[str, str]] = set()
        for link in note.links:
            this = link_identity(link)
            if link.to not in notes:
                broken.append(BrokenLink(note.id, link, "dangling"))
            elif link.to == note.id:
                broken.append(BrokenLink(note.id, link, "self"))
            elif this in seen:
                broken.append(BrokenLink(note.id, link, "repeated"))
            elif (note.id, this[1]) not in ends[link.to]:
                broken.append(BrokenLink(note.id, link, "one-sided"))
            seen.add(this)
    return tuple(broken)


def repair_links(notes: Mapping[str, MemoryNote]) -> tuple[MemoryNote, ...]:
    """The notes to write so that no link is broken: dangling links are removed, half links
    completed."""
    valid = {
        note.id: [link for link in _valid_links(note.links, note.id) if link.to in notes]
        for note in notes.values()
    }
    after = {
        note_id: {link_identity(link): link for link in links} for note_id, links in valid.items()
    }
    for note_id, links in valid.items():
        for link in links:
            back = link._replace(to=note_id)
            after[link.to].setdefault(link_identity(back), back)
    whole = (note._replace(links=tuple(after[note.id].values())) for note in notes.values())
    return tuple(note for note in whole if note != notes[note.id])


def _valid_links(links: Iterable[NoteLink], owner: str) -> tuple[NoteLink, ...]:
    """None to its owner, none twice; of two the earlier stays, which both ends decide alike."""
    by_identity: dict[tuple[str, str], NoteLink] = {}
    for link in links:
        if link.to != owner:
            same = by_identity.get(link_identity(link), link)
            by_identity[link_identity(link)] = min(
                same, link, key=lambda one: (one.created_at, one.reason)
            )
    return tuple(by_identity.values())


def link_identity(link: NoteLink) -> tuple[str, str]:
    """By what two links of a note are the same: target and reason, in any case."""
    return link.to, fold_case(link.reason)


def _find_link(note: MemoryNote, to: str, reason: str) -> NoteLink | None:
    wanted = (to, fold_case(reason))
    return next((link for link in note.links if link_identity(link) == wanted), None)


def _with_link(note: MemoryNote, link: NoteLink) -> MemoryNote:
    check_most(len(note.links) + 1, LINKS, note.id, "links")
    return note._replace(links=(*note.links, link))


def _without_link(note: MemoryNote, to: str, reason: str | None) -> MemoryNote:
    wanted = None if reason is None else fold_case(reason)
    rest = tuple(
        link
        for link in note.links
        if link.to != to or (wanted is not None and fold_case(link.reason) != wanted)
    )
    return note if len(rest) == len(note.links) else note._replace(links=rest)
