"""Whether recall says "not found" where nothing answers: facts first, then notes.

    python -m benchmarks.answers [CORPUS.json] [--list]    --list prints what is answered wrongly

The shelves of data/recall/ get the questions there that no key answers: siblings ("rollback cmd"
where only "deploy cmd" is known) and unrelated ones; once as facts, once as the titles of notes.
The docstrings of the standard library get the questions of data/unrelated.txt and their own ones, a
labelled file its own. Counted is what recall answers: a fact, or a note that clearly answers
(`search/answer_degree.py`). Near notes that it shows after "Not found." are counted apart.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from benchmarks.__main__ import line
from benchmarks.families import docstring_corpus
from benchmarks.recall import ASIDE, FITTED, questions
from benchmarks.retrieval import Corpus, index_of
from benchmarks.unknown import unrelated_questions
from nuggets.domain.records import NoteKind
from nuggets.search.answer_degree import RESULTS_COMPARED, mark_clear_answer
from nuggets.shelf import NuggetShelf

GOALS = {  # at most so many answered, in per cent
    "sibling, facts": 5.0,
    "sibling, notes": 5.0,
    "unrelated, facts": 0.5,
    "unrelated, notes": 0.5,
    "technical": 1.0,
    "everyday": 1.0,
}


class Outcome(NamedTuple):
    """What questions of one kind got, in per cent."""

    asked: int
    answered: float
    near: float  # not answered, but shown notes


def key_outcomes(
    writers: Sequence[str], kind: NoteKind, is_listed: bool = False
) -> dict[str, Outcome]:
    """Questions that none of the keys, each a fact or the title of a note, answers."""
    counts: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    asked = (question for writer in writers for question in questions(writer))
    for keys, group in groupby(asked, key=lambda question: question.keys):
        with NuggetShelf("memory:", project="") as shelf:
            with shelf.batch():
                for key in keys:
                    write = shelf.remember if kind == "fact" else shelf.create_note
                    write("keys", key, key)
            for question in group:
                if question.kind not in ("sibling", "unrelated"):
                    continue
                recall, notes = shelf.recall_or_search(question.text, session=None)
                clear = [result.note.title for result in notes if result.clear_answer]
                answers = [recall.key] if recall.found else clear
                counts[question.kind].append((bool(answers), bool(notes) and not answers))
                if is_listed and answers:
                    print(f"{question.kind}: {question.text!r} got {answers[0]!r}")
    return {
        f"{name}, {kind}s": _outcome(len(found), *map(sum, zip(*found, strict=True)))
        for name, found in counts.items()
    }


def note_outcomes(corpus: Corpus, is_listed: bool = False) -> dict[str, Outcome]:
    """Unrelated questions."""
    index, _ = index_of(corpus)
    outcomes = {}
    for kind, asked in zip(("technical", "everyday"), unrelated_questions(), strict=True):
        answered = near = 0
        for question in asked:
            results = mark_clear_answer(question, index.search(question, RESULTS_COMPARED), "")
            is_answered = bool(results) and results[0].clear_answer
            answered += is_answered
            near += bool(results) and not is_answered
            if is_listed and is_answered:
                print(f"{kind}: {question!r} got {results[0].note.title!r}")
        outcomes[kind] = _outcome(len(asked), answered, near)
    return outcomes


def own_questions(corpus: Corpus) -> tuple[float, float, float]:
    """Of a corpus's own questions the share with a clear answer, how many of these answers are
    labelled as right, and how many of all first results are."""
    index, names = index_of(corpus)
    right: list[tuple[bool, bool]] = []
    for query in corpus["queries"]:
        text = query["text"]
        results = mark_clear_answer(text, index.search(text, RESULTS_COMPARED), "")
        if results:
            is_right = names[results[0].note.id] in query["relevant"]
            right.append((results[0].clear_answer, is_right))
    clear = [is_right for is_clear, is_right in right if is_clear]
    firsts = sum(is_right for _, is_right in right)
    asked = len(corpus["queries"])
    return len(clear) / asked, sum(clear) / max(1, len(clear)), firsts / asked


def _outcome(asked: int, answered: int, near: int) -> Outcome:
    return Outcome(asked, 100 * answered / asked, 100 * near / asked)


def rows(quick: bool = False, is_listed: bool = False) -> Iterator[dict[str, Any]]:
    outcomes = [
        *key_outcomes(FITTED, "fact", is_listed).items(),
        *key_outcomes(ASIDE, "fact", is_listed).items(),
        *key_outcomes(FITTED, "note", is_listed).items(),
        *key_outcomes(ASIDE, "note", is_listed).items(),
        *note_outcomes(docstring_corpus(), is_listed).items(),
    ]
    for kind, outcome in outcomes:
        yield {
            "what": f"{kind}: {outcome.asked} questions that nothing answers",
            "goal": f"answered ≤ {GOALS[kind]:g} %",
            "measured": f"{outcome.answered:.1f} %, near notes shown {outcome.near:.1f} %",
            "reached": outcome.answered <= GOALS[kind],
        }


def main() -> None:
    is_listed = "--list" in sys.argv
    for row in rows(is_listed=is_listed):
        print(line(row), flush=True)
    corpora = {"standard library": [docstring_corpus()]}
    for path in sys.argv[1:]:
        if not path.startswith("--"):
            with open(path, encoding="utf-8") as file:
                corpora[path] = json.load(file)
    for name, parts in corpora.items():
        shares = [own_questions(part) for part in parts]
        clear, right, first = (sum(column) / len(parts) for column in zip(*shares, strict=True))
        print(
            f"{name}: own questions with a clear answer {clear:.1%}, labelled right {right:.1%}"
            f" (of all first results {first:.1%})"
        )


if __name__ == "__main__":
    main()
