"""What a pass plans for notes; of this, the links between notes that share significant words, and
the merges of notes that say the same."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import accumulate
from math import hypot, log

from nuggets.domain.limits import LINKS
from nuggets.domain.marks import RejectedChange
from nuggets.domain.names_and_tags import DECIDING_TAGS, own_tags
from nuggets.domain.records import (
    CONTRADICTS,
    MemoryNote,
    ReflectionChange,
    ReflectionKind,
    ReflectionResult,
)
from nuggets.domain.visibility import is_unconfirmed, may_be_linked
from nuggets.errors import InvalidInput
from nuggets.language.equivalence_and_contradiction import (
    key_words,
    may_name_the_same,
    says_all,
)
from nuggets.language.languages import detect_language, stems
from nuggets.language.text import fold_case, is_unspaced, tokens, words
from nuggets.language.word_lists import generic_words, stop_words
from nuggets.named_tuple import NamedTuple
from nuggets.operations.note_merging import merge_notes
from nuggets.operations.notes_and_links import add_link

# --- the plan -------------------------------------------------------------------------------------


class Policy(NamedTuple):
    """How far one pass goes."""

    max_notes: int = 10  # few enough to read the result
    rejected: frozenset[RejectedChange] = frozenset()  # changes that people undid


def age(note: MemoryNote) -> tuple[str, ...]:
    """A sort key, oldest first. Ids are random, so they only break ties."""
    return note.created_at, note.nugget_name, note.title, note.id


class Plan:
    """The notes with planned changes applied, oldest first; nothing is written."""

    def __init__(
        self, found: Mapping[str, MemoryNote], now: str, rejected: frozenset[RejectedChange]
    ) -> None:
        self.found = found
        self.now = now
        self._rejected = rejected
        self.notes = {note.id: note for note in sorted(found.values(), key=age)}
        self.changes: list[ReflectionChange] = []

    def put(self, *notes: MemoryNote) -> None:
        self.notes.update({note.id: note for note in notes})

    def record(
        self, type: ReflectionKind, note: MemoryNote, detail: str, partners: tuple[str, ...] = ()
    ) -> None:
        self.changes.append(ReflectionChange(type, note.nugget_name, note.id, detail, partners))

    def may(self, step: ReflectionKind, note: str, other: str = "") -> bool:
        """Whether no one ever undid this step for the note, or for the two notes."""
        change = RejectedChange.of_pair(step, note, other) if other else RejectedChange(step, note)
        return change not in self._rejected

    def visible(self, ids: list[str]) -> Iterator[MemoryNote]:
        """Those of the notes that are not archived by now, oldest first."""
        for found in sorted((self.found[note_id] for note_id in ids), key=age):
            note = self.notes[found.id]
            if not note.hidden:
                yield note

    def changed_notes(self) -> tuple[MemoryNote, ...]:
        """The notes to write, sorted by id."""
        different = (note for note in self.notes.values() if note != self.found[note.id])
        return tuple(sorted(different, key=lambda note: note.id))


def result_of(ran_at: str, inspected: int, changes: Iterable[ReflectionChange]) -> ReflectionResult:
    """The result with its counts, computed from the changes."""
    listed = tuple(changes)
    count = Counter(change.type for change in listed)
    return ReflectionResult(
        ran_at,
        inspected,
        rewritten=count["rewrite"],
        merged=count["merge"],
        hidden=count["hide"],
        tagged=count["tag"],
        linked=count["link"],
        changes=listed,
    )


# --- significant words ----------------------------------------------------------------------------

SHORTEST_WORD = 2  # letters: db and ci are words


class SignificantWords(NamedTuple):
    """Those of a text; stop words, idle words and numbers aside."""

    by_stem: Mapping[str, str]  # each stem with a word that has it
    identifiers: Mapping[str, tuple[str, ...]]  # as they are written, with the stems of their parts


def significant_words(text: str) -> SignificantWords:
    language = text_language(text)
    by_stem: dict[str, str] = {}
    identifiers: dict[str, tuple[str, ...]] = {}
    for token in tokens(text):
        found = dict(_stems_with_words(token, language))
        by_stem.update(found)
        if len(found) > 1 and not any(map(is_unspaced, found)):
            identifiers[token] = tuple(found)
    return SignificantWords(by_stem, identifiers)


def text_language(text: str) -> str:
    return detect_language(tokens(fold_case(text)))


@lru_cache(maxsize=65536)  # every note of a nugget is read, and most words are in many notes
def _stems_with_words(token: str, language: str) -> tuple[tuple[str, str], ...]:
    telling = [
        word
        for word in words(token)
        if len(word) >= SHORTEST_WORD
        if not word[:-1].isdigit()  # 2026, 30s
        if word not in stop_words(language)
    ]
    pairs = zip(stems(telling), telling, strict=True)
    return tuple((stem, word) for stem, word in pairs if stem not in _idle_stems())


@cache
def _idle_stems() -> frozenset[str]:
    """Stems of the English words that say little in any text, whatever their form."""
    return frozenset(stems(generic_words() | stop_words()))


def notes_by_word(words: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """The ids of the notes that have each word; `words`: of each note, by its id."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for note_id, own in words.items():
        for word in own:
            found[word].append(note_id)
    return found


# --- links ----------------------------------------------------------------------------------------

# Both as documented.
WANTED_LINKS = 2  # a note with so many neighbours gets no further links
LEAST_SHARED_WORDS = 2  # significant words that two linked notes share
# A word is common in a nugget if it is in more than a tenth of its notes, and in more than five.
# Measured on benchmarks/data: a fifth links more notes that have nothing in common, four notes
# miss more links that people draw.
COMMON_PART = 10
FEW_NOTES = 5
POSTINGS_READ = 1000  # for one note, its rarest words first: ours, a bound of the time


def link(plan: Plan, ids: list[str]) -> None:
    """Link each inspected note with its best matches until it has enough neighbours."""
    lonely: defaultdict[str, list[str]] = defaultdict(list)
    for note in plan.visible(ids):
        if _wants_more(plan, note):
            lonely[note.nugget_name].append(note.id)
    for nugget in sorted(lonely):
        peers = (n for n in plan.notes.values() if n.nugget_name == nugget and not n.hidden)
        related = _RelatedNotes({note.id: _words(note) for note in peers})
        for note_id in lonely[nugget]:
            for other, reason in related.matches(note_id):
                if not _wants_more(plan, plan.notes[note_id]):
                    break
                _link_pair(plan, note_id, other, reason)


def are_compatible(a: MemoryNote, b: MemoryNote) -> bool:
    """Two notes may be linked if their subjects agree or one is shared, within one project."""
    subjects = a.subject == b.subject or "shared:project" in (a.subject, b.subject)
    return subjects and may_be_linked(a, b)


def _words(note: MemoryNote) -> SignificantWords:
    """Its significant words. Tags that say what kind of note it is are none."""
    about = (tag for tag in own_tags(note.tags, note.nugget_name) if tag not in DECIDING_TAGS)
    return significant_words("\n".join((*about, note.content, note.title)))


def _link_pair(plan: Plan, a: str, b: str, reason: str) -> None:
    note, partner = plan.notes[a], plan.notes[b]
    if not are_compatible(note, partner) or any(link.to == b for link in note.links):
        return
    # Links to archived notes do not count as neighbours, but they count towards the limit.
    if max(len(partner.links), len(note.links)) >= LINKS:
        return
    pair = add_link(note, partner, reason, plan.now) if plan.may("link", a, b) else None
    if pair:
        plan.put(*pair)
        detail = f"linked with {b} {partner.title!r:.80}: {reason}"
        plan.record("link", note, detail, (b,))


def _wants_more(plan: Plan, note: MemoryNote) -> bool:
    """Whether it has few neighbours: linked notes that are not archived."""
    notes = plan.notes
    neighbours = {i for link in note.links if (i := link.to) in notes and not notes[i].hidden}
    return len(neighbours) < WANTED_LINKS


class _RelatedNotes:
    """The notes of one nugget, found by the words that they share."""

    def __init__(self, notes: Mapping[str, SignificantWords]) -> None:
        """`notes`: their words by id, the oldest note first."""
        self._notes = notes
        self._age = {note_id: place for place, note_id in enumerate(notes)}
        self._notes_with = notes_by_word({i: words.by_stem for i, words in notes.items()})
        most = max(FEW_NOTES, len(notes) // COMMON_PART)
        self._rarity = {
            stem: log(1 + len(notes) / len(having))
            for stem, having in self._notes_with.items()
            if len(having) <= most
        }

    def matches(self, note_id: str) -> Iterator[tuple[str, str]]:
        """Ids and reasons of the notes that share enough words, the most similar first.

        Similarity is the cosine of the words, weighted by their rarity: a long note, which shares
        some words with many, is no better a match for that.
        """
        known = self._notes[note_id].by_stem.keys() & self._rarity.keys()
        rarest_first = sorted(known, key=lambda stem: (-self._rarity[stem], stem))
        ends = accumulate(len(self._notes_with[stem]) for stem in rarest_first)
        shared: defaultdict[str, list[str]] = defaultdict(list)
        for stem, end in zip(rarest_first, ends, strict=True):
            if end <= POSTINGS_READ:
                for other in self._notes_with[stem]:
                    shared[other].append(stem)
        shared.pop(note_id, None)
        ranked = sorted(
            (-self._similarity(stems, other), self._age[other], other)
            for other, stems in shared.items()
            if len(stems) >= LEAST_SHARED_WORDS
        )
        for *_, other in ranked:
            names = self._shared_words(note_id, other, shared[other])
            if len(names) >= LEAST_SHARED_WORDS:
                yield other, f"shared context: {', '.join(names[:LEAST_SHARED_WORDS])}"

    def _shared_words(self, note_id: str, other: str, stems: Iterable[str]) -> list[str]:
        """How the stems are written; an identifier that both notes have is one word."""
        by_stem, own = self._notes[note_id]
        both_have = own.keys() & self._notes[other].identifiers.keys()
        wholes = {stem: name for name in sorted(both_have) for stem in own[name]}
        return list(dict.fromkeys(wholes.get(stem, by_stem[stem]) for stem in stems))

    def _similarity(self, shared: Iterable[str], other: str) -> float:
        weights = (self._rarity.get(stem, 0) for stem in self._notes[other].by_stem)
        return sum(self._rarity[stem] ** 2 for stem in shared) / hypot(*weights)


# --- merging --------------------------------------------------------------------------------------


NEAR_DUPLICATE = 0.90  # Jaccard similarity of the words of two contents, as documented
REASON = "merged: nearly the same content"

Kind = tuple[str | bool, ...]


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
    """Merge every inspected note with the notes that say the same.

    What a text says more may take back the rest ("that is wrong"), and no list of words has all
    that does. So the later word stands: a later text survives as it is, but one that was written
    again without the retraction does not vanish in the older one.
    """
    inspected = {note.id for note in plan.visible(ids) if note.kind == "note"}
    nuggets = {plan.notes[note_id].nugget_name for note_id in inspected}
    groups: defaultdict[Kind, list[str]] = defaultdict(list)
    for note in plan.notes.values():
        if note.nugget_name in nuggets and note.kind == "note" and not note.hidden:
            groups[merge_key(note)].append(note.id)
    for kind in sorted(groups):
        _merge_group(plan, [i for i in groups[kind] if i in inspected], groups[kind])


def _merge_group(plan: Plan, inspected: list[str], group: list[str]) -> None:
    if not inspected:
        return
    words = {note_id: key_words(plan.notes[note_id].content) for note_id in group}
    word_sets = {note_id: frozenset(text) for note_id, text in words.items()}
    notes_with = notes_by_word(word_sets)
    for note_id in inspected:
        if plan.notes[note_id].hidden:
            continue
        for other in similar_texts(note_id, word_sets, notes_with):
            if plan.notes[other].hidden:
                continue
            longer, shorter = sorted(
                (plan.notes[note_id], plan.notes[other]),
                key=lambda note: (-len(words[note.id]), -len(note.content), age(note)),
            )
            if not _is_repeated(shorter, longer) or not plan.may("merge", note_id, other):
                continue
            says_more = not word_sets[longer.id] <= word_sets[shorter.id]
            # when the longer one was changed says nothing: clean-ups change it too
            if says_more and longer.created_at < plan.found[shorter.id].updated_at:
                continue
            if _merge_pair(plan, longer, shorter) and shorter.id == note_id:
                break


def _is_repeated(note: MemoryNote, other: MemoryNote) -> bool:
    """Whether the other note says all that this one does, of the same thing.

    What contradicts stays until a person has settled it.
    """
    return (
        not any(link.to == other.id and link.reason == CONTRADICTS for link in note.links)
        and may_name_the_same(note.title, other.title, note.content)
        and says_all(other.content, note.content)
    )


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


def with_whole_groups(ids: set[str], groups: list[set[str]]) -> set[str]:
    """The ids, with all of every group (the notes of one merge) that has one of them, or one of
    such a group."""
    before = -1
    while before != len(ids):
        before = len(ids)
        ids = ids.union(*(group for group in groups if not ids.isdisjoint(group)))
    return ids


TEXTS_COMPARED = 1000  # with one text: ours, a bound of the time


def similar_texts(
    note_id: str, texts: Mapping[str, frozenset[str]], notes_with: Mapping[str, list[str]]
) -> list[str]:
    """The other texts with nearly the same words, the most similar first.

    Such a text misses only few of the words, so it has one of the rarest: only texts with one of
    these are compared (prefix filtering).
    """
    own = texts[note_id]
    # the tolerance keeps 10 % of 10 from becoming 0.99
    may_miss = int(len(own) * (1 - NEAR_DUPLICATE) + 1e-9)
    rarest = sorted(own, key=lambda word: (len(notes_with[word]), word))
    candidates: dict[str, None] = {}
    for word in rarest[: may_miss + 1]:
        candidates.update(dict.fromkeys(notes_with[word][:TEXTS_COMPARED]))
        if len(candidates) >= TEXTS_COMPARED:
            break
    candidates.pop(note_id, None)
    jaccard = {i: len(own & texts[i]) / len(own | texts[i]) for i in candidates}
    similar = [other for other in candidates if jaccard[other] >= NEAR_DUPLICATE]
    return sorted(similar, key=lambda other: -jaccard[other])
