"""Whether search finds nothing where nothing is known, and still finds what is.

    python -m benchmarks.unknown [CORPUS.json]

Corpora: the parts of a labelled file as benchmarks/retrieval.py reads it, and the docstrings of
the standard library (the first paragraph is the question, the note has the name and the rest).
Questions: those of `data/unrelated.txt`, technical and everyday; for a labelled file also each
part's questions put to the part before it. Printed are the shares of questions that get any note,
and R@10 of a corpus's own questions, plain and with two typos.
"""

import ast
import json
import math
import os
import random
import statistics
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.retrieval import DEPTH, Corpus, index_of, judged, mistyped
from nuggets.language.text import words

UNRELATED = os.path.join(os.path.dirname(__file__), "data", "unrelated.txt")
PACKAGES = (
    "",
    "asyncio",
    "concurrent/futures",
    "email",
    "http",
    "importlib",
    "json",
    "logging",
    "multiprocessing",
    "unittest",
    "urllib",
    "xml/dom",
    "xml/etree",
)
AT = "2026-01-01T09:00:00.000Z"


class Shares(NamedTuple):
    """Shares of questions that get notes, and how well a corpus's own questions do."""

    technical: float
    everyday: float
    foreign: float  # questions of the next part of the same file
    unnamed: float  # those of them that name no title of this part, such as a person's name
    recall: float
    recall_with_typos: float


def unrelated_questions() -> tuple[list[str], list[str]]:
    """Technical and everyday ones."""
    kinds: dict[str, list[str]] = {}
    with open(UNRELATED, encoding="utf-8") as file:
        for line in file:
            if line.startswith("# --- "):
                questions = kinds.setdefault(line.removeprefix("# --- ").strip(), [])
            elif not line.startswith("#"):
                questions.append(line.strip())
    return kinds["technical"], kinds["everyday"]


def docstring_corpus() -> Corpus:
    """Functions and classes of the standard library that say more than one line."""
    notes, queries = [], []
    docstrings = dict(_docstrings(sysconfig.get_path("stdlib")))  # of one name the last
    for name, text in docstrings.items():
        question, _, rest = text.partition("\n\n")
        notes.append(
            {"id": name, "title": name, "content": rest, "tags": [], "createdAt": AT, "links": []}
        )
        queries.append({"text": " ".join(question.split()), "relevant": [name]})
    return {"notes": notes, "queries": queries}


def _docstrings(directory: str) -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for file_name in sorted(os.listdir(os.path.join(directory, package))):
            if file_name.endswith(".py"):
                module = os.path.join(package, file_name.removesuffix(".py"))
                with open(os.path.join(directory, package, file_name), encoding="utf-8") as file:
                    yield from _docstrings_of(module.replace("/", "."), ast.parse(file.read()))


def _docstrings_of(module: str, tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            text = ast.get_docstring(node) or ""
            question, _, rest = text.partition("\n\n")
            if rest.strip() and 4 <= len(question.split()) <= 30:
                yield f"{module}.{node.name}", text


def measure(corpora: list[Corpus]) -> Shares:
    """Every unrelated question is put to every corpus, and every part's questions to the one
    before it."""
    technical, everyday = unrelated_questions()
    answered: dict[str, list[bool]] = {"technical": [], "everyday": [], "foreign": []}
    unnamed: list[bool] = []
    recalls: dict[int, list[float]] = {0: [], 2: []}
    for corpus, following in zip(corpora, [*corpora[1:], corpora[0]], strict=True):
        index, names = index_of(corpus)
        foreign = [query["text"] for query in following["queries"] if following is not corpus]
        asked = {"technical": technical, "everyday": everyday, "foreign": foreign}
        for kind, questions in asked.items():
            answered[kind] += [bool(index.search(text, 1)) for text in questions]
        named = names_title(corpus)
        unnamed += [bool(index.search(text, 1)) for text in foreign if not named(text)]
        for typos, recall in recalls.items():
            rng = random.Random(1)
            for query in corpus["queries"]:
                results = index.search(mistyped(query["text"], typos, rng), DEPTH)
                ranked = [names[result.note.id] for result in results]
                recall.append(judged(ranked, set(query["relevant"])).recall)
    return Shares(
        mean(answered["technical"]),
        mean(answered["everyday"]),
        mean(answered["foreign"]),
        mean(unnamed),
        mean(recalls[0]),
        mean(recalls[2]),
    )


def names_title(corpus: Corpus) -> Callable[[str], bool]:
    """Whether a question has a word that is a title of some note."""
    titles = {note["title"].casefold() for note in corpus["notes"]}
    return lambda text: not titles.isdisjoint(words(text))


def mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else math.nan


def line(name: str, shares: Shares) -> str:
    return (
        f"{name:18} technical {shares.technical:.1%}  everyday {shares.everyday:.1%}  "
        f"next part {shares.foreign:.1%}, naming no title {shares.unnamed:.1%}  "
        f"R@10 {shares.recall:.3f}, with two typos {shares.recall_with_typos:.3f}"
    )


def rows(quick: bool = False) -> Iterator[dict[str, Any]]:
    """For the table of all benchmarks, on the corpus that needs no download."""
    corpus = docstring_corpus()
    if quick:
        corpus["queries"] = corpus["queries"][:200]
    shares = measure([corpus])
    for kind, goal in (("technical", 0.05), ("everyday", 0.10)):
        share = getattr(shares, kind)
        yield {
            "what": f"unrelated {kind} questions that get notes",
            "goal": f"≤ {goal:.0%}",
            "measured": f"{share:.1%}",
            "reached": share <= goal,
        }


def main() -> None:
    corpora = {}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            corpora[os.path.basename(path)] = json.load(file)
    corpora["standard library"] = [docstring_corpus()]
    for name, parts in corpora.items():
        print(line(name, measure(parts)), flush=True)


if __name__ == "__main__":
    main()
