"""Which sentences of a person the hook keeps as preferences.

    python -m benchmarks.preferences [--list]      --list prints those that it judges wrongly

The sentences and their labels stand in data/preferences.txt, and data/statements.txt (orders to
remember, corrections and conventions, in four languages).
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.__main__ import line
from nuggets.interfaces.hooks.preference_extraction import find_preferences

DATA = Path(__file__).parent / "data"
GOALS = (  # the label of a set, what it is, and the share that may or must be kept
    ("keep", "preferences", 0.8),
    ("drop", "other sentences", 0.02),
    ("keep en", "orders, corrections and conventions", 30 / 36),
    ("drop en", "other prompts", 1 / 40),
    ("keep more", "further orders, corrections and conventions", 30 / 36),
    ("drop more", "further prompts", 1 / 40),
    *((f"keep {language}", f"the same in {name}", 5 / 7)
      for language, name in (("de", "German"), ("es", "Spanish"), ("zh", "Chinese"))),
    *((f"drop {language}", f"other prompts in {name}", 0.0)
      for language, name in (("de", "German"), ("es", "Spanish"), ("zh", "Chinese"))),
)  # fmt: skip


class Judged(NamedTuple):
    label: str
    is_kept: bool
    sentence: str

    @property
    def is_wrong(self) -> bool:
        return self.label.startswith("keep") != self.is_kept


def judged() -> Iterator[Judged]:
    """Every sentence with its label, and whether it is kept."""
    for name in ("preferences.txt", "statements.txt"):
        for text in (DATA / name).read_text(encoding="utf-8").splitlines():
            if text and not text.startswith("#"):
                label, sentence = text.split(" | ", 1)
                yield Judged(label, bool(find_preferences(sentence)[0]), sentence)


def rows(quick: bool = False) -> Iterator[dict[str, Any]]:
    sentences = list(judged())
    for label, what, goal in GOALS:
        kept = [sentence.is_kept for sentence in sentences if sentence.label == label]
        share, wanted = sum(kept) / len(kept), label.startswith("keep")
        yield {
            "what": f"{what} that are kept, of {len(kept)}",
            "goal": f"{'≥' if wanted else '≤'} {goal:.0%}",
            "measured": f"{share:.0%}",
            "reached": share >= goal if wanted else share <= goal,
        }


if __name__ == "__main__":
    if "--list" in sys.argv:
        for sentence in judged():
            if sentence.is_wrong:
                print(f"{'kept' if sentence.is_kept else 'missed'}: {sentence.sentence}")
    for row in rows():
        print(line(row))
