"""What each signal of search brings: alone, and taken out of all of them together.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.ablation MODEL [CORPUS.json ...] [--every 3]

MODEL: the file that `nuggets encoder install` makes. Corpora: as of benchmarks/encoder.py, the code
search among them. Only the order of notes is judged: questions are answered however little speaks
for a note. `--every N` asks every Nth question only.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from benchmarks.encoder import EncodedCorpus, code_corpus
from benchmarks.retrieval import DEPTH, Corpus, Quality, judged
from nuggets.encoder.minilm import load_model
from nuggets.encoder.vector_index import Encoder
from nuggets.search.weights import WEIGHTS

Change = Mapping[str, Any]  # weights of the search, and what they are
LIFTS: dict[str, Change] = {  # by name, the weights that are 0 without it
    "links": {"earlier": 0, "later": 0},
    "groups (tags)": {"group": 0},
    "titles": {"named": 0},
    "times": {"when": 0, "date": 0},
    "questions": {"asks": 0},
}
SCORING = tuple(
    f"nuggets.search.{name}" for name in ("ranking", "answer_degree", "results", "encoder_signal")
)
NO_VECTOR, NO_TEXT = {"vector": 0.0}, {"text": 0.0}


def keep_one() -> dict[str, Change]:
    """By signal: all others are taken out. What lifts notes is measured with the words it lifts."""
    without_lifts = {name: 0.0 for weights in LIFTS.values() for name in weights}
    words = {**without_lifts, **NO_VECTOR}
    lifted = {
        f"words and {lift}": {k: v for k, v in words.items() if k not in weights}
        for lift, weights in LIFTS.items()
    }
    return {"words": words, "vector": {**without_lifts, **NO_TEXT}, **lifted}


def leave_out_one() -> dict[str, Change]:
    """By signal: it is taken out."""
    return {"nothing": {}, "text": NO_TEXT, "vector": NO_VECTOR, **LIFTS}


@contextmanager
def change_search(change: Change) -> Iterator[None]:
    """Search with other weights, and with no threshold."""
    names = {
        "WEIGHTS": WEIGHTS._replace(**{"threshold": -1.0, **change}),
        "degree": lambda *_: "found",
    }
    modules = [module for name, module in sys.modules.items() if name.startswith(SCORING)]
    kept = [(m, name, getattr(m, name)) for m in modules for name in names if hasattr(m, name)]
    assert {name for _, name, _ in kept} == set(names)  # none has another name by now
    for module, name, _ in kept:
        setattr(module, name, names[name])
    try:
        yield
    finally:
        for module, name, value in kept:
            setattr(module, name, value)


def quality(corpora: list[tuple[Corpus, EncodedCorpus]], way: str, every: int) -> Quality:
    rows = [
        judged([encoded.names[note] for note in ask(query["text"])], set(query["relevant"]))
        for corpus, encoded in corpora
        for ask in [encoded.ways()[way]]
        for query in corpus["queries"][::every]
    ]
    return Quality(*(statistics.fmean(column) for column in zip(*rows, strict=True)))


def measure(corpora: list[Corpus], encoder: Encoder, every: int) -> Iterator[tuple[str, Quality]]:
    encoded = [(corpus, EncodedCorpus(corpus, encoder)) for corpus in corpora]
    for name, change in keep_one().items():
        with change_search(change):
            yield f"{name} alone", quality(encoded, "words", every)
    yield "meaning alone", quality(encoded, "meaning", every)
    for name, change in leave_out_one().items():
        with change_search(change):
            yield f"all without {name}", quality(encoded, "both", every)
    with change_search({}):
        yield "all without meaning", quality(encoded, "words", every)


def main(encoder: Encoder | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("corpora", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    encoder = encoder or load_model(options.model)
    corpora: dict[str, Any] = {"code search": [code_corpus()]}
    for path in options.corpora:
        with open(path, encoding="utf-8") as file:
            corpora[os.path.basename(path)] = json.load(file)
    print(f"R@{DEPTH} / nDCG@{DEPTH}, every {options.every}. question")
    for corpus, parts in corpora.items():
        for name, (recall, ndcg) in measure(parts, encoder, options.every):
            print(f"{corpus:20} {name:36} {recall:.3f} / {ndcg:.3f}", flush=True)


if __name__ == "__main__":
    main()
