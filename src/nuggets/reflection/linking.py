"""Links between notes that are about the same. Knows shared words and who has few links."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from heapq import nsmallest
from itertools import accumulate, chain

from nuggets.graph.limits import LINKS
from nuggets.graph.links import linked
from nuggets.records import MemoryNote
from nuggets.reflection.draft import Draft
from nuggets.reflection.outcome import Policy
from nuggets.reflection.vocabulary import (
    IDLE_WORDS,
    Postings,
    Tokens,
    all_tokens,
    function_words,
    near,
    significant,
    union,
)

SHARED = 2  # significant tokens that make two notes related
FEW = 5  # notes that may share a word before it can be called common
SEVERAL = 10  # notes that may share one if they are not most of a nugget
COMMON = 5  # a word that more than one in five notes of a nugget has tells nothing there
LOOKED_AT = 1000  # places of rare words followed for one note: the rarest say most
WEIGHED = 30  # notes of those with the most words in common that are weighed word by word
SAME_VALUE = "nearly the same value"

_ADDRESS = re.compile(r"://[^\s/?#]+|@[\w.-]+|(?<=\w)\.[a-z]\w{0,3}\b")
_FLAGS = frozenset(("true", "false", "yes", "none", "null", "enabled", "disabled", "default"))


def link(draft: Draft, ids: list[str], policy: Policy) -> None:
    """Each inspected note with its best matches, until it has neighbours enough."""
    lonely: defaultdict[str, list[MemoryNote]] = defaultdict(list)
    for note in draft.visible(ids):
        if len(_neighbours(draft, note)) < policy.wanted_links:
            lonely[note.nugget_name].append(note)
    peers: defaultdict[str, list[MemoryNote]] = defaultdict(list)
    for note in draft.notes.values():
        if note.nugget_name in lonely and not note.hidden:
            peers[note.nugget_name].append(note)
    for nugget in sorted(lonely):
        near_facts = _near_facts(lonely[nugget], peers[nugget])
        related = _related(draft, lonely[nugget], peers[nugget])
        for note in lonely[nugget]:
            for other, reason in _matches(note, near_facts, related, policy):
                if not _wants_more(draft, note.id, policy):
                    break
                _link_pair(draft, note.id, other, reason, policy)


def compatible(a: MemoryNote, b: MemoryNote) -> bool:
    """About the same one, or one is about what all share; never across projects."""
    subjects = a.subject == b.subject or "shared:project" in (a.subject, b.subject)
    return subjects and (a.project == b.project or "" in (a.project, b.project))


def _matches(
    note: MemoryNote, near_facts: Postings, related: "_Related", policy: Policy
) -> Iterator[tuple[str, str]]:
    """Facts with this fact's value, then notes that share words with it, the best first."""
    if note.id in near_facts.tokens:
        for _, other in near(near_facts, note.id, policy.merge_at):
            yield other, SAME_VALUE
    yield from related.matches(note)


def _link_pair(draft: Draft, a: str, b: str, reason: str, policy: Policy) -> None:
    one, two = draft.notes[a], draft.notes[b]
    if not compatible(one, two) or any(known.to == b for known in one.links):
        return
    # All that a note is linked with may be archived, and there still is no room for more.
    if len(two.links) >= policy.hub_links or len(one.links) >= LINKS:
        return
    pair = linked(one, two, reason, draft.now) if draft.may("link", a, b) else None
    if pair:
        draft.put(*pair)
        detail = f"linked with {b} {two.title!r:.80}: {reason}"
        draft.record("link", one, detail, (b,))


def _wants_more(draft: Draft, note_id: str, policy: Policy) -> bool:
    return len(_neighbours(draft, draft.notes[note_id])) < policy.wanted_links


def _neighbours(draft: Draft, note: MemoryNote) -> set[str]:
    """The notes in sight that it is linked with: an archived one is no company."""
    known = draft.notes
    return {link.to for link in note.links if link.to in known and not known[link.to].hidden}


def _near_facts(lonely: list[MemoryNote], peers: list[MemoryNote]) -> Postings:
    """The values that say something: many facts may be true or 80 without being related."""
    asking = {note.id for note in lonely if note.kind == "fact"}
    facts = (note for note in peers if note.kind == "fact") if asking else ()
    values = {note.id: all_tokens(note.content) for note in facts}
    telling = {i: value for i, value in values.items() if _says_something(value)}
    return Postings(telling, union(value for i, value in telling.items() if i in asking))


def _says_something(value: Tokens) -> bool:
    return any(len(word) > 2 and not word.isdigit() and word not in _FLAGS for word in value)


class _Related:
    """The notes of one nugget by the words they share, as far as the lonely ones need it."""

    def __init__(self, tokens: dict[str, Tokens], wanted: Tokens) -> None:
        self._postings = Postings(tokens, wanted)
        self._count = len(tokens)
        self._most = max(FEW, min(SEVERAL, len(tokens) // 2), len(tokens) // COMMON)

    def matches(self, note: MemoryNote) -> Iterator[tuple[str, str]]:
        """Ids and reasons; a rare word weighs more than a common one, equals go by age."""
        rank = self._postings.rank
        followed = self._followed(note)
        common = Counter(chain.from_iterable(map(self._postings.having, followed)))
        del common[note.id]
        related = [(-n, rank[other], other) for other, n in common.items() if n >= SHARED]
        found = (self._match(other, followed) for *_, other in nsmallest(WEIGHED, related))
        for *_, other, shared in sorted(found):
            yield other, f"shared context: {', '.join(shared[:SHARED])}"

    def _followed(self, note: MemoryNote) -> dict[str, int]:
        """Its telling words with their weights, the rarest first, while they are worth following.

        Whole numbers, so every machine sorts alike.
        """
        beside = _of_addresses(f"{note.title}\n{note.content}")
        telling = [t for t in self._postings.rarest_first(note.id) if t not in beside]
        places = [len(self._postings.having(token)) for token in telling]
        return {
            token: (1 + self._count // found).bit_length()
            for token, found, end in zip(telling, places, accumulate(places), strict=True)
            if end <= LOOKED_AT and found <= self._most
        }

    def _match(self, other: str, followed: dict[str, int]) -> tuple[int, int, str, list[str]]:
        """Sorts by how well it fits."""
        tokens = self._postings.tokens[other]
        shared = [token for token in followed if token in tokens]
        weight = sum([followed[token] for token in shared])
        return -weight, self._postings.rank[other], other, shared


def _related(draft: Draft, lonely: list[MemoryNote], peers: list[MemoryNote]) -> _Related:
    said = {note.id: draft.said(note) | all_tokens(note.title) for note in peers}
    tokens = {i: text - function_words(text) for i, text in said.items()}
    return _Related(tokens, _telling(union(tokens[note.id] for note in lonely)))


def _telling(tokens: Tokens) -> Tokens:
    """Neither 2026 nor 30s, neither true nor run."""
    found = significant(tokens) - IDLE_WORDS - _FLAGS
    return frozenset(token for token in found if not token[:-1].isdigit())


def _of_addresses(text: str) -> Tokens:
    """The host that two pages are on, the ending that two files have."""
    return union(map(all_tokens, _ADDRESS.findall(text)))
