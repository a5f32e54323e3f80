"""How healthy a memory is: what stands twice, what disagrees, what is stale, what should not be
there. Pure; it only points, reflection and people act."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Literal, NamedTuple

from nuggets import secrets
from nuggets.graph.links import asymmetries
from nuggets.graph.metadata import scope_and_rest
from nuggets.records import MemoryNote
from nuggets.reflection import Policy, reflect
from nuggets.reflection.tidying import is_stale, oldest_kept
from nuggets.text import folded
from nuggets.times import iso, parsed

UNUSED_DAYS = 30  # a memory nobody asked for in a month is probably not worth its line

FindingKind = Literal[
    "duplicate",
    "contradiction",
    "stale temporary",
    "secret",
    "broken link",
    "orphan",
    "never recalled",
    "reflection",
]


class Finding(NamedTuple):
    """One thing worth a look, the notes it is about, and what to do."""

    kind: FindingKind
    note_ids: tuple[str, ...]
    detail: str


def audited(notes: Mapping[str, MemoryNote], now: str, policy: Policy) -> list[Finding]:
    """All findings, the gravest kinds first; the policy is that of the next clean-up."""
    visible = [note for note in notes.values() if not note.hidden]
    return [
        *_secrets(visible),
        *_broken_links(notes),
        *_contradictions(visible),
        *_duplicates(visible),
        *_stale(visible, now, policy),
        *_orphans(visible),
        *_never_recalled(visible, now),
        *_next_pass(notes, now, policy),
    ]


def _secrets(notes: Iterable[MemoryNote]) -> Iterator[Finding]:
    for note in notes:
        kinds = secrets.found_in(note.title, note.content)
        if kinds:
            title, what = secrets.redacted(note.title), ", ".join(kinds)
            yield Finding("secret", (note.id,), f"{title!r} looks like it holds: {what}")


def _broken_links(notes: Mapping[str, MemoryNote]) -> Iterator[Finding]:
    for broken in asymmetries(notes):
        detail = f"{broken.problem} link to {broken.link.to} ({broken.link.reason!r})"
        yield Finding(
            "broken link", (broken.note_id,), f"{detail}; `nuggets doctor --fix` mends it"
        )


def _contradictions(notes: Iterable[MemoryNote]) -> Iterator[Finding]:
    """Facts of one name in several nuggets that say different things to the same project."""
    by_key: dict[tuple[str, str], list[MemoryNote]] = {}
    for note in notes:
        if note.kind == "fact":
            key = folded(scope_and_rest(note.title)[1])
            by_key.setdefault((key, note.project), []).append(note)
    for (key, _), facts in by_key.items():
        if len({folded(fact.content) for fact in facts}) > 1:
            said = ", ".join(f"{fact.nugget_name}: {fact.content!r:.60}" for fact in facts)
            ids = tuple(fact.id for fact in facts)
            yield Finding("contradiction", ids, f"{key!r} has different values ({said})")


def _duplicates(notes: Iterable[MemoryNote]) -> Iterator[Finding]:
    by_words: dict[tuple[str, str], list[MemoryNote]] = {}
    for note in notes:
        if note.kind == "note" and note.content:
            words = " ".join(folded(note.content).split())
            by_words.setdefault((words, note.project), []).append(note)
    for same in by_words.values():
        if len(same) > 1:
            titles = ", ".join(f"{note.title!r:.60}" for note in same)
            yield Finding("duplicate", tuple(note.id for note in same), f"the same text: {titles}")


def _stale(notes: Iterable[MemoryNote], now: str, policy: Policy) -> Iterator[Finding]:
    limit = oldest_kept(now, policy)
    for note in notes:
        if is_stale(note, limit):
            detail = f"{note.title!r} is temporary and was last used {note.last_accessed_at[:10]}"
            yield Finding("stale temporary", (note.id,), detail)


def _orphans(notes: list[MemoryNote]) -> Iterator[Finding]:
    alone = [note for note in notes if note.kind == "note" and not note.links]
    if alone:
        ids = tuple(note.id for note in alone)
        them = "1 note is" if len(alone) == 1 else f"{len(alone)} notes are"
        yield Finding("orphan", ids, f"{them} linked to nothing")


def _never_recalled(notes: Iterable[MemoryNote], now: str) -> Iterator[Finding]:
    limit = iso(parsed(now) - timedelta(days=UNUSED_DAYS))
    unused = [note for note in notes if not note.hits and note.created_at < limit]
    if unused:
        ids = tuple(note.id for note in unused)
        count, old = len(unused), f"older than {UNUSED_DAYS} days"
        them = f"1 memory {old} was" if count == 1 else f"{count} memories {old} were"
        yield Finding("never recalled", ids, f"{them} never recalled")


def _next_pass(notes: Mapping[str, MemoryNote], now: str, policy: Policy) -> Iterator[Finding]:
    for change in reflect(notes, now, policy)[1].changes:
        ids = (change.note_id, *change.partners)
        yield Finding("reflection", ids, f"the next clean-up would {change.type}: {change.detail}")
