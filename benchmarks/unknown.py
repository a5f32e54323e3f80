"""Whether search says so where nothing is known, and still finds what is.

    python -m benchmarks.unknown               unrelated questions put to the standard library
    python -m benchmarks.unknown --fit [FILE ...]

`--fit` fits the probability that a shelf answers a question (`answer_degree`) on families of
corpora (benchmarks/families.py, labelled files), each as a whole and as shelves of 40 and of 8 of
its notes; own questions against those of `data/unrelated.txt`. For every family left out of the fit
it prints, at several probabilities, how much R@10 is lost and how many unrelated questions get
notes.
"""

import argparse
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks import families
from benchmarks.ranking import Array, Shelf, corpora_by_family, shipped_weights
from benchmarks.retrieval import Corpus, index_of

UNRELATED = os.path.join(os.path.dirname(__file__), "data", "unrelated.txt")
CUTS = (0.02, 0.03, 0.05, 0.1, 0.2, 0.5)
SIZES = {40: 4, 8: 8}  # notes of a small shelf, and how many of these are drawn from a family
MOST_ASKED = 300  # own questions of a shelf
MOST_PARTS = 5  # corpora of a family
STEPS = 60  # of Newton's method: the weights no longer move after a dozen


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


class Asked(NamedTuple):
    """Questions put to shelves of one size: what is known about each, and how they were answered
    if each got notes."""

    features: Array
    recall: Array  # R@10 of own questions
    own: Array

    @property
    def examples(self) -> tuple[Array, Array, Array]:
        """Features, whether the shelf answers, and weights: both kinds count the same."""
        told = ~self.own | (self.recall > 0)
        answers = self.own[told].astype(float)
        shares = np.where(answers > 0, answers.sum(), (1 - answers).sum())
        return self.features[told], answers, 0.5 / shares


def ask(corpora: Sequence[Corpus]) -> Asked:
    rng, weights = random.Random(1), shipped_weights()
    others = [text for kind in unrelated_questions() for text in kind]
    unrelated = [{"text": text, "relevant": []} for text in others]
    features: list[Array] = []
    recall: list[float] = []
    own: list[bool] = []
    for corpus in corpora:
        answered = rng.sample(corpus["queries"], min(MOST_ASKED, len(corpus["queries"])))
        shelf = Shelf(corpus, [*answered, *unrelated])
        known, is_any = shelf.knowledge(weights)
        known[~is_any] = -np.inf  # nothing speaks for any note
        features.append(known)
        recall += [quality.recall for quality in shelf.judge(weights, len(answered))]
        recall += [0.0] * len(unrelated)
        own += [True] * len(answered) + [False] * len(unrelated)
    return Asked(np.concatenate(features), np.array(recall), np.array(own))


def small_shelves(corpora: Sequence[Corpus], size: int, count: int) -> list[Corpus]:
    """So many notes that follow each other, where some question is answered among them."""
    rng = random.Random(size)
    made = []
    for number in range(count):
        corpus = corpora[number % len(corpora)]
        names = [note["id"] for note in corpus["notes"]]
        middle = names.index(rng.choice(corpus["queries"])["relevant"][0])
        first = max(0, min(middle - size // 2, len(names) - size))
        kept = set(names[first : first + size])
        notes = [
            {**note, "links": [other for other in note["links"] if other in kept]}
            for note in corpus["notes"]
            if note["id"] in kept
        ]
        queries = [query for query in corpus["queries"] if kept.issuperset(query["relevant"])]
        made.append({"notes": notes, "queries": queries})
    return [corpus for corpus in made if corpus["queries"]]


def fit(examples: Sequence[tuple[Array, Array, Array]]) -> Array:
    """Logistic regression; the constant first."""
    features, answers, shares = (np.concatenate(part) for part in zip(*examples, strict=True))
    finite = np.isfinite(features).all(1)
    features, answers, shares = features[finite], answers[finite], shares[finite]
    columns = np.column_stack([np.ones(len(features)), features])
    weights = np.zeros(columns.shape[1])
    for _ in range(STEPS):
        found = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (shares * (found - answers))
        bend = (columns * (shares * found * (1 - found))[:, None]).T @ columns
        weights = weights - np.linalg.solve(bend + 1e-6 * np.eye(len(weights)), slope)
    return weights


def probabilities(weights: Array, features: Array) -> Array:
    sums = weights[0] + np.where(np.isfinite(features), features, 0) @ weights[1:]
    found: Array = np.where(np.isfinite(features).all(1), 1 / (1 + np.exp(-sums)), 0.0)
    return found


def curve(weights: Array, asked: Asked) -> Iterator[str]:
    """At each probability: R@10 that is lost, and the share of unrelated questions with notes."""
    found = probabilities(weights, asked.features)
    for cut in CUTS:
        lost = float((asked.recall * (found < cut))[asked.own].mean())
        shown = float((found[~asked.own] >= cut).mean())
        yield f"{cut:g}: {lost:.3f} {shown:5.1%}"


def fit_families(files: Sequence[str]) -> None:
    by_family = corpora_by_family(files) | {n: make() for n, make in families.ASIDE.items()}
    shelves: dict[str, dict[int, Asked]] = {}
    for name, corpora in by_family.items():
        parts = corpora[:MOST_PARTS]
        shelves[name] = {0: ask(parts)}
        for size, count in SIZES.items():
            shelves[name][size] = ask(small_shelves(parts, size, count))
    fitted = [name for name in shelves if name not in families.ASIDE]
    print("all:", fit(_examples(shelves, fitted)).round(2))
    print("probability: R@10 lost, unrelated questions that get notes")
    for left_out, sizes in shelves.items():
        weights = fit(_examples(shelves, [name for name in fitted if name != left_out]))
        print(f"without {left_out}:", weights.round(2))
        for size, asked in sizes.items():
            which = f"{size} notes" if size else "all notes"
            print(f"  {which:10}" + "   ".join(curve(weights, asked)), flush=True)


def _examples(
    shelves: Mapping[str, Mapping[int, Asked]], names: Sequence[str]
) -> list[tuple[Array, Array, Array]]:
    return [asked.examples for name in names for asked in shelves[name].values()]


def rows(quick: bool = False) -> Iterator[dict[str, Any]]:
    """For the table of all benchmarks, on the corpus that needs no download."""
    index, _ = index_of(families.docstring_corpus())
    for kind, questions, goal in zip(
        ("technical", "everyday"), unrelated_questions(), (0.05, 0.10), strict=True
    ):
        found = [index.search(text, 1) for text in questions[:: 4 if quick else 1]]
        little = sum(bool(results) and results[0].little_found for results in found)
        share = (sum(map(bool, found)) - little) / len(found)
        yield {
            "what": f"unrelated {kind} questions that are told as answered",
            "goal": f"≤ {goal:.0%}",
            "measured": f"{share:.1%}; little found {little / len(found):.1%}",
            "reached": share <= goal,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    if given.fit:
        fit_families(given.files)
        return
    for row in rows():
        print(f"{row['what']}: {row['measured']} (goal {row['goal']})")


if __name__ == "__main__":
    main()
