"""Fits and judges the ranking of search on families of corpora.

    python -m benchmarks.ranking [FILE ...]             shipped weights beside bm25s, by family
    python -m benchmarks.ranking --fit [FILE ...]       weights fitted anew, each family left out
    python -m benchmarks.ranking --without [FILE ...]   each weight alone set to 0

FILE: labelled corpora as of benchmarks/retrieval.py; each is a family beside those of
benchmarks/families.py. The first one is also asked with two typos a question, and those of its
questions alone that share at most one word with their answers. The formula of docs/search.md is
computed for all notes at once with NumPy, from what the product's analyser makes of notes and
questions; postings are not rounded and every note is a candidate, so the product may differ by some
thousandths (`python -m benchmarks.retrieval FILE` measures it as it is).
"""

import argparse
import math
import os
import random
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import families
from benchmarks.retrieval import (
    DEPTH,
    Corpus,
    Quality,
    bm25s_search,
    index_of,
    judged,
    linked_notes,
    mistyped,
    shares_little,
)
from nuggets.language.dates import ordinal
from nuggets.language.languages import LANGUAGES, stems
from nuggets.language.text import pieces, tokens
from nuggets.language.word_lists import ENGLISH, stop_words
from nuggets.search.answer_degree import RESULTS_COMPARED
from nuggets.search.documents import GROUPS_KEPT, LINKS_KEPT, created_digits
from nuggets.search.note_analyzer import analyze, names_of, own_tags, title_key, title_label
from nuggets.search.query import Query, QueryReader
from nuggets.search.ranking import CANDIDATES, fitness
from nuggets.search.term_expansion import CERTAIN_KINDS
from nuggets.search.weights import QUERY_FIELDS, WEIGHTS

Array = NDArray[Any]
Weights = Mapping[str, float]

# The numbers that are fitted, each with the values that are tried.
GRID: dict[str, tuple[float, ...]] = {
    "POSITION": (20, 30, 40, 60, 100),
    "TITLE": (1, 2, 3, 4),
    "LENGTH_SHARE": (0.2, 0.3, 0.4, 0.5, 0.6),
    "SATURATION": (0.5,),  # chosen by benchmarks/found.py: a note with all words comes first
    "EARLIER": (0, 0.2, 0.4, 0.6, 0.8, 1),
    "LATER": (0, 0.1, 0.2, 0.3, 0.4),
    "SECOND": (0, 0.5),
    "ASKED": (1, 2),
    "DAMP": (20, 40, 60, 80),
    "NAMED": (0, 0.1, 0.15, 0.2, 0.25),
    "GROUP": (0, 0.2, 0.4, 0.6),
    "DATE": (0, 0.1, 0.2, 0.3),
    "WHEN": (0, 0.05, 0.1, 0.15),
    "ASKS": (0, -0.05, -0.1, -0.15),
}
# Where every fit starts: round numbers. Links of both directions count the same, each addend 0.2,
# halves of it for what is only a hint.
START = dict(
    zip(GRID, (40, 3, 0.4, 0.5, 0.5, 0.5, 0.5, 1, 40, 0.2, 0.2, 0.2, 0.1, -0.1), strict=True)
)
# A weight leaves its start only for a gain above noise: two to five standard errors of the mean
# difference of two rankings over the 2,412 questions (0.0004 to 0.0012). With 0.0001, fits without
# LoCoMo switched off links, groups and dates for nothing: LoCoMo fell from .810 / .657 to
# .674 / .544.
LEAST_GAIN = 2e-3
PASSES = 2
MOST_ASKED = 300  # questions of one corpus, drawn once
LONG = 800  # characters of a note on average
SHUFFLED = 1 / 3  # part of a family's figure: the same notes with their paragraphs in any order


def shipped_weights() -> dict[str, float]:
    return {name: float(getattr(WEIGHTS, name.lower())) for name in GRID}


class Shelf:
    """A corpus with questions, as arrays: words of questions by notes."""

    def __init__(self, corpus: Corpus, queries: Sequence[Mapping[str, Any]]) -> None:
        made = linked_notes(corpus)
        self.names = list(made)
        self._notes = list(made.values())
        self.count = len(self._notes)
        index, _ = index_of(corpus)
        reader = QueryReader(index.index._reader(include_hidden=False))
        self.questions = [reader.understand(query["text"]) for query in queries]
        self.relevant = [set(query["relevant"]) for query in queries]
        self._read_notes()
        self._read_links()
        self._read_questions()
        del self._notes, self._postings

    def _read_notes(self) -> None:
        """What the formula needs of each note, and of each of its terms."""
        analyses = [analyze(note) for note in self._notes]
        self.length = np.array([analysis.length for analysis in analyses])
        self.mean = max(float(self.length.mean()), 1.0)
        self.says_when = np.array([analysis.says_when for analysis in analyses])
        self.asks = np.array([note.content.endswith("?") for note in self._notes])
        self.days = [ordinal(note.created_at[:10]) for note in self._notes]
        self.titles = [title_label(title_key(note.title)) for note in self._notes]
        self.groups = [list(dict.fromkeys(own_tags(note)))[:GROUPS_KEPT] for note in self._notes]
        self._postings: dict[str, list[_Posting]] = {}
        for place, (note, analysis) in enumerate(zip(self._notes, analyses, strict=True)):
            language = LANGUAGES[analysis.language - 1] if analysis.language else ENGLISH
            in_title: dict[str, int] = {}
            for _, term in _terms(note.title, language):
                in_title[term] = in_title.get(term, 0) + 1
            in_content: dict[str, list[int]] = {}
            for position, term in _terms(note.content, language):
                in_content.setdefault(term, []).append(position)
            tagged = {term for _, term in _terms(" ".join(own_tags(note)), language)}
            for term in {*names_of(note, analysis), *in_title, *in_content, *tagged}:
                is_said = term in in_title or term in in_content
                posting = _Posting(
                    place,
                    in_title.get(term, 0),
                    in_content.get(term, []),
                    not is_said and term in tagged,
                )
                self._postings.setdefault(term, []).append(posting)
        listed = [posting for postings in self._postings.values() for posting in postings]
        self.entries = _Entries([posting for posting in listed if posting.is_weighted])

    def _read_links(self) -> None:
        """Matrices of what a note (row) lends to another one (column), by order in time."""
        places = {note.id: place for place, note in enumerate(self._notes)}
        linked = [
            [place for place in dict.fromkeys(places[link.to] for link in note.links)]
            for note in self._notes
        ]
        reach = [math.sqrt(min(1.0, LINKS_KEPT / len(near))) if near else 1.0 for near in linked]
        kept = [near[-LINKS_KEPT:] for near in linked]
        written = [(created_digits(note), place) for place, note in enumerate(self._notes)]
        shape = (self.count, self.count) if any(kept) else (0, 0)
        self.links = np.zeros((2, 2, *shape), np.float32)  # by earlier or later, first or second
        for place, near in enumerate(kept):
            for other in near:
                later = int(written[other] > written[place])
                amount = reach[place] * reach[other]
                self.links[later, 0, other, place] = amount
                for beyond in kept[other]:
                    if beyond != place and beyond not in near:
                        self.links[later, 1, beyond, place] += amount * reach[beyond]

    def _read_questions(self) -> None:
        slots = [
            (asked, slot) for asked, query in enumerate(self.questions) for slot in query.slots
        ]
        self.asked = np.array([asked for asked, _ in slots], int)  # by slot
        self.mass = np.array([slot.mass for _, slot in slots])
        self.masses = np.maximum(self._by_question(self.mass), 1e-6)
        found: list[_Posting] = []
        slot_of: list[int] = []
        amounts, pulls, certain = [], [], []
        for place, (asked, slot) in enumerate(slots):
            for term, amount, how, _ in slot.alternatives:
                for posting in self._postings.get(term, ()):
                    found.append(posting)
                    slot_of.append(place)
                    amounts.append(amount)
                    pull = amount * slot.mass / self.questions[asked].length
                    pulls.append(0.0 if how == "meta" else pull)
                    certain.append(how in CERTAIN_KINDS)
        self.found = _Entries(found)
        self.slot_of = np.array(slot_of, int)  # by entry
        self.amounts, self.pulls = np.array(amounts), np.array(pulls)
        self.certain = np.array(certain, bool)
        self.named = np.array([self._strengths(query) for query in self.questions])
        self.dated = np.array([self._fitness(query) for query in self.questions])
        self.asks_when = np.array([query.asks_when for query in self.questions])

    def without_effect(self) -> set[str]:
        """Weights that change nothing here."""
        nothing = set()
        if not self.links.size:
            nothing |= {"EARLIER", "LATER", "SECOND", "ASKED"}
        if not any(self.groups):
            nothing |= {"GROUP"}
        if not self.dated.any():
            nothing |= {"DATE"}
        if not (self.asks.any()):
            nothing |= {"ASKS", "ASKED"}
        if not (self.links.size or self.asks.any()):
            nothing |= {"DAMP"}
        return nothing

    def _strengths(self, query: Query) -> list[float]:
        named = {title.label: title.strength for title in query.titles}
        return [named.get(title, 0.0) for title in self.titles]

    def _fitness(self, query: Query) -> list[float]:
        if not query.periods:
            return [0.0] * self.count
        return [fitness(day, query.periods) for day in self.days]

    def _by_question(self, values: Array) -> Array:
        """Sums over the words of each question."""
        sums = np.zeros((len(self.questions), *values.shape[1:]), np.float32)
        np.add.at(sums, self.asked, values)
        return sums

    def scores(self, weights: Weights) -> Array:
        """By question and note; -1 where nothing speaks for a note."""
        own, total = self._stated(weights)
        words = self._words(total, weights)
        damp = 1 / (1 + self.length / weights["DAMP"])
        text = (
            words
            + weights["GROUP"] * self._group_shares(own, words, weights)
            + weights["NAMED"] * self.named
            + weights["DATE"] * self.dated
            + weights["WHEN"] * (self.asks_when[:, None] & self.says_when)
            + weights["ASKS"] * self.asks * damp
        )
        vector = (1 + self._cosine(weights)) / 2
        relevance = WEIGHTS.vector * vector + WEIGHTS.text * text.clip(0, 1)
        return np.where((words > 0) | (self.named > 0), relevance, -1.0)

    def knowledge(self, weights: Weights) -> tuple[Array, Array]:
        """By question, what the probability that the shelf answers it is made of (see
        `answer_degree`): words with the title that is named, words stated, notes."""
        _, total = self._stated(weights)
        full = self._words(total, weights)
        stated = np.zeros((len(self.mass), self.count), np.float32)
        entries = (self.slot_of[self.certain], self.found.note[self.certain])
        stated[entries] = 1
        scores = self.scores(weights)
        best = np.argsort(-scores, kind="stable")[:, :RESULTS_COMPARED]
        named = weights["NAMED"] * self.named.max(1)
        words = np.take_along_axis(full, best, 1).max(1) + named
        count = np.take_along_axis(self._by_question(stated), best, 1).max(1)
        notes = np.full(len(words), math.log1p(self.count))
        is_any = scores.max(1) >= 0
        return np.stack([words, np.minimum(count, WEIGHTS.most_stated), notes], 1), is_any

    def _words(self, total: Array, weights: Weights) -> Array:
        """How much of the question each note states."""
        stated = self._by_question(self._shares(total, weights) * self.mass[:, None])
        words: Array = stated / self.masses[:, None]
        return words

    def _shares(self, amounts: Array, weights: Weights) -> Array:
        shares: Array = amounts / (amounts + weights["SATURATION"])
        return shares

    def _stated(self, weights: Weights) -> tuple[Array, Array]:
        """By word and note: how much it states the word itself, and with its neighbours."""
        share = weights["LENGTH_SHARE"]
        norm = 1 - share + share * self.length / self.mean
        found = self.found
        content = found.content(weights["POSITION"])
        stated = weights["TITLE"] * found.title + content + found.tag
        stated = np.where(stated > 0, stated, 1.0) / norm[found.note] * self.amounts
        own = np.zeros((len(self.mass), self.count), np.float32)
        np.maximum.at(own, (self.slot_of, found.note), stated)
        if not self.links.size:
            return own, own
        (earlier, second_earlier), (later, second_later) = self.links
        lent = weights["EARLIER"] * (earlier + weights["SECOND"] * second_earlier)
        lent = lent + weights["LATER"] * (later + weights["SECOND"] * second_later)
        lent *= np.where(self.asks, weights["ASKED"], 1.0)[:, None]
        lent /= 1 + self.length / weights["DAMP"]
        return own, own + own @ lent.astype(np.float32)

    def _group_shares(self, own: Array, words: Array, weights: Weights) -> Array:
        """How much the candidates with a tag of the note state together."""
        shares = np.zeros_like(words)
        if not weights["GROUP"] or not any(self.groups):
            return shares
        first = np.searchsorted(self.asked, np.arange(len(self.questions) + 1))
        for asked, row in enumerate(words):
            best = np.argsort(-row, kind="stable")[:CANDIDATES]
            members: dict[str, list[int]] = {}
            for note in best[row[best] > 0]:
                for group in self.groups[note]:
                    members.setdefault(group, []).append(note)
            most = np.count_nonzero(row[best] > 0) / 2
            kept = {group: notes for group, notes in members.items() if 1 < len(notes) <= most}
            if not kept:
                continue
            slots = slice(first[asked], first[asked + 1])
            stated = np.stack([own[slots][:, notes].sum(1) for notes in kept.values()])
            having = np.count_nonzero(stated, axis=0)
            rare = np.log(1 + (len(kept) - having + 0.5) / (having + 0.5)) / math.log(
                2 + 2 * len(kept)
            )
            parts = self._shares(stated, weights) * rare * self.mass[slots]
            for notes, share in zip(kept.values(), parts.sum(1), strict=True):
                shares[asked, notes] = np.maximum(shares[asked, notes], share / self.masses[asked])
        return shares

    def _cosine(self, weights: Weights) -> Array:
        position = weights["POSITION"]
        squares = sum(part**2 for part in self.entries.vector(position))
        norm = np.sqrt(np.bincount(self.entries.note, squares, self.count))
        fields = zip(self.found.vector(position), QUERY_FIELDS, strict=True)
        products = sum(part * share for part, share in fields) * self.pulls
        sums = np.zeros((len(self.questions), self.count))
        np.add.at(sums, (self.asked[self.slot_of], self.found.note), products)
        return sums / np.maximum(norm, 1e-6)

    def judge(self, weights: Weights, most: int | None = None) -> list[Quality]:
        """`most`: only the first questions have answers."""
        scores = self.scores(weights)[:most]
        order = np.argsort(-scores, kind="stable")[:, :DEPTH]
        return [
            judged([self.names[note] for note in best if row[note] >= 0], relevant)
            for best, row, relevant in zip(order, scores, self.relevant, strict=False)
        ]


class _Posting(NamedTuple):
    note: int
    title: int
    positions: list[int]
    tag: bool

    @property
    def is_weighted(self) -> bool:
        return bool(self.title or self.positions or self.tag)


class _Entries:
    """Postings as arrays."""

    def __init__(self, postings: Sequence[_Posting]) -> None:
        self.note = np.array([posting.note for posting in postings], int)
        self.title = np.array([posting.title for posting in postings])
        self.tag = np.array([posting.tag for posting in postings])
        sizes = [len(posting.positions) for posting in postings]
        self._entry = np.repeat(np.arange(len(postings)), sizes)
        self._position = np.array([at for posting in postings for at in posting.positions])
        self._content: dict[float, Array] = {}

    def content(self, position: float) -> Array:
        """What the occurrences in the content weigh together."""
        if position not in self._content:
            amounts = 1 / (1 + self._position / position)
            self._content = {position: np.bincount(self._entry, amounts, len(self.note))}
        return self._content[position]

    def vector(self, position: float) -> tuple[Array, Array, Array]:
        return np.log1p(self.title), np.log1p(self.content(position)), self.tag.astype(float)


def _terms(text: str, language: str) -> list[tuple[int, str]]:
    """The significant terms, each with the number of tokens before it."""
    ignored = stop_words(language)
    words = [
        (position, word)
        for position, token in enumerate(tokens(text))
        for word in pieces(token)
        if word not in ignored
    ]
    terms = stems([word for _, word in words], language)
    return [(position, term) for (position, _), term in zip(words, terms, strict=True)]


Family = list[Shelf]


def shelves(corpora: Sequence[Corpus]) -> Family:
    return [Shelf(corpus, _drawn(corpus["queries"])) for corpus in corpora if corpus["queries"]]


def _drawn(queries: list[Any]) -> list[Any]:
    return queries if len(queries) <= MOST_ASKED else random.Random(1).sample(queries, MOST_ASKED)


def quality(family: Family, weights: Weights) -> Quality:
    return _mean([row for shelf in family for row in shelf.judge(weights)])


def _mean(rows: Sequence[Quality]) -> Quality:
    return Quality(*(statistics.fmean(column) for column in zip(*rows, strict=True)))


def bm25s_quality(corpora: Sequence[Corpus]) -> Quality:
    rows = []
    for corpus in corpora:
        ask = bm25s_search(corpus)
        for query in _drawn(corpus["queries"]):
            rows.append(judged(ask(query["text"]), set(query["relevant"])))
    return _mean(rows)


class Fit:
    """Looks for the weights under which families do best, each counting the same."""

    def __init__(self, made: Mapping[str, Family], shuffled: Mapping[str, Family]) -> None:
        self._made, self._shuffled = made, shuffled
        self._known: dict[tuple[str, tuple[float, ...]], float] = {}

    def _figure(self, name: str, weights: Weights) -> float:
        without_effect = set.intersection(*(shelf.without_effect() for shelf in self._made[name]))
        used = [value for weight, value in weights.items() if weight not in without_effect]
        key = (name, tuple(used))
        if key not in self._known:
            value = statistics.fmean(quality(self._made[name], weights))
            if name in self._shuffled:
                other = statistics.fmean(quality(self._shuffled[name], weights))
                value = (1 - SHUFFLED) * value + SHUFFLED * other
            self._known[key] = value
        return self._known[key]

    def best(self, names: Sequence[str]) -> dict[str, float]:
        """One weight after the other, from `START`."""
        best = dict(START)
        most = statistics.fmean(self._figure(name, best) for name in names)
        for weight, values in [*GRID.items()] * PASSES:
            for value in values:
                tried = {**best, weight: value}
                figure = statistics.fmean(self._figure(name, tried) for name in names)
                if figure > most + LEAST_GAIN:
                    best, most = tried, figure
        return best


def corpora_by_family(files: Sequence[str]) -> dict[str, list[Corpus]]:
    given = {os.path.basename(path): families.labelled(path) for path in files}
    return given | {name: make() for name, make in families.MADE.items()}


def is_long(corpora: Sequence[Corpus]) -> bool:
    """Whether the order of paragraphs can matter."""
    return statistics.fmean(len(n["content"]) for c in corpora for n in c["notes"]) >= LONG


def variants(corpora: list[Corpus]) -> dict[str, list[Corpus]]:
    """The same corpora with harder questions."""
    rng = random.Random(1)
    typos, little = [], []
    for corpus in corpora:
        queries = corpus["queries"]
        is_little = shares_little(corpus)
        slips = [{**query, "text": mistyped(query["text"], 2, rng)} for query in queries]
        typos.append({**corpus, "queries": slips})
        little.append({**corpus, "queries": [query for query in queries if is_little(query)]})
    return {"… two typos": typos, "… ≤ 1 shared word": little}


def line(name: str, figures: Mapping[str, Quality]) -> str:
    return f"{name:24}" + "   ".join(
        f"{way} {recall:.3f}/{ndcg:.3f}" for way, (recall, ndcg) in figures.items()
    )


def report(files: Sequence[str]) -> None:
    weights, flat = shipped_weights(), {**shipped_weights(), "POSITION": math.inf}
    by_family = corpora_by_family(files)
    rows = dict(by_family)
    if files:
        rows |= variants(next(iter(by_family.values())))
    rows |= {name: make() for name, make in families.ASIDE.items()}
    for name, corpora in rows.items():
        found = quality(shelves(corpora), weights)
        print(line(name, {"shipped": found, "bm25s": bm25s_quality(corpora)}), flush=True)
    for name, corpora in by_family.items():
        if not is_long(corpora):
            continue
        family = shelves(families.paragraphs_shuffled(corpora))
        ways = {"shuffled": quality(family, weights), "without position": quality(family, flat)}
        print(line(name, ways), flush=True)


def fit(files: Sequence[str]) -> None:
    by_family = corpora_by_family(files)
    made = {name: shelves(corpora) for name, corpora in by_family.items()}
    shuffled = {
        name: shelves(families.paragraphs_shuffled(corpora))
        for name, corpora in by_family.items()
        if is_long(corpora)
    }
    search = Fit(made, shuffled)
    print("all families:", search.best(list(made)), flush=True)
    for left_out, family in made.items():
        weights = search.best([name for name in made if name != left_out])
        ways = {"left out": quality(family, weights), "shipped": quality(family, shipped_weights())}
        print(line(left_out, ways), weights, flush=True)


def without(files: Sequence[str]) -> None:
    made = {name: shelves(corpora) for name, corpora in corpora_by_family(files).items()}
    print(f"{'':16}" + " ".join(f"{name[:11]:11}" for name in made))
    for name in ("nothing", *GRID):
        value = {"POSITION": math.inf, "ASKED": 1.0, "DAMP": math.inf}.get(name, 0.0)
        weights = {**shipped_weights(), name: value}
        found = [quality(family, weights) for family in made.values()]
        print(f"{name:16}" + " ".join(f"{r:.3f}/{n:.3f}" for r, n in found), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--without", action="store_true")
    given = parser.parse_args()
    if given.fit:
        fit(given.files)
    elif given.without:
        without(given.files)
    else:
        report(given.files)


if __name__ == "__main__":
    main()
