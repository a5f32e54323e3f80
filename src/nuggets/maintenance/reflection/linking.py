"""Links notes that share words, if they have few links."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate, chain, pairwise

from nuggets.domain.limits import LINKS
from nuggets.domain.records import MemoryNote
from nuggets.domain.visibility import may_be_linked
from nuggets.graph.links import add_link
from nuggets.language.equivalence import singular
from nuggets.language.word_lists import generic_words
from nuggets.maintenance.reflection.merging import NEAR_DUPLICATE
from nuggets.maintenance.reflection.plan import Plan
from nuggets.maintenance.reflection.token_index import (
    Postings,
    Tokens,
    all_tokens,
    find_similar,
    function_words,
    jaccard,
    significant,
    token_list,
    union,
)

WANTED_LINKS = 2  # a note with so many neighbours gets no further links
HUB_LINKS = 16  # a note with so many links is not proposed as a partner
LEAST_SHARED_TOKENS = 2  # significant tokens that two related notes share
LEAST_SIMILARITY = 0.15  # Jaccard, of their significant tokens: two long texts share some anyway
FEW_NOTES = 5  # notes that may share a word before it counts as common
COMMON_PART = 5  # a word in more than one of five notes of a nugget is common
POSTINGS_READ = 1000  # postings read for one note, those of its rarest words first
SAME_VALUE = "nearly the same value"

_ADDRESS = re.compile(r"://[^\s/?#]+|@[\w.-]+|(?<=\w)\.[a-z]\w{0,3}\b")
_FLAGS = frozenset(("true", "false", "yes", "none", "null", "enabled", "disabled", "default"))


def link(plan: Plan, ids: list[str]) -> None:
    """Link each inspected note with its best matches until it has enough neighbours."""
    lonely: defaultdict[str, list[MemoryNote]] = defaultdict(list)
    for note in plan.visible(ids):
        if _wants_more(plan, note):
            lonely[note.nugget_name].append(note)
    peers: defaultdict[str, list[MemoryNote]] = defaultdict(list)
    for note in plan.notes.values():
        if note.nugget_name in lonely and not note.hidden:
            peers[note.nugget_name].append(note)
    for nugget in sorted(lonely):
        near_facts = _near_facts(lonely[nugget], peers[nugget])
        related = _index_related(plan, lonely[nugget], peers[nugget])
        for note in lonely[nugget]:
            for other, reason in _matches(note, near_facts, related):
                if not _wants_more(plan, plan.notes[note.id]):
                    break
                _link_pair(plan, note.id, other, reason)


def are_compatible(a: MemoryNote, b: MemoryNote) -> bool:
    """Two notes may be linked if their subjects agree or one is shared, within one project."""
    subjects = a.subject == b.subject or "shared:project" in (a.subject, b.subject)
    return subjects and may_be_linked(a, b)


def _matches(
    note: MemoryNote, near_facts: Postings, related: "_RelatedNotes"
) -> Iterator[tuple[str, str]]:
    """Ids and reasons: facts of the same value, then notes that share words, the best first."""
    if note.id in near_facts.tokens:
        for _, other in find_similar(near_facts, note.id, NEAR_DUPLICATE):
            yield other, SAME_VALUE
    yield from related.matches(note)


def _link_pair(plan: Plan, a: str, b: str, reason: str) -> None:
    note, partner = plan.notes[a], plan.notes[b]
    if not are_compatible(note, partner) or any(link.to == b for link in note.links):
        return
    # Links to archived notes do not count as neighbours, but they count towards the limit.
    if len(partner.links) >= HUB_LINKS or len(note.links) >= LINKS:
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


def _near_facts(lonely: list[MemoryNote], peers: list[MemoryNote]) -> Postings:
    """An index of distinctive values: facts with the value "true" or "80" need not be related."""
    asking = {note.id for note in lonely if note.kind == "fact"}
    facts = (note for note in peers if note.kind == "fact") if asking else ()
    values = {note.id: all_tokens(note.content) for note in facts}
    telling = {i: value for i, value in values.items() if _says_something(value)}
    return Postings(telling, union(value for i, value in telling.items() if i in asking))


def _says_something(value: Tokens) -> bool:
    return any(len(word) > 2 and not word.isdigit() and word not in _FLAGS for word in value)


class _RelatedNotes:
    """An index of the notes of one nugget by the words of those that need links."""

    def __init__(self, notes: dict[str, MemoryNote], tokens: dict[str, Tokens], wanted: Tokens):
        self._notes = notes
        self._postings = Postings(tokens, wanted)
        self._most = max(FEW_NOTES, len(tokens) // COMMON_PART)

    def matches(self, note: MemoryNote) -> Iterator[tuple[str, str]]:
        """Ids and reasons; notes that share the most words come first, then the oldest."""
        rank = self._postings.rank
        telling = self._telling_words(note)
        common = Counter(chain.from_iterable(map(self._postings.texts_with, telling)))
        del common[note.id]
        for *_, other in sorted(
            (-n, rank[i], i) for i, n in common.items() if n >= LEAST_SHARED_TOKENS
        ):
            own, others = self._postings.tokens[note.id], self._postings.tokens[other]
            if jaccard(own, others) < LEAST_SIMILARITY:
                continue
            reason = _reason(note, self._notes[other], [t for t in telling if t in others])
            if reason:
                yield other, reason

    def _telling_words(self, note: MemoryNote) -> list[str]:
        """Its distinctive words, the rarest first, up to the reading limit."""
        address_words = _of_addresses(f"{note.title}\n{note.content}")
        telling = [t for t in self._postings.rarest_first(note.id) if t not in address_words]
        places = [len(self._postings.texts_with(token)) for token in telling]
        return [
            token
            for token, count, end in zip(telling, places, accumulate(places), strict=True)
            if end <= POSTINGS_READ and count <= self._most
        ]


def _reason(note: MemoryNote, other: MemoryNote, shared: list[str]) -> str:
    """Why two notes are related, from the words they share; "" if that is no reason.

    Each title must have one of them: words that merely occur in two texts say little about either.
    Words that form a phrase in both notes ("pull request") count as one.
    """
    words, other_words = _words(note), _words(other)
    titles = [frozenset(map(singular, token_list(n.title))) for n in (note, other)]
    phrases = set(pairwise(words)) & set(pairwise(other_words))
    count = len(shared) - sum(1 for a, b in phrases if a != b and a in shared and b in shared)
    in_titles = all(not title.isdisjoint(shared) for title in titles)
    if count < LEAST_SHARED_TOKENS or not in_titles:
        return ""
    shown = sorted(shared, key=lambda word: -sum(word in title for title in titles))[
        :LEAST_SHARED_TOKENS
    ]
    written = {singular(word): word for word in token_list(f"{note.content}\n{note.title}")}
    return f"shared context: {', '.join(written[word] for word in shown)}"


def _words(note: MemoryNote) -> list[str]:
    """Its words in order, in the singular; no phrase reaches from the title into the content."""
    return [*map(singular, token_list(note.title)), "", *map(singular, token_list(note.content))]


def _index_related(plan: Plan, lonely: list[MemoryNote], peers: list[MemoryNote]) -> _RelatedNotes:
    texts = {note.id: plan.content_tokens(note) | all_tokens(note.title) for note in peers}
    tokens = {
        i: frozenset(map(singular, _telling(text - function_words(text))))
        for i, text in texts.items()
    }
    notes = {note.id: note for note in peers}
    return _RelatedNotes(notes, tokens, union(tokens[note.id] for note in lonely))


def _telling(tokens: Tokens) -> Tokens:
    """Without numbers (2026, 30s), flags (true) and generic words (run)."""
    words = significant(tokens) - generic_words() - _FLAGS
    return frozenset(token for token in words if not token[:-1].isdigit())


def _of_addresses(text: str) -> Tokens:
    """The words of host names and file extensions, which do not relate two notes."""
    return frozenset(map(singular, union(map(all_tokens, _ADDRESS.findall(text)))))
