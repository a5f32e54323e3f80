"""Which pairs of memories are taken for contradictions.

    python -m benchmarks.contradictions [--list]      --list prints the pairs judged wrongly

The pairs and their labels stand in data/contradictions.txt: one set that the rules were fitted to,
and one that was put aside. "stated" compares the texts alone; "agent" and "command" store one and
then the other through that door, in both orders, and look at the receipt of the second. The command
compares only what has a word of rules ("use", "not"), because a search costs a cold start.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.__main__ import line
from nuggets import NuggetShelf
from nuggets.language.equivalence_and_contradiction import deny_each_other
from nuggets.operations.permissions import AGENT, COMMAND, Client

DATA = Path(__file__).parent / "data" / "contradictions.txt"
GOALS = {"precision": 0.95, "recall": 0.9}
COMMAND_RECALL = 0.5


class Pair(NamedTuple):
    group: str
    contradict: bool
    first: str
    second: str


def pairs() -> Iterator[Pair]:
    group = ""
    for text in DATA.read_text().splitlines():
        if text.startswith("= "):
            group = text[2:]
        elif text and not text.startswith("#"):
            label, first, second = text.split(" | ")
            yield Pair(group, label == "contradict", first, second)


def is_noticed(client: Client, first: str, second: str) -> bool:
    """Does the receipt of the second name the first? Among memories about other things."""
    with NuggetShelf("memory:", client=client) as shelf:
        for number, other in enumerate(OTHERS):
            shelf.create_note("rules", f"rule {number}", other)
        known = shelf.create_note("rules", first, first)
        written = shelf.create_note("rules", second, second)
        return known.id in [note.id for note in written.contradicts]


OTHERS = (
    "Release notes are written on Thursdays",
    "Never change the schema without a migration",
    "Use the staging cluster for load tests",
)
JUDGES: dict[str, Callable[[str, str], bool]] = {
    "stated": deny_each_other,
    "agent": lambda first, second: is_noticed(AGENT, first, second),
    "agent, reversed": lambda first, second: is_noticed(AGENT, second, first),
    "command": lambda first, second: is_noticed(COMMAND, first, second),
    "command, reversed": lambda first, second: is_noticed(COMMAND, second, first),
}


def rows(quick: bool = False, show: bool = False) -> Iterator[dict[str, Any]]:
    labelled = list(pairs())
    for name, judge in JUDGES.items():
        judged = [(pair, judge(pair.first, pair.second)) for pair in labelled]
        for group in dict.fromkeys(pair.group for pair in labelled):
            own = [(pair, flagged) for pair, flagged in judged if pair.group == group]
            yield from _row(f"{name}, {group}", own)
            for pair, flagged in own if show else ():
                if flagged != pair.contradict:
                    verdict = "wrongly" if flagged else "missed"
                    print(f"{name}, {group}: {verdict}: {pair.first} | {pair.second}")


def _row(name: str, judged: list[tuple[Pair, bool]]) -> Iterator[dict[str, Any]]:
    right = sum(flagged and pair.contradict for pair, flagged in judged)
    flagged_pairs = sum(flagged for _, flagged in judged)
    wanted = sum(pair.contradict for pair, _ in judged)
    for kind, of in (("precision", flagged_pairs), ("recall", wanted)):
        share = right / of if of else 0.0
        goal = GOALS[kind]
        if kind == "recall" and name.startswith("command"):
            goal = COMMAND_RECALL
        yield {
            "what": f"{kind} of contradictions ({name})",
            "goal": f"{goal:.2f}",
            "measured": f"{share:.3f} ({right} of {of})",
            "reached": share >= goal,
        }


def main() -> None:
    for row in rows(show="--list" in sys.argv):
        print(line(row))


if __name__ == "__main__":
    main()
