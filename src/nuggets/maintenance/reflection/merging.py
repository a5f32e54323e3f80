"""Merges notes that say the same, and finds texts that share nearly all their words."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain

from nuggets.domain.records import MemoryNote
from nuggets.domain.visibility import is_unconfirmed
from nuggets.errors import InvalidInput
from nuggets.language.equivalence_and_contradiction import key_words, particulars
from nuggets.maintenance.reflection.plan import Plan, age
from nuggets.operations.note_merging import merge_notes

NEAR_DUPLICATE = 0.90  # Jaccard similarity of the words of two contents that say the same
REASON = "merged: nearly the same content"

Kind = tuple[str | bool, ...]
Words = tuple[str, ...]


def merge_key(note: MemoryNote) -> Kind:
    """Only notes with the same key may be merged.

    Beyond nugget, subject, scope and type, they must belong to one project, or one of two projects
    would lose its note; and what a tool saw must not become what someone said or confirmed.
    """
    return (
        note.nugget_name,
        note.subject,
        note.scope,
        note.type,
        note.project,
        is_unconfirmed(note),
    )


def merge(plan: Plan, ids: list[str]) -> None:
    """Merge every inspected note with the notes that say the same."""
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
    words = {note_id: key_words(plan.notes[note_id].content) for note_id in group}
    texts = SimilarTexts({i: frozenset(text) for i, text in words.items()}, inspected)
    for note_id in inspected:
        for other in texts.similar_to(note_id, NEAR_DUPLICATE):
            longer, shorter = sorted(
                (plan.notes[note_id], plan.notes[other]),
                key=lambda note: (-len(words[note.id]), -len(note.content), age(note)),
            )
            if not _is_subsequence(words[shorter.id], words[longer.id]):
                continue
            if _details(longer) != _details(shorter) or not plan.may("merge", note_id, other):
                continue
            if _merge_pair(plan, longer, shorter):
                texts.drop(shorter.id)
                if shorter.id == note_id:
                    break


def _is_subsequence(words: Words, others: Words) -> bool:
    """Whether the other text has the same words in the same order, and perhaps more.

    A word in the place of another may be its opposite, and so may the same words in another order.
    """
    remaining = iter(others)
    return all(word in remaining for word in words)


def _details(note: MemoryNote) -> tuple[Words, Words]:
    """Its numbers, paths, negations and signs: where they differ, two notes are not the same."""
    return particulars(note.title), particulars(note.content)


def _merge_pair(plan: Plan, survivor: MemoryNote, source: MemoryNote) -> bool:
    """False if the merged note would have too many links."""
    try:
        # the survivor has all words of the source, so no line is added
        after = merge_notes(survivor, source, REASON, plan.now, plan.notes, survivor.content)
    except InvalidInput:
        return False
    plan.put(*after)
    detail = f"merged {source.id} {source.title!r:.80} into {survivor.id} {survivor.title!r:.80}"
    plan.record("merge", survivor, detail, (source.id, *(note.id for note in after[2:])))
    return True


# --- similar texts --------------------------------------------------------------------------------

TEXTS_COMPARED = 1000  # texts that one text is compared with at most


class SimilarTexts:
    """An inverted index of texts by the words of those that are asked for."""

    def __init__(self, texts: Mapping[str, frozenset[str]], asking: Iterable[str]) -> None:
        self._texts = dict(texts)
        self._order = {name: place for place, name in enumerate(texts)}
        wanted = set(chain.from_iterable(texts[name] for name in asking))
        self._names_with: defaultdict[str, list[str]] = defaultdict(list)
        for name, words in texts.items():
            for word in words & wanted:
                self._names_with[word].append(name)

    def drop(self, name: str) -> None:
        """It is no longer found."""
        del self._texts[name]

    def similar_to(self, name: str, at_least: float) -> list[str]:
        """The other texts with a Jaccard similarity of `at_least`, the most similar first.

        Such a text misses only few of the words, so it has one of the rarest: only texts with one
        of these are compared (prefix filtering).
        """
        if name not in self._texts:
            return []
        own = self._texts[name]
        # the tolerance keeps 10 % of 10 from becoming 0.99
        may_miss = int(len(own) * (1 - at_least) + 1e-9)
        rarest = sorted(own, key=lambda word: (len(self._names_with[word]), word))
        candidates: dict[str, None] = {}
        for word in rarest[: may_miss + 1]:
            candidates.update(dict.fromkeys(self._names_with[word][:TEXTS_COMPARED]))
            if len(candidates) >= TEXTS_COMPARED:
                break
        candidates.pop(name, None)
        scored = (
            (-jaccard(own, self._texts[other]), self._order[other], other)
            for other in candidates
            if other in self._texts
        )
        return [other for score, _, other in sorted(scored) if -score >= at_least]


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """The size of the intersection over the size of the union; 0 if both are empty."""
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0
