"""Why a note has the score it has, word by word. Ranks nothing itself."""

from typing import TYPE_CHECKING, NamedTuple

from nuggets.errors import NotFound
from nuggets.search.dates import date_labels
from nuggets.search.languages import ENGLISH, LANGUAGES
from nuggets.search.note_analyzer import LABEL, own_tags, to_storable
from nuggets.search.postings import FIELDS
from nuggets.search.ranking import TEXT_SCALE, VECTOR_WEIGHT
from nuggets.search.results import THRESHOLD
from nuggets.search.terms import pieces, stems
from nuggets.text import tokens

if TYPE_CHECKING:
    from nuggets.records import MemoryNote
    from nuggets.search.query import Slot
    from nuggets.search.results import Search
    from nuggets.search.snapshot import Snapshot
    from nuggets.search.term_expansion import Alternative

# How a term answers that the note has beyond doubt.
CERTAIN = frozenset(("", "related", "joined", "date"))
SHORTEST_LIKENESS = 5  # letters: among shorter words everything resembles something


class WordExplanation(NamedTuple):
    """What one word of the question found in the note."""

    word: str
    matched: tuple[str, ...]  # terms, such as "auth" or "tokne → token (corrected)"
    itself: bool  # whether it stands there, in whatever spelling, or its abbreviation
    alike: bool  # whether something stands there that it may well have been meant to be
    fields: tuple[str, ...]  # of the note: title, content, tag; "linked" for its neighbours
    rarity: float  # what it says by itself; words that nobody has are the rarest
    weight: float  # share of the question, all words together 1
    share: float  # how much of that the note answers


class Explanation(NamedTuple):
    """All that makes up a relevance; the parts of `text` add up to it, scaled and clipped."""

    note_id: str
    found: bool  # whether it is above the threshold
    words: tuple[WordExplanation, ...]
    group: float
    subject: float
    time: float
    prior: float
    phrase: float
    text: float
    vector: float
    boost: float
    relevance: float

    @property
    def says_a_word(self) -> bool:
        """Whether the note itself has any word of the question, and not just a neighbour's."""
        return any(word.itself or word.alike for word in self.words)


def explain(search: "Search", snapshot: "Snapshot", text: str, note: "MemoryNote") -> Explanation:
    """The score of one note, taken apart."""
    document = snapshot.documents.of_note(to_storable(note.id))
    if document is None:
        raise NotFound(f"there is no note {note.id!r} to explain")
    query = search.understand(text)
    signal = search.signal_of(query, text, document)
    shares = signal.close.shares if signal and signal.close else [0.0] * len(query.slots)
    here = _fields(note, document.language)
    words = tuple(
        _word(
            slot,
            slot.mass / query.mass,
            share,
            _matching_alternatives(slot, snapshot, document.doc),
            here,
        )
        for slot, share in zip(query.slots, shares, strict=True)
    )
    if signal is None:
        relevance = VECTOR_WEIGHT / 2 + document.boost
        return Explanation(
            note.id, False, words, 0, 0, 0, 0, 0, 0.0, 0.5, document.boost, relevance
        )
    summed = max(0.0, signal.words + sum(signal.extras))
    return Explanation(
        note.id,
        signal.evidence > THRESHOLD,
        words,
        *signal.extras,
        max(0.0, signal.text * TEXT_SCALE - summed),
        signal.text,
        signal.vector,
        document.boost,
        min(1.0, signal.evidence + document.boost),
    )


def _word(
    slot: "Slot",
    weight: float,
    share: float,
    having: list["Alternative"],
    here: dict[str, list[str]],
) -> WordExplanation:
    """`having`: what answers in the note; `here`: the fields of its terms."""
    fields = dict.fromkeys(
        field
        for one in having
        for field in (["metadata"] if one.how == "meta" else here.get(one.term, []))
    )
    if share and not having:
        fields["linked"] = None
    matched = tuple(_describe(slot, one) for one in having)
    itself = any(one.how in CERTAIN for one in having)
    alike = len(slot.word) >= SHORTEST_LIKENESS and any(one.how != "meta" for one in having)
    return WordExplanation(
        slot.word, matched, itself, alike, tuple(fields), slot.rarity, weight, share
    )


def _matching_alternatives(slot: "Slot", snapshot: "Snapshot", doc: int) -> "list[Alternative]":
    """What answers the word in the note itself."""
    return [one for one in slot.alternatives if snapshot.index.select_having(one.term, [doc])]


def _describe(slot: "Slot", one: "Alternative") -> str:
    return f"{slot.word} → {one.name} ({one.how})" if one.how else one.name


def _fields(note: "MemoryNote", language: int) -> dict[str, list[str]]:
    """In which fields each term of the note stands, its dates included."""
    spoken = LANGUAGES[language - 1] if language else ENGLISH
    found: dict[str, list[str]] = {}
    texts = (note.title, note.content, " ".join(own_tags(note)))
    for field, text in zip(FIELDS, texts, strict=True):
        words = [word for token in tokens(text) for word in pieces(token)]
        dates = [LABEL + label for label in date_labels(text, words)]
        for term in dict.fromkeys([*stems(words, spoken), *dates]):
            found.setdefault(term, []).append(field)
    return found
