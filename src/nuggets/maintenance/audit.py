"""Audit: duplicates, contradictions, stale notes, credentials, broken links. Pure: it reports and
changes nothing."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Literal

from nuggets.domain import credentials
from nuggets.domain.marks import RejectedChange
from nuggets.domain.names_and_tags import title_form
from nuggets.domain.records import MemoryNote
from nuggets.domain.times import iso, parse
from nuggets.language.text import fold_case
from nuggets.maintenance.reflection import Policy, reflect
from nuggets.maintenance.reflection.tidying import is_stale, oldest_kept
from nuggets.named_tuple import NamedTuple
from nuggets.operations.lookups_before_write import contradicting_pairs
from nuggets.operations.metadata_inference import scope_and_rest
from nuggets.operations.notes_and_links import asymmetries

UNUSED_DAYS = 30  # days without a recall after which a memory is reported

FindingKind = Literal[
    "duplicate",
    "contradiction",
    "stale temporary",
    "secret",
    "broken link",
    "orphan",
    "never recalled",
    "reflection",
    "outdated",
]


class Finding(NamedTuple):
    """One problem, the notes concerned, and what to do."""

    kind: FindingKind
    note_ids: tuple[str, ...]
    detail: str


def audit_notes(notes: Mapping[str, MemoryNote], now: str, policy: Policy) -> list[Finding]:
    """All findings, the most serious kinds first; `policy`: that of the next reflection."""
    visible = [note for note in notes.values() if not note.hidden]
    return [
        *_secrets(visible),
        *_broken_links(notes),
        *_contradictions(visible),
        *_opposed_rules(visible, policy),
        *_duplicates(visible),
        *_stale(visible, now),
        *_orphans(visible),
        *_never_recalled(visible, now),
        *_next_pass(notes, now, policy),
    ]


def _secrets(notes: Iterable[MemoryNote]) -> Iterator[Finding]:
    for note in notes:
        kinds = credentials.memory_credential_kinds(note.title, note.content)
        if kinds:
            title, what = credentials.redact(note.title), ", ".join(kinds)
            yield Finding("secret", (note.id,), f"{title!r} looks like it holds: {what}")


def _broken_links(notes: Mapping[str, MemoryNote]) -> Iterator[Finding]:
    for broken in asymmetries(notes):
        detail = f"{broken.problem} link to {broken.link.to} ({broken.link.reason!r})"
        yield Finding(
            "broken link", (broken.note_id,), f"{detail}; `nuggets doctor --fix` repairs it"
        )


def _contradictions(notes: Iterable[MemoryNote]) -> Iterator[Finding]:
    """Facts of one project with the same key in several nuggets and different values."""
    by_key: dict[tuple[str, str], list[MemoryNote]] = {}
    for note in notes:
        if note.kind == "fact":
            key = fold_case(scope_and_rest(note.title)[1])
            by_key.setdefault((key, note.project), []).append(note)
    for (key, _), facts in by_key.items():
        if len({fold_case(fact.content) for fact in facts}) > 1:
            values = ", ".join(f"{fact.nugget_name}: {fact.content!r:.60}" for fact in facts)
            ids = tuple(fact.id for fact in facts)
            yield Finding("contradiction", ids, f"{key!r} has different values ({values})")


def _opposed_rules(notes: list[MemoryNote], policy: Policy) -> Iterator[Finding]:
    """Memories of which one rejects what the other wants, unless someone said that both hold."""
    for old, new in contradicting_pairs(notes):
        if RejectedChange.of_pair("link", old.id, new.id) in policy.rejected:
            continue
        texts = f"{old.content!r:.60} and {new.content!r:.60}"
        settle = (
            f"`nuggets note edit {new.id} --supersedes {old.id}` keeps the newer one, "
            f"`nuggets unlink {new.id} {old.id}` both"
        )
        yield Finding("contradiction", (old.id, new.id), f"{texts}: {settle}")


def _duplicates(notes: Iterable[MemoryNote]) -> Iterator[Finding]:
    by_words: dict[tuple[str, str], list[MemoryNote]] = {}
    for note in notes:
        if note.kind == "note" and note.content:
            words = title_form(note.content)
            by_words.setdefault((words, note.project), []).append(note)
    for same in by_words.values():
        if len(same) > 1:
            titles = ", ".join(f"{note.title!r:.60}" for note in same)
            yield Finding("duplicate", tuple(note.id for note in same), f"the same text: {titles}")


def _stale(notes: Iterable[MemoryNote], now: str) -> Iterator[Finding]:
    limit = oldest_kept(now)
    for note in notes:
        if is_stale(note, limit):
            detail = f"{note.title!r} is temporary and was last used {note.last_accessed_at[:10]}"
            yield Finding("stale temporary", (note.id,), detail)


def _orphans(notes: list[MemoryNote]) -> Iterator[Finding]:
    unlinked = [note for note in notes if note.kind == "note" and not note.links]
    if unlinked:
        ids = tuple(note.id for note in unlinked)
        subject = "1 note is" if len(unlinked) == 1 else f"{len(unlinked)} notes are"
        yield Finding("orphan", ids, f"{subject} linked to nothing")


def _never_recalled(notes: Iterable[MemoryNote], now: str) -> Iterator[Finding]:
    limit = iso(parse(now) - timedelta(days=UNUSED_DAYS))
    unused = [note for note in notes if not note.hits and note.created_at < limit]
    if unused:
        ids = tuple(note.id for note in unused)
        count, old = len(unused), f"older than {UNUSED_DAYS} days"
        subject = f"1 memory {old} was" if count == 1 else f"{count} memories {old} were"
        yield Finding("never recalled", ids, f"{subject} never recalled")


def _next_pass(notes: Mapping[str, MemoryNote], now: str, policy: Policy) -> Iterator[Finding]:
    for change in reflect(notes, now, policy)[1].changes:
        ids = (change.note_id, *change.partners)
        verb = "archive" if change.type == "hide" else change.type
        yield Finding("reflection", ids, f"the next reflection would {verb}: {change.detail}")
