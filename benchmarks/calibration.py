"""How well `probability` says how often an answer is what was meant.

    python -m benchmarks.calibration [--fitted]

Equal shares of five kinds of questions: exact, typo (one to three slips), part (some of a key's
words, meant is the key they were taken from), sibling (also every key asked while it alone is
unknown) and unrelated. Measured on keys kept aside; --fitted: on those it was fitted to.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from benchmarks.__main__ import line
from benchmarks.facts import index_of
from benchmarks.keys import ASIDE, FITTED, Question, questions, sections
from nuggets.facts.key_tokenizer import form
from nuggets.language.text import fold_case

GOAL = 0.05
BINS = 10


class Answer(NamedTuple):
    kind: str
    weight: float  # each kind of question weighs the same
    probability: float
    right: bool


def parts(keys: list[str]) -> Iterator[Question]:
    """Of each key one run of words of every length."""
    dice, known = Random("parts"), {fold_case(key) for key in keys}
    for key in keys:
        words = form(key).without_scope.split()
        for size in range(1, len(words)):
            start = dice.randrange(len(words) - size + 1)
            text = " ".join(words[start : start + size])
            if text not in known:
                yield Question(text, key)


def answers(file: str) -> list[Answer]:
    keys, by_kind = sections(file)["keys"], questions(file)
    everything = index_of([(key, key) for key in keys])
    asked = {
        "exact": by_kind["exact"],
        "typo": [q for kind, group in by_kind.items() if "slip" in kind for q in group],
        "part": [*by_kind["part"], *parts(keys)],
        "sibling": by_kind["sibling"],
        "unrelated": by_kind["unrelated"],
    }
    results = [
        (kind, question, everything.recall(question.text, "bench"))
        for kind, group in asked.items()
        for question in group
    ]
    for unknown in keys:
        others = index_of([(key, key) for key in keys if key != unknown])
        question = Question(unknown, None)
        results.append(("sibling", question, others.recall(unknown, "bench")))
    sizes: defaultdict[str, int] = defaultdict(int)
    for kind, *_ in results:
        sizes[kind] += 1
    return [
        Answer(kind, 1 / sizes[kind], result.probability, result.key == question.key)
        for kind, question, result in results
        if result.found
    ]


def table(given: list[Answer]) -> list[tuple[float, float, float]]:
    """For each tenth of the scale: its weight, the mean probability, the share that is right."""
    bins: defaultdict[int, list[Answer]] = defaultdict(list)
    for answer in given:
        bins[min(int(answer.probability * BINS), BINS - 1)].append(answer)
    rows = []
    for _, group in sorted(bins.items()):
        weight = sum(answer.weight for answer in group)
        mean = sum(answer.weight * answer.probability for answer in group) / weight
        rows.append((weight, mean, sum(a.weight for a in group if a.right) / weight))
    return rows


def rows(quick: bool = False, file: str = ASIDE) -> Iterator[dict[str, Any]]:
    bins = table(answers(file))
    total = sum(weight for weight, *_ in bins)
    error = sum(weight * abs(mean - right) for weight, mean, right in bins) / total
    for weight, mean, right in bins:
        print(f"    probability {mean:.2f}: {right:.2f} right, {100 * weight / total:.1f} %")
    yield {
        "what": "expected calibration error of the probability",
        "goal": f"≤ {GOAL:g}",
        "measured": f"{error:.3f}",
        "reached": error <= GOAL,
    }


if __name__ == "__main__":
    for row in rows(file=FITTED if "--fitted" in sys.argv else ASIDE):
        print(line(row), flush=True)
