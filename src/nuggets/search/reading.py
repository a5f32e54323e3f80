"""Notes turned into postings: what a note says, field by field, as numbers."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.dates import date_labels
from nuggets.search.languages import ENGLISH, LANGUAGES, LEAST_EVIDENCE
from nuggets.search.postings import IMPACT_UNIT, TF_UNIT, Run, firsts, packed, run_of
from nuggets.search.vocabulary import DATE, STOP, TIME, Vocabulary
from nuggets.text import folded, normal_tag, plain, tokens, without_contraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nuggets.records import MemoryNote

TITLE, CONTENT, TAG, _STOPPED = 0, 1, 2, 3
FIELDS = ("title", "content", "tag")
# A title says what a note is about, so its words count double; a tag says it once more.
FIELD_WEIGHTS = (2.0, 1.0, 1.0, 1.0)
# How a query is spread over the fields' role keys: most words are asked of the content.
# The squares add up to 1, so the query's vector keeps its length.
QUERY_FIELDS = (0.5, 0.8, 0.33166)
CHUNK = 256  # notes read at a time: their tokens fit into the cache of a processor
BETWEEN = " \0 "  # separates fields in a joined text; a token of its own


class Reading(NamedTuple):
    """What was read from some notes, each at its place from 0 on."""

    run: Run  # slots counted from 0
    lengths: "NDArray[Any]"  # significant words, tags not counted
    timed: "NDArray[Any]"  # whether it says when
    languages: "NDArray[Any]"  # counted from 1 in `LANGUAGES`; 0 is English
    words: "NDArray[Any]"  # by number, once for every time that it stands there
    tags: list[list[str]]  # of their own


_folded_name = lru_cache(maxsize=64)(folded)
_nugget_tag = lru_cache(maxsize=64)(normal_tag)


def own_tags(note: "MemoryNote") -> list[str]:
    """Without those that every note has by rule: they say nothing about its topic."""
    system = _nugget_tag(note.nugget_name)
    return [tag for tag in note.tags if tag != system and not tag.startswith(("scope:", "type:"))]


def title_key(title: str) -> str:
    """How a title is recognised inside a question."""
    if title.isascii() and "'" not in title:
        return " ".join(tokens(title.lower()))
    return " ".join(plain(word) for token in tokens(title) for word in without_contraction(token))


def _metadata_labels(note: "MemoryNote") -> list[str]:
    """What many notes have in common: the filters, and the words of the metadata."""
    return [
        "subject=" + note.subject,
        "scope=" + note.scope,
        "type=" + note.type,
        "nugget=" + _folded_name(note.nugget_name),
        "kind=" + note.kind,
        *{"meta=" + word for word in (note.scope, note.type, *note.subject.split(":"))},
    ]


def read(notes: "Sequence[MemoryNote]", vocabulary: Vocabulary) -> Reading:
    """Postings of all the notes, and what else their words tell."""
    import numpy as np

    count = len(notes)
    kinds = _kinds(notes, vocabulary)
    texts = [
        (note.title, note.content, kind.topic) for note, kind in zip(notes, kinds, strict=True)
    ]
    words, slots, fields = _word_stream(texts, range(count), vocabulary)
    languages = _languages(words, slots, count, vocabulary)
    if languages.any():
        kept = languages[slots] == 0
        streams = [(words[kept], slots[kept], fields[kept])]
        for language in np.unique(languages[languages > 0]).tolist():
            places = (languages == language).nonzero()[0].tolist()
            streams.append(_word_stream(texts, places, vocabulary, LANGUAGES[language - 1]))
        words, slots, fields = (np.concatenate(column) for column in zip(*streams, strict=True))
    marks = vocabulary.word_marks.all[words]
    stopped = (marks & STOP) > 0
    lengths = np.bincount(slots[~stopped & (fields != TAG)], minlength=count).astype(np.float32)
    timed = np.bincount(slots[(marks & TIME) > 0], minlength=count) > 0
    fields[stopped] = _STOPPED
    telling = ((marks & DATE) > 0).nonzero()[0]
    dates, dated = _dates(notes, slots[telling].tolist(), words[telling].tolist(), vocabulary)
    labels, labelled = _labels(notes, kinds, vocabulary)
    # A date is a term of the content; a label is found like a stop word, and adds as little to the
    # length of a vector.
    more = np.array([CONTENT, _STOPPED], np.uint8).repeat([len(dates), len(labels)])
    run = _run(
        np.concatenate([vocabulary.word_terms.all[words], dates, labels]),
        np.concatenate([slots, dated, labelled]),
        np.concatenate([fields, more]),
        count,
    )
    return Reading(run, lengths, timed, languages, words, [kind.tags for kind in kinds])


def _languages(
    words: "NDArray[Any]", slots: "NDArray[Any]", count: int, vocabulary: Vocabulary
) -> "NDArray[Any]":
    """What each note is written in: another language than English if it has more of its words."""
    import numpy as np

    spoken = vocabulary.word_languages.all[words]
    telling = spoken.nonzero()[0]
    if not len(telling):
        return np.zeros(count, np.uint8)
    spoken, places = spoken[telling], slots[telling]
    counts = np.array(
        [np.bincount(places, (spoken >> bit) & 1, minlength=count) for bit in range(len(LANGUAGES))]
    )
    english = vocabulary.word_marks.all[words] & STOP
    most = counts.max(axis=0)
    foreign = (most >= LEAST_EVIDENCE) & (most > np.bincount(slots, english, minlength=count))
    spoken_in: NDArray[Any] = ((counts.argmax(axis=0) + 1) * foreign).astype(np.uint8)
    return spoken_in


def _word_stream(
    texts: "Sequence[tuple[str, str, str]]",
    places: "Sequence[int]",
    vocabulary: Vocabulary,
    language: str = ENGLISH,
) -> "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]":
    """Every word of the notes at these places: its number, its note's place, its field."""
    import numpy as np

    plain_ones: list[int] = []  # read apart, because ASCII is read much faster
    others: list[int] = []
    for place in places:
        ascii_only = all(map(str.isascii, texts[place]))
        (plain_ones if ascii_only else others).append(place)
    found = [
        _chunk(texts, some[start : start + CHUNK], vocabulary, language)
        for some in (plain_ones, others)
        for start in range(0, len(some), CHUNK)
    ]
    words, slots, fields = (np.concatenate(column) for column in zip(*found, strict=True))
    return words, slots, fields


def _chunk(
    texts: "Sequence[tuple[str, str, str]]",
    places: list[int],
    vocabulary: Vocabulary,
    language: str,
) -> "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]":
    """Many notes read as one text, with marks between the fields."""
    import numpy as np

    fields = [text for place in places for text in texts[place]]
    joined = BETWEEN.join(fields)
    if joined.count(BETWEEN[1]) != len(fields) - 1:
        joined = BETWEEN.join(text.replace(BETWEEN[1], " ") for text in fields)
    numbers = vocabulary.numbers(tokens(joined), language)
    between = numbers == vocabulary.numbers([BETWEEN[1]], language)
    sections = np.cumsum(between, dtype=np.int32)[~between]
    words, origins = vocabulary.words_of(numbers[~between])
    sections = sections[origins]
    slots = np.array(places, np.int32)[sections // 3]
    return words, slots, (sections % 3).astype(np.uint8)


def _run(terms: "NDArray[Any]", slots: "NDArray[Any]", fields: "NDArray[Any]", count: int) -> Run:
    import numpy as np

    keys = ((terms.astype(np.int64) * count + slots) << 2) | fields
    keys.sort()
    first = firsts(keys)
    times = np.diff(np.append(first, len(keys))).astype(np.float32)
    keys = keys[first]
    fields = (keys & 3).astype(np.uint8)
    keys >>= 2
    one = firsts(keys)  # where the fields of one (term, note) begin
    # A tag that repeats a word of the text, as those do that the clean-up gives, adds nothing.
    repeated = fields == TAG
    repeated[one] = False
    times[repeated] = 0.0
    weights = np.where((fields == _STOPPED) | repeated, 0.0, 1.0 + np.log(np.maximum(times, 1)))
    weights = weights.astype(np.float32)
    norms = np.sqrt(np.bincount(keys % count, weights * weights, minlength=count))
    impacts = weights * np.array((*QUERY_FIELDS, 0.0), np.float32)[fields]
    frequencies = times * np.array(FIELD_WEIGHTS, np.float32)[fields]
    keys = keys[one]
    if len(one):
        impacts = np.add.reduceat(impacts, one)
        frequencies = np.add.reduceat(frequencies, one)
    slots = (keys % count).astype(np.int32)
    impacts *= IMPACT_UNIT / np.maximum(norms, 1e-6)[slots]
    impacts = np.minimum(impacts, IMPACT_UNIT).astype(np.uint16)
    quarters = np.minimum(frequencies * TF_UNIT, 255).astype(np.uint8)
    return run_of((keys // count).astype(np.int32), packed(slots, impacts, quarters))


class _Kind(NamedTuple):
    """What many notes have in common, and so is looked up once."""

    tags: list[str]
    topic: str  # the tags as a text
    labels: list[int]


def _kinds(notes: "Sequence[MemoryNote]", vocabulary: Vocabulary) -> list[_Kind]:
    """The kind of each note."""
    known: dict[tuple[Any, ...], _Kind] = {}
    kinds = []
    for note in notes:
        key = (note.tags, note.subject, note.scope, note.type, note.nugget_name, note.kind)
        kind = known.get(key)
        if kind is None:
            tags = own_tags(note)
            labels = ["tag=" + tag for tag in dict.fromkeys(note.tags)]
            labels += _metadata_labels(note)
            kind = known[key] = _Kind(tags, " ".join(tags), vocabulary.labels(labels))
        kinds.append(kind)
    return kinds


def _dates(
    notes: "Sequence[MemoryNote]", places: list[int], words: list[int], vocabulary: Vocabulary
) -> "tuple[NDArray[Any], NDArray[Any]]":
    """The numbers of all dates that notes name, and for each the place of its note.

    `words`: those that stand at these places and may be part of a date.
    """
    import numpy as np

    said: dict[int, set[str]] = {}
    for place, word in zip(places, words, strict=True):
        said.setdefault(place, set()).add(vocabulary.word(word))
    labels: list[str] = []
    sizes: list[int] = []
    for place, names in said.items():
        found = date_labels(f"{notes[place].title}{BETWEEN}{notes[place].content}", names)
        labels += sorted(found)
        sizes.append(len(found))
    numbers = np.array(vocabulary.labels(labels), np.int32)
    return numbers, np.array(list(said), np.int32).repeat(sizes)


def _labels(
    notes: "Sequence[MemoryNote]", kinds: list[_Kind], vocabulary: Vocabulary
) -> "tuple[NDArray[Any], NDArray[Any]]":
    """The numbers of all labels, and for each the place of its note."""
    import numpy as np

    numbers = vocabulary.labels(["title=" + title_key(note.title) for note in notes])
    numbers += [label for kind in kinds for label in kind.labels]
    places = np.arange(len(notes), dtype=np.int32)
    sizes = [len(kind.labels) for kind in kinds]
    return np.array(numbers, np.int32), np.concatenate([places, places.repeat(sizes)])
