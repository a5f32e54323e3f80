"""Merges free-form notes that say the same, judged by their words."""

from collections import defaultdict
from functools import lru_cache
from heapq import heapify, heappop, heappush

from nuggets.domain.records import MemoryNote
from nuggets.domain.tags import CONFIRMED
from nuggets.errors import InvalidInput
from nuggets.graph.note_merging import merge_notes
from nuggets.language.equivalence import singular
from nuggets.language.text import tokens
from nuggets.language.word_lists import stop_words
from nuggets.maintenance.reflection.plan import Plan, age
from nuggets.maintenance.reflection.token_index import (
    Postings,
    Tokens,
    all_tokens,
    find_similar,
    significant,
    union,
)

NEAR_DUPLICATE = 0.90  # Jaccard similarity of the words of two contents that say the same
REASON = "merged: nearly the same content"
SHORT_CONTENT = 8  # key words
SHORT = 2  # characters of names such as EU or CI, which are as short as prepositions

# Words in titles that tell one of several things from the others.
_WHICH_LISTED = """
one two three first second third last next old older new newer long longer short shorter
"""
_WHICH = frozenset(_WHICH_LISTED.split())

Kind = tuple[str, ...]


def merge_key(note: MemoryNote) -> Kind:
    """Only notes with the same key may be merged.

    Beyond nugget, subject, scope and type, they must agree in project, in stability (a temporary
    note must not take a durable one with it) and in trust (an unconfirmed observation of a tool
    must not become a person's statement or a confirmed observation).
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


def merge(plan: Plan, ids: list[str]) -> None:
    """Merge every inspected note with the notes that say the same, until none is left."""
    inspected: defaultdict[Kind, list[str]] = defaultdict(list)
    for note in plan.visible(ids):
        if note.kind == "note":
            inspected[merge_key(note)].append(note.id)
    groups: defaultdict[Kind, list[str]] = defaultdict(list)
    nuggets = {kind[0] for kind in inspected}
    for note in plan.notes.values():
        if note.nugget_name in nuggets and note.kind == "note" and not note.hidden:
            groups[merge_key(note)].append(note.id)
    for kind in sorted(inspected):
        _merge_group(plan, inspected[kind], groups[kind])


def _merge_group(plan: Plan, inspected: list[str], group: list[str]) -> None:
    texts = {i: _similarity_tokens(plan, i) for i in group}
    # a merge only adds tokens to a note, so these postings stay complete
    postings = Postings(texts, union(texts[i] for i in inspected))
    queue = [(postings.rank[i], i) for i in inspected]
    heapify(queue)
    while queue:
        _, note_id = heappop(queue)
        if note_id not in postings.tokens:  # it was merged into another note
            continue
        for _, other in find_similar(postings, note_id, NEAR_DUPLICATE):
            survivor, source = _longer_first(plan.notes[note_id], plan.notes[other])
            if _are_distinct(plan, survivor, source):
                continue
            if not plan.may("merge", note_id, other):
                continue
            if _merge_pair(plan, survivor, source):
                postings.drop(source.id)
                postings.put(survivor.id, _similarity_tokens(plan, survivor.id))
                # with more words it may be similar to other notes
                heappush(queue, (postings.rank[survivor.id], survivor.id))
                break


def _similarity_tokens(plan: Plan, note_id: str) -> Tokens:
    """Stop words do not count into the similarity of two notes."""
    return frozenset(plan.key_words(plan.notes[note_id].content))


def _are_distinct(plan: Plan, longer: MemoryNote, shorter: MemoryNote) -> bool:
    """Whether the notes are about different things or say different things about one."""
    return (
        _disagree(plan, longer.content, shorter.content)
        or _name_different_things(plan, longer, shorter)
        or _titles_differ(plan, longer.title, shorter.title)
    )


def _titles_differ(plan: Plan, title: str, other_title: str) -> bool:
    """Whether two titles name different ones of several things: by number, region or age, or as
    names in code ("read", "read_eager")."""
    if _is_identifier(title) and _is_identifier(other_title):
        return title != other_title
    own, others = _which(title), _which(other_title)
    each_has_its_own = bool(own - others and others - own)
    return each_has_its_own or plan.particulars(title) != plan.particulars(other_title)


def _is_identifier(title: str) -> bool:
    """Whether a title may be a name in code: one ASCII word, not plainly capitalized ("Fonts")."""
    is_plain = title[:1].isupper() and title[1:].islower()
    return title.isascii() and len(title.split()) == 1 and not is_plain


def _disagree(plan: Plan, longer: str, shorter: str) -> bool:
    """Whether the contents say different things.

    A note that others were merged into has several lines of nearly the same words: one line that
    agrees is enough.
    """
    if _says_all(plan, longer, shorter):
        return False
    if "\n" in shorter or "\n" not in longer:
        return True
    return not any(_says_all(plan, line, shorter) for line in longer.split("\n"))


def _says_all(plan: Plan, text: str, other: str) -> bool:
    """Whether a text says what another says, and perhaps adds something at its end."""
    words, other_words = plan.key_words(text), plan.key_words(other)
    if len(words) < len(other_words):
        words, other_words = other_words, words
    return words[: len(other_words)] == other_words and (
        plan.particulars(text) == plan.particulars(other)
    )


def _name_different_things(plan: Plan, longer: MemoryNote, shorter: MemoryNote) -> bool:
    """Whether the titles name two things, which may well have the same content.

    Titles that share a word and have one of their own each are siblings ("begin fill", "end fill").
    With a short content, which says little, so are "owner" and "owner of billing".
    """
    names, other_names = _names(longer.title), _names(shorter.title)
    names_more = (_names_more(plan, longer, shorter), _names_more(plan, shorter, longer))
    if names.isdisjoint(other_names):
        return all(names_more)
    is_short = len(plan.key_words(shorter.content)) < SHORT_CONTENT
    are_siblings = bool(names - other_names and other_names - names)
    return are_siblings or (is_short and any(names_more))


def _names_more(plan: Plan, note: MemoryNote, other: MemoryNote) -> bool:
    """Whether its title names something that the other note does not mention.

    "Who owns billing" and "who owns search" may have the same content, but are two notes.
    """
    other_words = _names(other.title) | frozenset(map(singular, plan.content_tokens(other)))
    return not other_words.issuperset(_names(note.title))


@lru_cache(maxsize=4096)  # notes with equal content are all compared with each other
def _names(title: str) -> Tokens:
    return frozenset(map(singular, significant(all_tokens(title)) - _WHICH))


@lru_cache(maxsize=4096)
def _which(title: str) -> Tokens:
    """Words such as first and new, and short names: EU, CI, and "us" at the end of a title."""
    short = {
        word.lower()
        for word in tokens(title)
        if len(word) == SHORT and word.isascii() and word.isalpha()
        if word.isupper() or title.endswith(word) or word not in stop_words()
    }
    return frozenset(short) | (all_tokens(title) & _WHICH)


def _longer_first(a: MemoryNote, b: MemoryNote) -> tuple[MemoryNote, MemoryNote]:
    """The note to keep first: the longer one, or the older of two equally long ones."""
    first, second = sorted((a, b), key=lambda note: (-len(note.content), age(note)))
    return first, second


def _merge_pair(plan: Plan, survivor: MemoryNote, source: MemoryNote) -> bool:
    """False if the merged note would be too large."""
    try:
        after = merge_notes(survivor, source, REASON, plan.now, plan.notes)
    except InvalidInput:
        return False
    plan.put(*after)
    detail = f"merged {source.id} {source.title!r:.80} into {survivor.id} {survivor.title!r:.80}"
    plan.record("merge", survivor, detail, (source.id, *(note.id for note in after[2:])))
    return True
