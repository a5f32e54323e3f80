"""Everyday use of the hooks: what a prompt is shown, what it keeps, replaces and forgets.

    python -m benchmarks.everyday [SET …] [--list]      --list prints what is judged wrongly
    python -m benchmarks.everyday --fit                 weights, and each set by those of the others

data/everyday/ has sets, each written before any rule had seen it: three projects with some thirty
memories, in several languages, and prompts with what a person would want of each. The weights of
`hooks/help_probability.py` and `hooks/orders.py` are fitted on all of them; what they are worth is
what each set gives by the weights of the other ones.

Every prompt opens a session of its own. One that may change memory has a copy of the shelf.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.__main__ import line
from nuggets.domain.records import MemoryNote
from nuggets.interfaces.hooks import help_probability, orders
from nuggets.interfaces.hooks.event_handlers import handle_event
from nuggets.interfaces.hooks.host_payload import event_of
from nuggets.interfaces.hooks.orders import leave_orders, read_orders
from nuggets.language import word_lists
from nuggets.language.text import tokens
from nuggets.language.word_lists import lasting_words
from nuggets.shelf import NuggetShelf

DATA = Path(__file__).parent / "data" / "everyday"
SETS = ("a", "b", "c", "d", "e", "f")
WORDS = Path(word_lists.__file__).parent / "data" / "lasting_words.txt"
WORDS_TITLE = """\
# How much a word speaks for a lasting statement (above 0) or for a task of the moment (below 0).
# Written by `python -m benchmarks.everyday --fit`; only words that people of three sets said.
"""
KEEP_LINE = "lasting"  # a word of the line that leaves the judgement to the model
Row = dict[str, Any]


class Answer(NamedTuple):
    """What one prompt got, and what it changed."""

    shown: frozenset[str]  # memories on the prompt, by their ids in the data
    named: frozenset[str]  # memories that the model is asked to judge
    asks_to_keep: bool
    message: str
    added: tuple[str, ...]  # contents of new memories
    gone: frozenset[str]  # memories that were archived or got another text


class Judged(NamedTuple):
    what: str
    sample: dict[str, Any]
    answer: Answer
    is_right: bool


class _Say:
    def __init__(self) -> None:
        self.context = self.message = ""

    def __call__(self, context: str, message: str = "") -> None:
        self.context, self.message = context, message

    def hold(self, context: str, message: str) -> None: ...

    def explain(self, line: str) -> None: ...


class Project:
    """A repository and the shelf of someone who works in it."""

    def __init__(self, place: str, memories: list[dict[str, Any]]) -> None:
        self._folder, self._shelf = os.path.join(place, "repository"), os.path.join(place, "shelf")
        self._copy = os.path.join(place, "copy")
        subprocess.run(["git", "init", "-q", self._folder], check=True)
        self._ids: dict[str, str] = {}
        with NuggetShelf(self._shelf, folder=self._folder, at_work=True) as shelf, shelf.batch():
            for memory in memories:
                self._ids[write_memory(shelf, memory).id] = memory["id"]

    def ask(self, prompt: str, *, writes: bool) -> Answer:
        directory = self._shelf
        if writes:
            shutil.rmtree(self._copy, ignore_errors=True)
            directory = shutil.copytree(self._shelf, self._copy)
        before = self._contents(directory) if writes else {}
        say = _Say()
        sent = {"session_id": os.urandom(8).hex(), "cwd": self._folder, "prompt": prompt}
        event = event_of("user-prompt", "claude-code", sent)
        left = leave_orders(directory, read_orders(prompt), self._folder)
        handle_event(event, directory, say, left)
        after = self._contents(directory) if writes else {}
        shown = [text for text in say.context.splitlines() if text.startswith("- ")]
        asked = [text for text in say.context.splitlines() if KEEP_LINE in text]
        return Answer(
            self._named(shown),
            self._named(asked),
            bool(asked),
            say.message,
            tuple(after[i] for i in after.keys() - before.keys()),
            frozenset(self._ids[i] for i in before if i in self._ids and after.get(i) != before[i]),
        )

    def _named(self, lines: list[str]) -> frozenset[str]:
        text = "\n".join(lines)
        return frozenset(own for note_id, own in self._ids.items() if note_id in text)

    def _contents(self, directory: str) -> dict[str, str]:
        with NuggetShelf(directory, folder=self._folder) as shelf:
            return {note.id: note.content for note in shelf.list_notes()}


def write_memory(shelf: NuggetShelf, memory: dict[str, Any]) -> MemoryNote:
    title, content = memory["key_or_title"], memory["content"]
    if memory["kind"] == "fact":
        return shelf.remember(
            "project", title, content, project=shelf.project, source="explicit_user"
        )
    return shelf.create_note(
        "project",
        title,
        content,
        memory["tags"],
        project=shelf.project,
        source="explicit_user",
    )


def judge_set(name: str) -> Iterator[Judged]:
    samples = {path.stem: read_samples(path) for path in sorted((DATA / name).glob("*.jsonl"))}
    memories = samples.pop("shelves")
    names = list(dict.fromkeys(memory["project"] for memory in memories))
    with tempfile.TemporaryDirectory() as place:
        os.environ.update(HOME=place, MEMORY_REFLECTION_DAILY="0", NUGGETS_HOOK_SECONDS="60")
        projects = {
            own: Project(
                os.path.join(place, own), [one for one in memories if one["project"] == own]
            )
            for own in names
        }
        for kind, judge in JUDGES.items():
            for sample in samples[kind]:
                project = projects[sample.get("project", names[0])]
                answer = project.ask(sample["prompt"], writes=kind in WRITING)
                for what, is_right in judge(sample, answer):
                    yield Judged(what, sample, answer, is_right)


def read_samples(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]


Verdicts = Iterator[tuple[str, bool]]


def _judge_shown(kind: str) -> Any:
    def judge(sample: dict[str, Any], answer: Answer) -> Verdicts:
        wanted = set(sample["ids"])
        if wanted:
            yield f"{sample.get('kind', kind)}: shown its memory", wanted <= answer.shown
            yield "memories shown beside the wanted one", not answer.shown - wanted
        else:
            yield f"{kind}: shown nothing", not answer.shown

    return judge


def _judge_ordinary(sample: dict[str, Any], answer: Answer) -> Verdicts:
    yield from _judge_shown("ordinary")(sample, answer)
    yield "not to keep: no line", not answer.asks_to_keep and not answer.added
    yield from _stored(answer, is_right=False)


def _judge_keep(sample: dict[str, Any], answer: Answer) -> Verdicts:
    is_asked = answer.asks_to_keep or bool(answer.added)
    if sample["keep"]:
        yield "to keep: the model is asked, or it is kept", is_asked
    else:
        yield "not to keep: no line", not is_asked
    yield from _stored(answer, is_right=sample["keep"])


def _judge_change(sample: dict[str, Any], answer: Answer) -> Verdicts:
    before = sample["before_id"]
    if sample["replaces"]:
        what = "names the old value" if sample["names_old_value"] else "says something else"
        replaced = before in answer.gone
        yield f"change that {what}: replaced", replaced
        yield (
            f"change that {what}: replaced, or both handed to the model",
            replaced or before in answer.named,
        )
        yield from _stored(answer, is_right=answer.gone <= {before})
    else:
        yield "another subject: replaces nothing", not answer.gone
        yield from _stored(answer, is_right=not answer.gone)
    if answer.gone:
        yield (
            "what is replaced without the model is right",
            answer.gone == {before} and bool(sample["replaces"]),
        )


def _judge_order(sample: dict[str, Any], answer: Answer) -> Verdicts:
    expect = sample["expect"]
    if expect == "keep":
        is_kept = len(answer.added) == 1 and _is_said(answer.added[0], sample["prompt"])
        yield "orders: kept, with a receipt", is_kept and "kept: " in answer.message
    elif expect == "not-an-order":
        yield "no orders: nothing kept or said", not answer.added and not answer.message
    else:
        is_told = not answer.added and "not kept" in answer.message
        yield f"orders, {expect}: said and not kept", is_told
    yield from _stored(answer, is_right=expect == "keep")


def _is_said(kept: str, prompt: str) -> bool:
    """Does the memory consist of the prompt's own words?"""
    said = set(tokens(prompt))
    return kept in prompt or all(word in said for word in tokens(kept))


def _judge_forget(sample: dict[str, Any], answer: Answer) -> Verdicts:
    kind = sample["kind"]
    if kind == "explicit":
        meant = set(sample["ids"])
        yield "forget: the one that is meant", answer.gone == meant
        is_handed = not answer.gone and meant <= answer.named
        yield "forget: archived, or handed to the model", answer.gone == meant or is_handed
    elif kind == "ambiguous":
        candidates = set(sample["candidates"])
        yield (
            "forget, several meant: all named, none gone",
            (not answer.gone and candidates <= answer.named | answer.shown),
        )
    else:
        yield "forget, not about memory: nothing done", not answer.gone and not answer.message
    yield from _stored(answer, is_right=False)


def _stored(answer: Answer, *, is_right: bool) -> Verdicts:
    if answer.added:
        yield "what is stored without the model is right", is_right


JUDGES = {
    "wanted": _judge_shown("wanted"),
    "names": _judge_shown("names"),
    "ordinary": _judge_ordinary,
    "paths": _judge_shown("paths"),
    "keep": _judge_keep,
    "changes": _judge_change,
    "orders": _judge_order,
    "forget": _judge_forget,
}
WRITING = ("ordinary", "keep", "changes", "orders", "forget")
GOALS = {  # the least share
    "direct: shown its memory": 19 / 20,
    "reworded: shown its memory": 25 / 30,
    "hard: shown its memory": 3 / 10,
    "names: shown its memory": 0.9,
    "ordinary: shown nothing": 57 / 60,
    "paths: shown nothing": 39 / 40,
    "to keep: the model is asked, or it is kept": 0.85,
    "not to keep: no line": 0.9,
    "what is stored without the model is right": 0.97,
    "what is replaced without the model is right": 1.0,
    "change that names the old value: replaced, or both handed to the model": 1.0,
    "change that says something else: replaced, or both handed to the model": 1.0,
    "another subject: replaces nothing": 1.0,
}


def rows(quick: bool = False, sets: tuple[str, ...] = SETS, show: bool = False) -> Iterator[Row]:
    for name in sets:
        results: dict[str, list[bool]] = {}
        for judged in judge_set(name):
            results.setdefault(judged.what, []).append(judged.is_right)
            if show and not judged.is_right:
                _print(judged)
        for what in sorted(results, key=lambda what: (what not in GOALS, what)):
            right, count = sum(results[what]), len(results[what])
            goal = GOALS.get(what)
            row: Row = {
                "what": f"{name}: {what}, of {count}",
                "goal": f"≥ {goal:.0%}" if goal else "",
                "measured": f"{right} ({right / count:.0%})",
            }
            yield {**row, "reached": right >= round(goal * count)} if goal else row


def _print(judged: Judged) -> None:
    answer = judged.answer._asdict()
    got = {name: value for name, value in answer.items() if value}
    print(f"{judged.what}: {judged.sample['prompt']!r} {judged.sample.get('ids', '')} {got}")


# --- fitting -------------------------------------------------------------------------------------

BESIDE = 0.25  # what a memory shown beside the wanted one weighs: the model ignores it
OF_TASKS = 0.15  # what a prompt weighs that wants a memory, as one that states nothing
STEPS = 20  # of Newton's method
RIDGE = 0.4  # keeps the weights of rare features small
OF_WORDS = 1.0  # the same for words
LEAST_SETS = 3  # in which a word is said that gets a weight: others are names of projects


class Example(NamedTuple):
    set: str
    features: tuple[float, ...]
    is_so: bool
    weight: float
    words: frozenset[str] = frozenset()


def examples(name: str, *, of_statements: bool) -> Iterator[Example]:
    """What one set teaches: of a prompt and a memory, or of a prompt that may be a statement."""
    samples = {path.stem: read_samples(path) for path in sorted((DATA / name).glob("*.jsonl"))}
    memories = samples.pop("shelves")
    first = memories[0]["project"]
    for own in dict.fromkeys(memory["project"] for memory in memories):
        with NuggetShelf("memory:") as shelf:
            written = [(m["id"], write_memory(shelf, m)) for m in memories if m["project"] == own]
        for kind, sample in ((kind, one) for kind, some in samples.items() for one in some):
            if sample.get("project", first) != own:
                continue
            notes = [note for _, note in written]
            if not of_statements and "ids" in sample and kind != "forget":
                prompt = help_probability.read_prompt(sample["prompt"])
                wanted = set(sample["ids"])
                found = help_probability.features(prompt, notes)
                for (own_id, _), features in zip(written, found, strict=True):
                    if any(features[1:]):
                        weight = 1.0 if own_id in wanted or not wanted else BESIDE
                        yield Example(name, features, own_id in wanted, weight)
            elif of_statements and kind not in ("orders", "forget"):
                is_so, weight = _is_lasting(kind, sample)
                stated = orders.statements(sample["prompt"])
                prompt = help_probability.read_prompt(" ".join(stated))
                about = max(one.probability for one in help_probability.judge(prompt, notes))
                features = orders.lasting_features(stated, about)
                words = frozenset(orders.stated_words(stated))
                yield Example(name, features, is_so, weight, words)


def _is_lasting(kind: str, sample: dict[str, Any]) -> tuple[bool, float]:
    """Whether a prompt states something lasting, and what it weighs."""
    if kind == "keep":
        return bool(sample["keep"]), 1.0
    if kind == "changes":
        return True, float(sample["replaces"])
    return False, 1.0 if kind == "ordinary" else OF_TASKS


def fit(
    weights: dict[str, float], data: list[Example], words: dict[str, float] | None = None
) -> None:
    """Set the weights, and those of words, to those of a logistic regression on the data."""
    said: dict[str, set[str]] = {}
    for one in data if words is not None else ():
        for word in one.words:
            said.setdefault(word, set()).add(one.set)
    known = sorted(word for word, sets in said.items() if len(sets) >= LEAST_SETS)
    x = np.array([[*one.features, *(word in one.words for word in known)] for one in data])
    y = np.array([float(one.is_so) for one in data])
    counts = np.array([one.weight for one in data])
    ridge = np.array([*(RIDGE for _ in weights), *(OF_WORDS for _ in known)])
    found = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-x @ found))
        slope = x.T @ (counts * (p - y)) + ridge * found
        bend = (x * (counts * p * (1 - p))[:, None]).T @ x + np.diag(ridge)
        found -= np.linalg.solve(bend, slope)
    weights.update(zip(weights, map(float, found.round(2)), strict=False))
    if words is not None:
        words.clear()
        of_words = map(float, found[len(weights) :].round(1))
        words.update((word, w) for word, w in zip(known, of_words, strict=True) if w)


def fit_all(sets: tuple[str, ...]) -> None:
    """Fit both probabilities, the first one first: the second one uses it."""
    fit(help_probability.WEIGHTS, [one for s in sets for one in examples(s, of_statements=False)])
    stated = [one for s in sets for one in examples(s, of_statements=True)]
    fit(orders.LASTING_WEIGHTS, stated, lasting_words())


def write_words() -> None:
    """Write the weights of words to the file that the hooks read."""
    by_weight: dict[float, list[str]] = {}
    for word, weight in lasting_words().items():
        by_weight.setdefault(weight, []).append(word)
    text = "".join(f"[{weight}]\n{' '.join(by_weight[weight])}\n" for weight in sorted(by_weight))
    WORDS.write_text(WORDS_TITLE + text, encoding="utf-8")


def print_fits() -> int:
    for left_out in SETS:
        fit_all(tuple(name for name in SETS if name != left_out))
        for row in rows(sets=(left_out,)):
            print(line(row))
    fit_all(SETS)
    write_words()
    print(help_probability.WEIGHTS)
    print(orders.LASTING_WEIGHTS)
    return 0


def main() -> int:
    if "--fit" in sys.argv:
        return print_fits()
    names = tuple(word for word in sys.argv[1:] if not word.startswith("-")) or SETS
    measured = list(rows(sets=names, show="--list" in sys.argv))
    for row in measured:
        print(line(row))
    return 0 if all(row.get("reached", True) for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
