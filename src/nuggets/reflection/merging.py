"""Free-form notes that say the same become one. Knows similarity of words, not of meaning."""

from collections import defaultdict
from functools import lru_cache
from heapq import heapify, heappop, heappush

from nuggets.errors import InvalidInput
from nuggets.graph.notes import merged
from nuggets.records import MemoryNote
from nuggets.reflection.draft import Draft, age
from nuggets.reflection.outcome import Policy
from nuggets.reflection.vocabulary import Postings, Tokens, all_tokens, near, significant, union

REASON = "merged: nearly the same content"

# Words by which titles tell notes apart that are about the same.
_WHICH_LISTED = """
one two three first second third last next another other again copy duplicate original draft
version note notes old older new newer long longer short shorter
"""
_WHICH = frozenset(_WHICH_LISTED.split())

Kind = tuple[str, ...]


def alike(note: MemoryNote) -> Kind:
    """Two notes may become one only if this is the same.

    Beyond nugget, subject, scope and type: what belongs to another project stays there, what
    is temporary must not take something durable with it, and what a tool saw must not gain the
    trust that a person's words have.
    """
    return (
        note.nugget_name,
        note.subject,
        note.scope,
        note.type,
        note.project,
        note.stability,
        "observed" if note.source == "tool_observation" else "said",
    )


def merge(draft: Draft, ids: list[str], policy: Policy) -> None:
    """Every inspected note with whatever says the same, until nothing more does."""
    inspected: defaultdict[Kind, list[str]] = defaultdict(list)
    for note in draft.visible(ids):
        if note.kind == "note":
            inspected[alike(note)].append(note.id)
    groups: defaultdict[Kind, list[str]] = defaultdict(list)
    nuggets = {kind[0] for kind in inspected}
    for note in draft.notes.values():
        if note.nugget_name in nuggets and note.kind == "note" and not note.hidden:
            groups[alike(note)].append(note.id)
    for kind in sorted(inspected):
        _merge_group(draft, inspected[kind], groups[kind], policy)


def _merge_group(draft: Draft, asking: list[str], group: list[str], policy: Policy) -> None:
    texts = {i: draft.said(draft.notes[i]) for i in group}
    # whatever a merge adds to a note, it keeps the tokens that it was asked for with
    postings = Postings(texts, union(texts[i] for i in asking))
    waiting = [(postings.rank[i], i) for i in asking]
    heapify(waiting)
    while waiting:
        _, this = heappop(waiting)
        if this not in postings.tokens:  # merged into another meanwhile
            continue
        for _, other in near(postings, this, policy.merge_at):
            kept, gone = _longer_first(draft.notes[this], draft.notes[other])
            if _told_apart(draft, kept, gone) or not draft.may("merge", this, other):
                continue
            if _merge_pair(draft, kept, gone):
                postings.drop(gone.id)
                postings.put(kept.id, draft.said(draft.notes[kept.id]))
                # with more words it may resemble others
                heappush(waiting, (postings.rank[kept.id], kept.id))
                break


def _told_apart(draft: Draft, a: MemoryNote, b: MemoryNote) -> bool:
    """Whether each title names something that the other note does not speak of.

    Who owns billing and who owns search are two questions with one answer: as one note, one of
    them would find none.
    """
    names, others = _names(a.title), _names(b.title)
    return _says_more(names, others, draft.said(b)) and _says_more(others, names, draft.said(a))


def _says_more(names: Tokens, others: Tokens, content: Tokens) -> bool:
    for name in names - others - content:
        forms = (f"{name}s", name.removesuffix("s"))
        if others.isdisjoint(forms) and content.isdisjoint(forms):
            return True
    return False


@lru_cache(maxsize=4096)  # of notes with one content, each is compared with all others
def _names(title: str) -> Tokens:
    return significant(all_tokens(title)) - _WHICH


def _longer_first(a: MemoryNote, b: MemoryNote) -> tuple[MemoryNote, MemoryNote]:
    """The survivor first: the longer, of equals the older."""
    first, second = sorted((a, b), key=lambda note: (-len(note.content), age(note)))
    return first, second


def _merge_pair(draft: Draft, kept: MemoryNote, gone: MemoryNote) -> bool:
    """False when one note would become too large for both."""
    try:
        after = merged(kept, gone, REASON, draft.now, draft.notes)
    except InvalidInput:
        return False
    draft.put(*after)
    detail = f"merged {gone.id} {gone.title!r:.80} into {kept.id} {kept.title!r:.80}"
    draft.record("merge", kept, detail, (gone.id, *(note.id for note in after[2:])))
    return True
