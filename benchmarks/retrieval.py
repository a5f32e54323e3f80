"""How good search is on a labelled corpus, beside stemmed BM25 (bm25s) in the same run.

    python benchmarks/retrieval.py CORPUS.json [--typos 2] [--low-overlap] [--foreign]

A corpus file holds a list of {notes: [{id, title, content, tags, createdAt, links}], queries:
[{text, relevant}]}, for example the LoCoMo conversations with every turn as a note. `--foreign`
asks each part the questions of the next one: how well the best relevance tells that apart.
"""

import argparse
import json
import math
import random
import statistics
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

from benchmarks.indexed import IndexedNotes
from nuggets.domain.records import Changes, MemoryNote, NoteLink

DEPTH = 10
LETTERS = "abcdefghijklmnopqrstuvwxyz"
Ask = Callable[[str], list[str]]
Corpus = dict[str, Any]


class Quality(NamedTuple):
    """Recall and discounted gain among the first ten."""

    recall: float
    ndcg: float


def memory(note: dict[str, Any], number: int) -> MemoryNote:
    at = note["createdAt"]
    return MemoryNote(
        id=f"note-corpus-{number:08x}",
        nugget_name="corpus",
        title=(note["title"] or note["content"][:60]).strip(),
        content=note["content"].strip(),
        kind="note",
        subject="user:primary",
        scope="user",
        type="note",
        source="explicit_user",
        confidence=0.9,
        stability="durable",
        created_at=at,
        updated_at=at,
        last_accessed_at=at,
        tags=(*note["tags"], "corpus", "scope:user", "type:note"),
    )


def linked_notes(corpus: Corpus) -> dict[str, MemoryNote]:
    """By the corpus's own ids, links going both ways."""
    made = {note["id"]: memory(note, i) for note, i in zip(corpus["notes"], count(), strict=False)}
    for note in corpus["notes"]:
        for other in note["links"]:
            for here, there in ((note["id"], other), (other, note["id"])):
                link = NoteLink(made[there].id, "next turn", note["createdAt"])
                made[here] = made[here]._replace(links=(*made[here].links, link))
    return made


def index_of(corpus: Corpus) -> tuple[IndexedNotes, dict[str, str]]:
    made = linked_notes(corpus)
    index = IndexedNotes()
    index.apply(Changes(put=tuple(made.values())))
    return index, {note.id: name for name, note in made.items()}


def nuggets_search(corpus: Corpus) -> Ask:
    index, names = index_of(corpus)
    return lambda query: [names[found.note.id] for found in index.search(query, DEPTH)]


def bm25s_search(corpus: Corpus) -> Ask:
    import bm25s
    import Stemmer

    def cut(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    def ask(query: str) -> list[str]:
        places, scores = index.retrieve(cut([query]), k=depth, show_progress=False)
        return [names[i] for i, score in zip(places[0], scores[0], strict=True) if score > 0]

    stemmer = Stemmer.Stemmer("english")
    names = [note["id"] for note in corpus["notes"]]
    depth = min(DEPTH, len(names))
    index = bm25s.BM25()
    index.index(
        cut([f"{note['title']}: {note['content']}" for note in corpus["notes"]]),
        show_progress=False,
    )
    return ask


def mistyped(text: str, edits: int, rng: random.Random) -> str:
    """So many words of four letters or more with one slip each."""
    words = text.split()
    long = [place for place, word in enumerate(words) if sum(map(str.isalnum, word)) >= 4]
    for place in rng.sample(long, min(edits, len(long))):
        word = words[place]
        at = rng.randrange(1, len(word) - 1)
        slips = (
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + word[at + 1 :],
            word[:at] + rng.choice(LETTERS) + word[at:],
            word[:at] + rng.choice(LETTERS) + word[at + 1 :],
        )
        words[place] = rng.choice(slips)
    return " ".join(words)


def shares_little(corpus: Corpus) -> Callable[[dict[str, Any]], bool]:
    """Whether a question has at most one word in common with each note that answers it."""
    from nuggets.language.text import words

    def beginnings(text: str) -> set[str]:
        return {word[:5] for word in words(text)}

    said = {note["id"]: beginnings(note["content"]) for note in corpus["notes"]}
    names = set().union(*(beginnings(note["title"]) for note in corpus["notes"]))

    def little(query: dict[str, Any]) -> bool:
        asked = beginnings(query["text"]) - names
        return all(len(asked & said[name]) <= 1 for name in query["relevant"])

    return little


def judged(ranked: list[str], relevant: set[str]) -> Quality:
    gains = [1 / math.log2(place + 2) for place in range(DEPTH)]
    hits = [name in relevant for name in ranked]
    gained = sum(gain for gain, hit in zip(gains, hits, strict=False) if hit)
    return Quality(sum(hits) / len(relevant), gained / sum(gains[: len(relevant)]))


def qualities(
    corpora: list[Corpus], make: Callable[[Corpus], Ask], given: argparse.Namespace
) -> Iterator[Quality]:
    for corpus in corpora:
        ask, rng = make(corpus), random.Random(1)
        little = shares_little(corpus) if given.low_overlap else None
        for query in corpus["queries"]:
            if little is None or little(query):
                text = mistyped(query["text"], given.typos, rng)
                yield judged(ask(text), set(query["relevant"]))


class Recognition(NamedTuple):
    """How well a shelf tells its own questions from foreign ones."""

    auroc: float  # chance that an own question's best relevance is above that of a foreign one
    own: float  # share of its own questions that are answered at all
    foreign: float  # share of the foreign ones


def recognition(corpora: list[Corpus]) -> Recognition:
    own: list[float] = []
    other: list[float] = []
    for corpus, following in zip(corpora, [*corpora[1:], corpora[0]], strict=True):
        index, _ = index_of(corpus)
        for queries, best in ((corpus["queries"], own), (following["queries"], other)):
            for query in queries:
                results = index.search(query["text"], 1)
                best.append(results[0].relevance if results else 0.0)
    wins = sum((a > b) + (a == b) / 2 for a in own for b in other)
    answered = [statistics.fmean(value > 0 for value in asked) for asked in (own, other)]
    return Recognition(wins / (len(own) * len(other)), *answered)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--typos", type=int, default=0)
    parser.add_argument("--low-overlap", action="store_true")
    parser.add_argument("--foreign", action="store_true")
    given = parser.parse_args()
    for path in given.corpora:
        with open(path, encoding="utf-8") as file:
            corpora = json.load(file)
        for name, make in (("nuggets", nuggets_search), ("bm25s", bm25s_search)):
            rows = list(qualities(corpora, make, given))
            recall, ndcg = (statistics.fmean(column) for column in zip(*rows, strict=True))
            print(f"{name:8} {len(rows):6} questions   R@10 {recall:.3f}   nDCG@10 {ndcg:.3f}")
        if given.foreign:
            told = recognition(corpora)
            print(
                f"AUROC {told.auroc:.3f}   answered: own questions {told.own:.3f}, "
                f"foreign ones {told.foreign:.3f}"
            )


if __name__ == "__main__":
    main()
