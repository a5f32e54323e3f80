"""Which key a question means, on keys and questions of people who had not seen the rules.

    python -m benchmarks.recall [--fit] [--list]

The shelves of data/recall/ were written by people who had not seen the rules. The weights are
fitted on all but the last two (--fit prints them, and what each gives when it is left out); those
are only measured. --list prints what is answered wrongly in the fitted ones.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.__main__ import line
from benchmarks.facts import index_of
from nuggets.domain.records import NuggetConfig
from nuggets.facts import key_match, key_probability
from nuggets.facts.key_table import KeyTable

DATA = Path(__file__).parent / "data" / "recall"
FITTED, ASIDE = ("a", "b", "c", "d", "e", "f", "g"), ("h", "i")
NARROWED = "narrowed"  # questions that say more than the key: half of them ask for another thing
# Questions with a word that looks like one of a key and is another ("Daniela", Daniel), or a form
# of it. No part of the fit: the probability cannot tell them apart, so the difference is told.
LOOKALIKES = "lookalikes"
POSSESSORS = "possessors"  # whose thing is asked for: "my phone number", `landlord phone number`
BINS = 10
ELSEWHERE = 80  # questions that belong to other shelves of the writer, asked to each shelf
# What each kind of question weighs in the fit: as calibration is measured, a third each. Slips are
# easy and only keep their weight in place, nobody read what belongs elsewhere, and what says more
# than the key is rarer than its writer wrote it.
SHARES = {
    "reworded": 1.0,
    "sibling": 1.0,
    "unrelated": 1.0,
    "elsewhere": 0.15,
    "slip1": 0.15,
    "slip2": 0.15,
    "wordier": 0.15,
    "narrowed": 0.15,
    "lookalike": 0,
    "derived": 0,
    "own": 0,
    "others": 0,
    "named": 0,
    "bare": 0,
}
# Sets of their own: most of each kind that may be clearly answered, and so count, in percent.
MOST_CLEAR = {
    LOOKALIKES: {"lookalike": 5, "derived": 100},
    POSSESSORS: {"others": 5, "own": 100, "named": 100, "bare": 100},
}


class Asked(NamedTuple):
    """A question to the keys of one shelf."""

    keys: tuple[str, ...]
    kind: str
    text: str
    key: str | None  # that it means; None if no key is right
    form: str = ""  # in which words a key was reworded, if the writer said so

    @property
    def group(self) -> str:
        """The kind that it is counted with: no list has all synonyms, so they have a row of their
        own."""
        return "synonym" if self.form == "synonym" else self.kind


class Given(NamedTuple):
    """What a question got."""

    asked: Asked
    key: str  # "" for none
    probability: float
    found: bool
    clear: bool

    @property
    def right(self) -> bool:
        return self.key == self.asked.key


def questions(writer: str) -> Iterator[Asked]:
    """Everything that a writer asked."""
    shelves: list[list[list[str]]] = []
    for text in (DATA / f"{writer}.tsv").read_text(encoding="utf-8").splitlines():
        if text.startswith("["):
            shelves.append([])
        else:
            shelves[-1].append(text.split("\t"))
    for number, shelf in enumerate(shelves, 1):
        keys = tuple(row[1] for row in shelf if row[0] == "key")
        yield from (Asked(keys, "exact", key, key) for key in keys)
        for kind, text, *meant in shelf:
            if kind in SHARES:
                key, form = (*meant, "", "")[:2]
                yield Asked(keys, kind, text, key or None, form)
        others = [other for other in shelves if other is not shelf]
        theirs = sorted(foreign(others, str(number)))
        for text in Random(number).sample(theirs, min(ELSEWHERE, len(theirs))):
            yield Asked(keys, "elsewhere", text, None)


def foreign(shelves: Sequence[list[list[str]]], number: str) -> Iterator[str]:
    """Questions to other shelves, but for what the shelf of this number knows, too."""
    for shelf in shelves:
        known = {
            key
            for kind, other, *keys in shelf
            if kind == "overlap" and other == number
            for key in keys
        }
        for kind, text, *meant in shelf:
            if kind in ("reworded", "unrelated") and known.isdisjoint(meant):
                yield text


def ask(asked: Iterable[Asked]) -> Iterator[Given]:
    """Recall each question from a shelf with its keys."""
    shelves = {}
    for question in asked:
        if question.keys not in shelves:
            shelves[question.keys] = index_of([(key, key) for key in question.keys])
        result = shelves[question.keys].recall(question.text)
        yield Given(question, result.key, result.probability, result.found, result.is_clear)


def calibration_error(given: Sequence[Given]) -> float:
    """The expected calibration error on equal thirds of reworded, sibling and unrelated questions;
    of those not answered the best probability is 0."""
    kinds = ("reworded", "sibling", "unrelated")
    counts = Counter(answer.asked.kind for answer in given)
    bins: defaultdict[int, list[tuple[float, float, bool]]] = defaultdict(list)
    for answer in given:
        if answer.asked.kind in kinds and answer.found:
            weight = 1 / counts[answer.asked.kind]
            place = min(int(answer.probability * BINS), BINS - 1)
            bins[place].append((weight, answer.probability, answer.right))
    total = sum(weight for group in bins.values() for weight, *_ in group)
    return sum(
        abs(sum(weight * (probability - right) for weight, probability, right in group)) / total
        for group in bins.values()
    )


# --- fitting -------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """The features of the keys that a question may mean, and which of them it does."""

    weight: float
    features: NDArray[np.float64]
    meant: int | None


def choices(writers: Sequence[str]) -> list[Choice]:
    shelves: dict[tuple[str, ...], KeyTable] = {}
    asked = [question for writer in writers for question in questions(writer)]
    counts = Counter(question.kind for question in asked)
    found = []
    for question in asked:
        share = SHARES.get(question.kind, 0.0)
        if question.keys not in shelves:
            facts = index_of([(key, key) for key in question.keys])
            shelves[question.keys] = KeyTable(facts.database)
        table = shelves[question.keys]
        fits = key_match.compare_keys(
            table,
            key_match.Question(question.text, None, "", 1.0, lambda name: THRESHOLD),
            key_match.question_words(table, question.text),
        )
        keys = [fact.key for fact, _ in fits]
        meant = None
        if question.key is not None:
            if question.key.lower() not in keys:
                continue  # no weight could find it
            meant = keys.index(question.key.lower())
        if fits and share:
            features = np.array([fit.features for _, fit in fits])
            found.append(Choice(share / counts[question.kind], features, meant))
    return found


def fit(data: Sequence[Choice], ridge: float = 1e-3, steps: int = 30) -> NDArray[np.float64]:
    """The weights of the greatest likelihood, by Newton's method; `ridge` keeps them small."""
    size = data[0].features.shape[1]
    weights = np.zeros(size)
    for _ in range(steps):
        gradient, hessian = -2 * ridge * weights, -2 * ridge * np.eye(size)
        for choice in data:
            scores = choice.features @ weights
            powers = np.exp(scores - max(0.0, scores.max()))
            chances = powers / (powers.sum() + np.exp(-max(0.0, scores.max())))
            mean = chances @ choice.features
            seen = choice.features[choice.meant] if choice.meant is not None else 0.0
            gradient = gradient + choice.weight * (seen - mean)
            spread = (choice.features * chances[:, None]).T @ choice.features
            hessian = hessian - choice.weight * (spread - np.outer(mean, mean))
        step = np.linalg.solve(hessian, gradient)
        weights = weights - step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def use(weights: Iterable[float]) -> None:
    key_probability.WEIGHTS.update(zip(key_probability.WEIGHTS, map(float, weights), strict=True))


GOALS = {  # at least so many answered rightly, at most so many answered wrongly, in per cent
    "exact": (100, 0),
    "reworded": (85, 100),
    "synonym": (0, 100),
    "slip1": (98, 100),
    "slip2": (90, 100),
    "sibling": (0, 5),
    "unrelated": (0, 0.5),
    "elsewhere": (0, 1),  # nobody read all of these: some may have an answer
}
MOST_ERROR = 0.05
THRESHOLD = NuggetConfig("any").fuzzy_threshold


def rows(quick: bool = False, writers: Sequence[str] = ASIDE) -> Iterator[dict[str, Any]]:
    given = list(ask(question for writer in writers for question in questions(writer)))
    forms = Counter(answer.asked.form for answer in given if answer.asked.form)
    answered = Counter(answer.asked.form for answer in given if answer.found and answer.right)
    if forms:
        print({form: f"{answered[form] / number:.0%}" for form, number in forms.items()})
    for kind, (right, wrong) in GOALS.items():
        group = [answer for answer in given if answer.asked.group == kind]
        if not group:
            continue  # a writer without synonyms
        found = [answer for answer in group if answer.found]
        shares = [
            100 * sum(answer.right is is_right for answer in found) / len(group)
            for is_right in (True, False)
        ]
        yield {
            "what": f"{kind}: {len(group)} questions",
            "goal": f"≥ {right:g} %, wrong ≤ {wrong:g} %",
            "measured": f"{shares[0]:.1f} % right, {shares[1]:.1f} % wrong",
            "reached": shares[0] >= right and shares[1] <= wrong,
        }
    error = calibration_error(given)
    yield {
        "what": "expected calibration error of the probability",
        "goal": f"≤ {MOST_ERROR:g}",
        "measured": f"{error:.3f}",
        "reached": error <= MOST_ERROR,
    }


def clear_rows() -> Iterator[dict[str, Any]]:
    for name, kinds in MOST_CLEAR.items():
        given = list(ask(questions(name)))
        for kind, most in kinds.items():
            group = [answer for answer in given if answer.asked.kind == kind]
            clear = 100 * sum(answer.clear for answer in group) / len(group)
            found = 100 * sum(answer.found for answer in group) / len(group)
            yield {
                "what": f"{kind}: {len(group)} questions that are clearly answered, and count",
                "goal": f"≤ {most} %",
                "measured": f"{clear:.0f} %; {found:.0f} % are answered, or with a doubt",
                "reached": clear <= most,
            }


def main() -> None:
    if "--fit" in sys.argv:
        for left_out in FITTED:
            use(fit(choices([*(w for w in FITTED if w != left_out), NARROWED])))
            print(f"without {left_out}, measured on it:")
            for row in rows(writers=[left_out]):
                print(line(row), flush=True)
        use(fit(choices([*FITTED, NARROWED])))
        print({name: round(weight, 2) for name, weight in key_probability.WEIGHTS.items()})
    if "--list" in sys.argv:
        for answer in ask(question for writer in FITTED for question in questions(writer)):
            if answer.found != (answer.asked.key is not None) or not answer.right:
                print(answer.asked.kind, answer.asked.text, "→", answer.key, answer.probability)
    for row in [*rows(), *clear_rows()]:
        print(line(row), flush=True)


if __name__ == "__main__":
    main()
