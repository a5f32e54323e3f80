"""Why a note has the score it has, word by word. Ranks nothing itself."""

from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.dates import date_labels
from nuggets.search.languages import ENGLISH, LANGUAGES
from nuggets.search.ranking import TEXT_SCALE, TEXT_WEIGHT, VECTOR_WEIGHT
from nuggets.search.reading import FIELDS, own_tags
from nuggets.search.results import THRESHOLD
from nuggets.search.terms import pieces, stems
from nuggets.search.vocabulary import LABEL
from nuggets.text import tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nuggets.search.answers import Alternative
    from nuggets.search.collection import Collection
    from nuggets.search.query import Slot
    from nuggets.search.results import Search


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


def explain(search: "Search", collection: "Collection", text: str, row: int) -> Explanation:
    """The score of one note, taken apart."""
    import numpy as np

    note = collection.table.notes[row]
    only = np.zeros(len(collection.table) + 1, bool)
    only[row] = True
    boost = float(collection.table.boosts.all[row])
    query = search.reader.understand(text)
    shares: NDArray[Any] = np.zeros((0, 1))
    beside: dict[str, NDArray[Any]] = {}
    if query.slots:
        ranking, rows = search.ranking, np.array([row])
        evidence = ranking.evidence(query)
        shares = evidence.closely(rows).shares
        beside = ranking.beside(query, evidence, rows, ranking.subjects(query))
    here = _fields(collection, row)
    words = tuple(
        _word(slot, slot.mass / query.mass, float(share[0]), _having(slot, collection, row), here)
        for slot, share in zip(query.slots, shares, strict=True)
    )
    signals = search.signals(text, only)
    if not len(signals.rows):
        relevance = VECTOR_WEIGHT / 2 + boost
        return Explanation(note.id, False, words, 0, 0, 0, 0, 0, 0.0, 0.5, boost, relevance)
    text_score, vector, found = (float(column[0]) for column in signals[1:4])
    group, subject, time, prior = (
        float(beside[name][0]) if name in beside else 0.0
        for name in ("group", "subject", "time", "prior")
    )
    summed = max(0.0, found + group + subject + time + prior)
    relevance = VECTOR_WEIGHT * vector + TEXT_WEIGHT * text_score
    return Explanation(
        note.id,
        relevance > THRESHOLD,
        words,
        group,
        subject,
        time,
        prior,
        max(0.0, text_score * TEXT_SCALE - summed),
        text_score,
        vector,
        boost,
        min(1.0, relevance + boost),
    )


def _word(
    slot: "Slot",
    weight: float,
    share: float,
    having: list["Alternative"],
    here: dict[int, list[str]],
) -> WordExplanation:
    """`having`: what answers in the note; `here`: the fields of its terms."""
    fields = dict.fromkeys(
        field
        for one in having
        for field in (["metadata"] if one.how == "meta" else here.get(one.term, []))
    )
    if share and not having:
        fields["linked"] = None
    matched = tuple(_described(slot, one) for one in having)
    itself = any(one.how in CERTAIN for one in having)
    alike = len(slot.word) >= SHORTEST_LIKENESS and any(one.how != "meta" for one in having)
    return WordExplanation(
        slot.word, matched, itself, alike, tuple(fields), slot.rarity, weight, share
    )


def _having(slot: "Slot", collection: "Collection", row: int) -> "list[Alternative]":
    """What answers the word in the note itself."""
    return [one for one in slot.alternatives if row in collection.postings.notes_with(one.term)]


def _described(slot: "Slot", one: "Alternative") -> str:
    return f"{slot.word} → {one.name} ({one.how})" if one.how else one.name


def _fields(collection: "Collection", row: int) -> dict[int, list[str]]:
    """In which fields each term of the note stands, its dates included."""
    note, vocabulary = collection.table.notes[row], collection.vocabulary
    spoken = int(collection.table.languages.all[row])
    language = LANGUAGES[spoken - 1] if spoken else ENGLISH
    found: dict[int, list[str]] = {}
    texts = (note.title, note.content, " ".join(own_tags(note)))
    for field, text in zip(FIELDS, texts, strict=True):
        words = [word for token in tokens(text) for word in pieces(token)]
        dates = [LABEL + label for label in date_labels(text, words)]
        terms = [*stems(words, language), *dates]
        for term in dict.fromkeys(terms):
            number = vocabulary.in_use(term)
            if number is not None:  # a date in a tag is none
                found.setdefault(number, []).append(field)
    return found
