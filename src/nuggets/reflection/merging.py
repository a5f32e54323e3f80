"""Free-form notes that say the same become one. Knows similarity of words, not of meaning."""

from collections import defaultdict
from functools import lru_cache
from heapq import heapify, heappop, heappush

from nuggets.errors import InvalidInput
from nuggets.graph.metadata import CONFIRMED
from nuggets.graph.notes import merged
from nuggets.records import MemoryNote
from nuggets.reflection.contrast import contradict
from nuggets.reflection.draft import Draft, age
from nuggets.reflection.outcome import Policy
from nuggets.reflection.vocabulary import (
    Postings,
    Tokens,
    all_tokens,
    jaccard,
    near,
    significant,
    union,
)
from nuggets.text import STOP_WORDS, tokens

REASON = "merged: nearly the same content"
SHORT = 2  # characters of a name that prepositions have, too

# Words by which titles tell notes apart that are about the same: that it is one of several, and
# which one.
_COPY_LISTED = "again another copy draft duplicate note notes original other update version"
_WHICH_LISTED = """
one two three first second third last next old older new newer long longer short shorter
"""
_COPY = frozenset(_COPY_LISTED.split())
_WHICH = frozenset(_WHICH_LISTED.split())

Kind = tuple[str, ...]


def alike(note: MemoryNote) -> Kind:
    """Two notes may become one only if this is the same.

    Beyond nugget, subject, scope and type: what belongs to another project stays there, what
    is temporary must not take something durable with it, and what a tool saw must not gain the
    trust that a person's words have, or that someone gave to another observation.
    """
    observed = "confirmed" if CONFIRMED in note.tags else "observed"
    return (
        note.nugget_name,
        note.subject,
        note.scope,
        note.type,
        note.project,
        note.stability,
        observed if note.source == "tool_observation" else "said",
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
            if _told_apart(draft, kept, gone, policy.merge_at):
                continue
            if not draft.may("merge", this, other):
                continue
            if _merge_pair(draft, kept, gone):
                postings.drop(gone.id)
                postings.put(kept.id, draft.said(draft.notes[kept.id]))
                # with more words it may resemble others
                heappush(waiting, (postings.rank[kept.id], kept.id))
                break


def _told_apart(draft: Draft, kept: MemoryNote, gone: MemoryNote, merge_at: float) -> bool:
    """Whether the two are about different things, or do not say the same about it."""
    return (
        _disagree(draft, kept.content, gone.content, merge_at)
        or (_names_more(draft, kept, gone) and _names_more(draft, gone, kept))
        or (_are_two(draft, kept.title, gone.title) and _each_says_more(draft, kept, gone))
    )


def _each_says_more(draft: Draft, one: MemoryNote, other: MemoryNote) -> bool:
    """What server A and server B are like may be the same, and then one of the notes is enough."""
    ours, theirs = draft.said(one), draft.said(other)
    return not (ours <= theirs or theirs <= ours)


def _are_two(draft: Draft, one: str, other: str) -> bool:
    """Whether two titles say which of several things they are about: its number, region, age."""
    ours, theirs = _which(one), _which(other)
    return bool(ours - theirs and theirs - ours) or contradict(
        draft.particulars(one), draft.particulars(other)
    )


def _disagree(draft: Draft, longer: str, shorter: str, merge_at: float) -> bool:
    """A note that others went into has several lines of nearly the same words: one is enough."""
    own = draft.particulars(shorter)
    if not contradict(draft.particulars(longer), own):
        return False
    if "\n" in shorter or "\n" not in longer:
        return True
    said = all_tokens(shorter)
    near_lines = (
        line for line in longer.split("\n") if jaccard(all_tokens(line), said) >= merge_at
    )
    return all(contradict(draft.particulars(line), own) for line in near_lines)


def _names_more(draft: Draft, note: MemoryNote, other: MemoryNote) -> bool:
    """Whether its title names something that the other note does not speak of.

    Who owns billing and who owns search are two questions with one answer: as one note, one of
    them would find none.
    """
    others = _names(other.title)
    known = others | draft.said(other)
    return any(
        known.isdisjoint((name, f"{name}s", name.removesuffix("s")))
        for name in _names(note.title) - others
    )


@lru_cache(maxsize=4096)  # of notes with one content, each is compared with all others
def _names(title: str) -> Tokens:
    return significant(all_tokens(title)) - _COPY - _WHICH


@lru_cache(maxsize=4096)
def _which(title: str) -> Tokens:
    """First, new; and what is short and no mere preposition: EU, CI, at its end also us."""
    short = {
        word.lower()
        for word in tokens(title)
        if len(word) == SHORT and word.isascii() and word.isalpha()
        if word.isupper() or title.endswith(word) or word not in STOP_WORDS
    }
    return frozenset(short) | (all_tokens(title) & _WHICH)


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
