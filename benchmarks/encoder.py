"""What the optional sentence encoder brings: words alone, meaning alone, and both.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.encoder MODEL [CORPUS.json ...] [--every 4]

MODEL: the file that `nuggets encoder install` makes. Corpora: labelled files as
benchmarks/retrieval.py reads them, and always a code search over the standard library: the first
paragraph of a docstring is the question, the function without it is the note. Then the shares of
unrelated questions that get notes, which the encoder must not change; and what it costs.
`--every N` asks every Nth question only.
"""

import argparse
import ast
import json
import os
import random
import statistics
import sysconfig
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from benchmarks.families import AT, PACKAGES
from benchmarks.retrieval import DEPTH, Corpus, Quality, index_of, judged
from benchmarks.unknown import unrelated_questions
from nuggets.encoder.minilm import load_model
from nuggets.encoder.quantized_vectors import Cosines, VectorMatrix, cosines, encode_note, pack
from nuggets.encoder.vector_index import Encoder, text_of

MOST_FUNCTIONS = 900  # of the code search, drawn once
LONGEST_CODE = 2000  # characters


class Row(NamedTuple):
    """How well one way of searching does on one corpus."""

    corpus: str
    way: str
    questions: int
    quality: Quality


def code_corpus() -> Corpus:
    """Functions of the standard library, and the first paragraphs of their docstrings."""
    functions = dict(_functions(sysconfig.get_path("stdlib")))
    names = sorted(functions)
    random.Random(1).shuffle(names)
    notes, queries = [], []
    for name in names[:MOST_FUNCTIONS]:
        question, title, code = functions[name]
        notes.append(
            {"id": name, "title": title, "content": code, "tags": [], "createdAt": AT, "links": []}
        )
        queries.append({"text": question, "relevant": [name]})
    return {"notes": notes, "queries": queries}


def _functions(directory: str) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """By full name: the question, the name, and the code without the docstring."""
    for package in PACKAGES:
        for file_name in sorted(os.listdir(os.path.join(directory, package))):
            if not file_name.endswith(".py"):
                continue
            with open(os.path.join(directory, package, file_name), encoding="utf-8") as file:
                tree = ast.parse(file.read())
            module = os.path.join(package, file_name.removesuffix(".py")).replace("/", ".")
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef) and len(node.body) > 1:
                    text = ast.get_docstring(node) or ""
                    question = " ".join(text.partition("\n\n")[0].split())
                    if 4 <= len(question.split()) <= 30:
                        node.body = node.body[1:]
                        code = ast.unparse(node)[:LONGEST_CODE]
                        yield f"{module}.{node.name}", (question, node.name, code)


class EncodedCorpus:
    """A corpus with its search index and the vectors of its notes."""

    def __init__(self, corpus: Corpus, encoder: Encoder) -> None:
        self._encoder = encoder
        self.index, self.names = index_of(corpus)
        texts = {note.id: text_of(note) for note in self.index.notes.values()}
        self._matrix = VectorMatrix(
            [(note, pack(encode_note(encoder, text))) for note, text in texts.items() if text]
        )

    def compare(self, text: str) -> Cosines:
        return cosines(self._matrix, self._encoder.encode([text])[0])

    def ways(self) -> dict[str, Callable[[str], list[str]]]:
        """By name, how a question is answered."""

        def by_words(text: str) -> list[str]:
            return [result.note.id for result in self.index.search(text, DEPTH)]

        def by_meaning(text: str) -> list[str]:
            return self.compare(text).nearest(DEPTH)

        def by_both(text: str) -> list[str]:
            found = self.index.search(text, DEPTH, self.compare)
            return [result.note.id for result in found]

        return {"words": by_words, "meaning": by_meaning, "both": by_both}


def measure(name: str, corpora: list[Corpus], encoder: Encoder, every: int) -> Iterator[Row]:
    qualities: dict[str, list[Quality]] = {}
    for corpus in corpora:
        encoded = EncodedCorpus(corpus, encoder)
        for way, ask in encoded.ways().items():
            for query in corpus["queries"][::every]:
                ranked = [encoded.names[note] for note in ask(query["text"])]
                quality = judged(ranked, set(query["relevant"]))
                qualities.setdefault(way, []).append(quality)
    for way, rows in qualities.items():
        means = Quality(*(statistics.fmean(column) for column in zip(*rows, strict=True)))
        yield Row(name, way, len(rows), means)


def unrelated_answers(corpus: Corpus, encoder: Encoder) -> tuple[int, int, int]:
    """How many unrelated questions get notes by words, and by both; and how many there are."""
    encoded = EncodedCorpus(corpus, encoder)
    questions = [text for kind in unrelated_questions() for text in kind]
    by_words = sum(bool(encoded.index.search(text, 1)) for text in questions)
    by_both = sum(bool(encoded.index.search(text, 1, encoded.compare)) for text in questions)
    return by_words, by_both, len(questions)


def cost(path: str) -> dict[str, float]:
    """CPU milliseconds: loading, a question, a note of 700 bytes."""
    note = "Deploys of the billing service wait for two reviewers, since a migration failed. " * 9
    texts = {"question": "What did we decide about retries of payments?", "note": note[:700]}
    start = time.process_time()
    encoder = load_model(path)
    costs = {"load": 1000 * (time.process_time() - start)}
    for name, text in texts.items():
        encoder.encode([text])
        times = []
        for _ in range(15):
            start = time.process_time()
            encoder.encode([text])
            times.append(1000 * (time.process_time() - start))
        costs[name] = statistics.median(times)
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("corpora", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    print("CPU ms: " + ", ".join(f"{name} {ms:.1f}" for name, ms in cost(options.model).items()))
    encoder = load_model(options.model)
    corpora: dict[str, Any] = {"code search": [code_corpus()]}
    for path in options.corpora:
        with open(path, encoding="utf-8") as file:
            corpora[os.path.basename(path)] = json.load(file)
    for name, parts in corpora.items():
        for row in measure(name, parts, encoder, options.every):
            recall, ndcg = row.quality
            print(f"{row.corpus:20} {row.way:8} {row.questions:5}  {recall:.3f} / {ndcg:.3f}")
        by_words, by_both, count = unrelated_answers(parts[0], encoder)
        print(f"{name:20} unrelated questions answered: {by_words} by words, {by_both} by both")
        print(f"{'':20} of {count}")


if __name__ == "__main__":
    main()
