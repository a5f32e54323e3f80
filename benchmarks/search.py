"""How fast search is, beside bm25s on the same texts in the same run.

    python benchmarks/search.py [--notes 10000] [--queries 500]

The notes are made up: words of a Zipf vocabulary, about 650 bytes each, a tag for every twenty
notes, a link to the one before.
"""

import argparse
import random
import resource
import statistics
import time
from collections.abc import Callable

from nuggets.records import Changes, MemoryNote, NoteLink
from nuggets.search.index import SearchIndex

SYLLABLES = [a + b + c for a in "bdfgklmnprstv" for b in "aeiou" for c in ("", "n", "r", "st")]
AT = "2026-01-01T00:00:00.000Z"


def vocabulary(rng: random.Random, size: int) -> list[str]:
    made = {"".join(rng.choices(SYLLABLES, k=rng.choice((2, 2, 3, 3, 4)))) for _ in range(size)}
    words = sorted(made)
    rng.shuffle(words)
    return words


def made_up_texts(rng: random.Random, count: int) -> list[str]:
    words = vocabulary(rng, 40_000)
    weights = [1 / (rank + 8) for rank in range(len(words))]
    return [" ".join(rng.choices(words, weights, k=95)) for _ in range(count)]


def note(number: int, text: str, linked: bool) -> MemoryNote:
    links = (NoteLink(f"note-b-{number - 1:08x}", "next", AT),) if linked and number else ()
    return MemoryNote(
        id=f"note-b-{number:08x}",
        nugget_name="b",
        title=text[:24],
        content=text,
        kind="note",
        subject="user:primary",
        scope="user",
        type="note",
        source="explicit_user",
        confidence=0.9,
        stability="durable",
        created_at=AT,
        updated_at=AT,
        last_accessed_at=AT,
        tags=(f"topic-{number // 20}", "b", "scope:user", "type:note"),
        links=links,
    )


def questions(rng: random.Random, texts: list[str], count: int) -> list[str]:
    """A few words of some note each, one in four with a typo in it."""
    asked = []
    for number in range(count):
        words = rng.sample(rng.choice(texts).split(), rng.randint(2, 6))
        if number % 4 == 0:
            words[0] = words[0][:2] + "x" + words[0][2:]
        asked.append(" ".join(words))
    return asked


def timed(ask: Callable[[str], object], asked: list[str]) -> list[float]:
    """CPU milliseconds of each question, ascending."""
    spent = []
    for question in asked:
        start = time.process_time()
        ask(question)
        spent.append((time.process_time() - start) * 1e3)
    return sorted(spent)


def bm25s_search(texts: list[str]) -> Callable[[str], object]:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
    index.index(tokens, show_progress=False)

    def ask(question: str) -> object:
        words = bm25s.tokenize([question], stopwords="en", stemmer=stemmer, show_progress=False)
        return index.retrieve(words, k=10, show_progress=False)

    return ask


def report(name: str, spent: list[float], built: float) -> float:
    middle = statistics.median(spent)
    p99 = spent[int(len(spent) * 0.99)]
    print(f"{name:8} built in {built:6.3f} s   p50 {middle:6.3f} ms   p99 {p99:6.3f} ms")
    return middle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--no-links", action="store_true")
    given = parser.parse_args()
    rng = random.Random(0)
    texts = made_up_texts(rng, given.notes)
    asked = questions(rng, texts, given.queries)
    notes = tuple(note(i, text, not given.no_links) for i, text in enumerate(texts))

    index = SearchIndex()
    start = time.process_time()
    index.apply(Changes(put=notes))
    index.search("warm up")
    built = time.process_time() - start
    timed(index.search, asked[:20])
    ours = report("nuggets", timed(lambda question: index.search(question, 10), asked), built)

    one_more = []
    for number in range(given.notes, given.notes + 50):
        index.apply(Changes(put=(note(number, rng.choice(texts), not given.no_links),)))
        start = time.process_time()
        index.search("warm up")
        one_more.append((time.process_time() - start) * 1e3)
    one_more.sort()
    print(f"one more note: p50 {one_more[25]:.3f} ms, most {one_more[-1]:.3f} ms")
    print(
        f"peak memory of the process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB"
    )

    start = time.process_time()
    ask = bm25s_search(texts)
    built = time.process_time() - start
    timed(ask, asked[:20])
    theirs = report("bm25s", timed(ask, asked), built)
    print(f"p50 nuggets / bm25s: {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
