"""Why a note has the score it has, word by word. Does not rank."""

from typing import TYPE_CHECKING

from nuggets.errors import NotFound
from nuggets.language.dates import date_labels
from nuggets.language.languages import LANGUAGES
from nuggets.language.stemming import pieces, stems
from nuggets.language.text import tokens
from nuggets.language.word_lists import ENGLISH
from nuggets.named_tuple import NamedTuple
from nuggets.search.index.note_analyzer import LABEL, own_tags, to_storable
from nuggets.search.index.postings import FIELDS
from nuggets.search.query.term_expansion import CERTAIN_KINDS
from nuggets.search.scoring.relevance_threshold import THRESHOLD
from nuggets.search.scoring.weights import TEXT_SCALE, VECTOR_WEIGHT

if TYPE_CHECKING:
    from nuggets.domain.records import MemoryNote
    from nuggets.search.index.snapshot import Snapshot
    from nuggets.search.query.query import Slot
    from nuggets.search.query.term_expansion import Alternative
    from nuggets.search.results import Search

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
        """Whether the note itself, not only a linked note, has a word of the question."""
        return any(word.itself or word.alike for word in self.words)


def explain(search: "Search", snapshot: "Snapshot", text: str, note: "MemoryNote") -> Explanation:
    """The parts of one note's score."""
    document = snapshot.documents.of_note(to_storable(note.id))
    if document is None:
        raise NotFound(f"there is no note {note.id!r} to explain")
    query = search.understand(text)
    explained = search.explained_signal(query, text, document)
    shares = explained.shares if explained else [0.0] * len(query.slots)
    term_fields = _fields_by_term(note, document.language)
    words = tuple(
        _explain_word(
            slot,
            slot.mass / query.mass,
            share,
            _matching_alternatives(slot, snapshot, document.doc),
            term_fields,
        )
        for slot, share in zip(query.slots, shares, strict=True)
    )
    if explained is None:
        relevance = VECTOR_WEIGHT / 2 + document.boost
        return Explanation(
            note.id, False, words, 0, 0, 0, 0, 0, 0.0, 0.5, document.boost, relevance
        )
    signal, extras = explained.signal, explained.extras
    summed = max(0.0, signal.words + sum(extras))
    return Explanation(
        note.id,
        signal.evidence > THRESHOLD,
        words,
        *extras,
        max(0.0, signal.text * TEXT_SCALE - summed),
        signal.text,
        signal.vector,
        document.boost,
        min(1.0, signal.evidence + document.boost),
    )


def _explain_word(
    slot: "Slot",
    weight: float,
    share: float,
    matches: list["Alternative"],
    term_fields: dict[str, list[str]],
) -> WordExplanation:
    """`matches`: the alternatives that the note has; `term_fields`: in which fields they are."""
    fields = dict.fromkeys(
        field
        for match in matches
        for field in (["metadata"] if match.how == "meta" else term_fields.get(match.term, []))
    )
    if share and not matches:
        fields["linked"] = None
    matched = tuple(_describe(slot, match) for match in matches)
    itself = any(match.how in CERTAIN_KINDS for match in matches)
    alike = len(slot.word) >= SHORTEST_SIMILAR and any(match.how != "meta" for match in matches)
    return WordExplanation(
        slot.word, matched, itself, alike, tuple(fields), slot.rarity, weight, share
    )


def _matching_alternatives(slot: "Slot", snapshot: "Snapshot", doc: int) -> "list[Alternative]":
    """The alternatives of the word that the note itself has."""
    return [
        alternative
        for alternative in slot.alternatives
        if snapshot.index.select_having(alternative.term, [doc])
    ]


def _describe(slot: "Slot", alternative: "Alternative") -> str:
    return (
        f"{slot.word} → {alternative.name} ({alternative.how})"
        if alternative.how
        else alternative.name
    )


def _fields_by_term(note: "MemoryNote", language: int) -> dict[str, list[str]]:
    """By term of the note, dates included, the fields that have it."""
    language_name = LANGUAGES[language - 1] if language else ENGLISH
    fields: dict[str, list[str]] = {}
    texts = (note.title, note.content, " ".join(own_tags(note)))
    for field, text in zip(FIELDS, texts, strict=True):
        words = [word for token in tokens(text) for word in pieces(token)]
        dates = [LABEL + label for label in date_labels(text, words)]
        for term in dict.fromkeys([*stems(words, language_name), *dates]):
            fields.setdefault(term, []).append(field)
    return fields
