"""Which key a question means: slips, parts, siblings and unrelated questions to 400 keys.

    python -m benchmarks.keys [--aside] [--list]

--aside measures on data/keys_aside.txt, to which no rule was fitted; --list prints every question
that is answered wrongly. The keys and the questions without an answer stand in data/, written
before the rules. Slips are made here, always the same ones.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.__main__ import line
from benchmarks.facts import index_of, resolve
from nuggets.language.text import fold_case

DATA = Path(__file__).parent / "data"
FITTED, ASIDE = "keys.txt", "keys_aside.txt"
OTHER_WORDS = "other_words.txt"  # each key of it is a memory of its own
# each letter with its neighbours on a keyboard
_KEYBOARD = """
qwa wqes ewrd retf tryg ytuh uyij iuok oipl pol aqsz sawdx dsefc fdrgv gfthb hgyjn jhuk kjil lkop
zasx xzsc cxdv vcfb bvgn nbhm mnjk
"""
NEIGHBOURS = {group[0]: group[1:] for group in _KEYBOARD.split()}
SHORTEST = 3  # letters of a word that is mistyped
LONG = 6  # letters of a word in which two slips are likely


class Question(NamedTuple):
    text: str
    key: str | None  # that it means; None if no key is right


class Outcome(NamedTuple):
    """What questions of one kind got, in per cent."""

    asked: int
    right: float
    wrong: float


def sections(file: str) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    name = ""
    for text in (DATA / file).read_text(encoding="utf-8").splitlines():
        if text.startswith("["):
            name = text.strip("[]")
        elif text and not text.startswith("#"):
            found[name].append(text)
    return found


def slip(dice: Random, word: str) -> str:
    """A letter left out, one too many (doubled, or a neighbour hit with it), one hit beside, or two
    swapped; seldom the first letter."""
    while True:
        at = dice.randrange(len(word)) if dice.random() < 0.1 else dice.randrange(1, len(word))
        letter = word[at]
        neighbour = dice.choice(NEIGHBOURS.get(letter.lower(), letter))
        changed = dice.choice(
            (
                word[:at] + word[at + 1 :],
                word[:at] + dice.choice((letter, neighbour)) + word[at:],
                word[:at] + neighbour + word[at + 1 :],
                word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
            )
        )
        if changed != word:
            return changed


def mistyped(dice: Random, key: str, slips: int, words: int, shortest: int) -> str | None:
    """So many slips in so many of its words; None if it has not enough words that are long enough.

    The scope is left out, as people do, and so are words with digits: another digit is no slip.
    """
    parts = key.partition(": ")[2].split() or key.split()
    places = [i for i, word in enumerate(parts) if word.isalpha() and len(word) >= shortest]
    if len(places) < words:
        return None
    chosen = dice.sample(places, words)
    for count in range(slips):
        at = chosen[count % words]
        parts[at] = slip(dice, parts[at])
    return " ".join(parts)


def questions(file: str) -> dict[str, list[Question]]:
    read = sections(file)
    keys = read["keys"]
    known = {fold_case(key) for key in keys}
    asked: dict[str, list[Question]] = {"exact": [Question(key, key) for key in keys]}
    for kind, slips, words, shortest in (
        ("one slip", 1, 1, SHORTEST),
        ("two slips in different words", 2, 2, SHORTEST),
        ("two slips in one long word", 2, 1, LONG),
        ("three slips in three words", 3, 3, SHORTEST),
    ):
        dice = Random(kind)
        made = [
            (mistyped(dice, key, slips, words, shortest), key) for _ in range(3) for key in keys
        ]
        asked[kind] = [Question(text, key) for text, key in made if text and text not in known]
    asked["part"] = [Question(*text.split(" = ")) for text in read["parts"]]
    asked["sibling"] = [Question(text, None) for text in read["siblings"]]
    asked["unrelated"] = [Question(text, None) for text in read["unrelated"]]
    return asked


def answered(file: str) -> Iterator[tuple[str, Question, str | None]]:
    known = [(key, key) for key in sections(file)["keys"]]
    index = index_of(known)
    for kind, asked in questions(file).items():
        for question in asked:
            yield kind, question, resolve(index, question.text)
    for pair in sections(OTHER_WORDS)["pairs"]:
        text, key = pair.split(" = ")
        yield "other word", Question(text, None), resolve(index_of([(key, key)]), text)
        if text not in dict(known):
            among = resolve(index_of([*known, (key, key)]), text)
            wrong = among if among == key else None  # it may be a part of another key
            yield "other word among the keys", Question(text, None), wrong


def outcomes(file: str) -> dict[str, Outcome]:
    """`right` of questions without an answer are those that get none."""
    counted: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for kind, question, key in answered(file):
        counted[kind].append((key == question.key, key not in (question.key, None)))
    return {
        kind: Outcome(
            len(found), *(100 * sum(column) / len(found) for column in zip(*found, strict=True))
        )
        for kind, found in counted.items()
    }


GOALS = {  # at least so many right, at most so many wrong, in per cent
    "exact": (100, 0),
    "one slip": (98, 0.5),
    "two slips in different words": (93, 100),
    "two slips in one long word": (60, 100),
    "three slips in three words": (85, 100),
    "part": (95, 5),
    "other word": (65, 35),  # one other letter may be a slip, whatever word it makes
    "other word among the keys": (78, 22),
    "sibling": (98, 2),
    "unrelated": (99.5, 0.5),
}


def rows(quick: bool = False, file: str = FITTED) -> Iterator[dict[str, Any]]:
    for kind, found in outcomes(file).items():
        right, wrong = GOALS[kind]
        yield {
            "what": f"{kind}: {found.asked} questions",
            "goal": f"≥ {right:g} %, wrong ≤ {wrong:g} %",
            "measured": f"{found.right:.1f} % right, {found.wrong:.1f} % wrong",
            "reached": found.right >= right and found.wrong <= wrong,
        }


if __name__ == "__main__":
    chosen = ASIDE if "--aside" in sys.argv else FITTED
    if "--list" in sys.argv:
        for kind, question, key in answered(chosen):
            if key not in (question.key, None):
                print(f"{kind}: {question.text!r} got {key!r}, wanted {question.key!r}")
    for row in rows(file=chosen):
        print(line(row), flush=True)
