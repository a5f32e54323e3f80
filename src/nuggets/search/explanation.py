"""Why a note has the score it has, word by word. Does not rank."""

from typing import TYPE_CHECKING

from nuggets.named_tuple import NamedTuple
from nuggets.search.answer_degree import is_near
from nuggets.search.postings import FIELDS, by_block, decode, term_key
from nuggets.search.term_expansion import CERTAIN_KINDS

if TYPE_CHECKING:
    from nuggets.search.documents import Document, IndexReader
    from nuggets.search.query import Slot
    from nuggets.search.results import Search
    from nuggets.search.term_expansion import Alternative

SHORTEST_SIMILAR = 5  # letters; shorter words resemble too many others


class WordExplanation(NamedTuple):
    """What one word of the question matches in the note."""

    word: str
    matched: tuple[str, ...]  # terms, such as "auth" or "tokne → token (corrected)"
    itself: bool  # whether the note has the word, in any form, or its abbreviation
    alike: bool  # whether the note has a term that the word may be a variant or a typo of
    fields: tuple[str, ...]  # of the note: title, content, tag; "linked" for its neighbours
    rarity: float  # inverse document frequency; a word that no note has is the rarest
    weight: float  # share of the question, all words together 1
    share: float  # how much of that the note answers


class Explanation(NamedTuple):
    """All parts of a relevance. Those of `text` add up to it, then are scaled and clipped."""

    note_id: str
    found: bool  # whether it is above the threshold
    words: tuple[WordExplanation, ...]
    group: float
    named: float  # the question names its title
    time: float
    asks: float
    phrase: float
    text: float
    vector: float
    boost: float
    relevance: float

    @property
    def says_a_word(self) -> bool:
        """Whether the note itself, not only a linked note, has a word of the question."""
        return any(word.itself or word.alike for word in self.words)


def explain(search: "Search", reader: "IndexReader", document: "Document") -> Explanation:
    """The parts of one note's score, as they are among the results."""
    query, signal = search.query, search.signal_of(document)
    words = tuple(
        _explain_word(slot, slot.mass / query.mass, share, _matches(slot, reader, document.doc))
        for slot, share in zip(query.slots, signal.shares, strict=True)
    )
    return Explanation(
        document.note,
        is_near(signal),
        words,
        signal.group,
        signal.named,
        signal.time,
        signal.asks,
        signal.phrase,
        signal.text,
        signal.vector,
        document.boost,
        min(1.0, signal.evidence + document.boost),
    )


def _explain_word(
    slot: "Slot", weight: float, share: float, matches: "list[tuple[Alternative, int]]"
) -> WordExplanation:
    """`matches`: the alternatives that the note has, with their codes."""
    fields = dict.fromkeys(field for match, code in matches for field in _fields(match, code))
    if share and not matches:
        fields["linked"] = None
    matched = tuple(_describe(slot, match) for match, _ in matches)
    itself = any(match.how in CERTAIN_KINDS for match, _ in matches)
    alike = len(slot.word) >= SHORTEST_SIMILAR and any(match.how != "meta" for match, _ in matches)
    return WordExplanation(
        slot.word, matched, itself, alike, tuple(fields), slot.mass, weight, share
    )


def _matches(slot: "Slot", reader: "IndexReader", doc: int) -> "list[tuple[Alternative, int]]":
    """The alternatives of the word that the note itself has, with their codes."""
    blocks = by_block([doc])
    found = []
    for alternative in slot.alternatives:
        codes = reader.postings.codes_at(term_key(alternative.term), blocks)
        found += [(alternative, code) for code in codes.values()]
    return found


def _fields(match: "Alternative", code: int) -> list[str]:
    if match.how == "meta":
        return ["metadata"]
    named = [field for field, weight in zip(FIELDS, decode(code), strict=True) if weight]
    return named or ["content"]  # a stop word


def _describe(slot: "Slot", alternative: "Alternative") -> str:
    return (
        f"{slot.word} → {alternative.name} ({alternative.how})"
        if alternative.how
        else alternative.name
    )
