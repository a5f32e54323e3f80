"""Commands on facts: remember, recall, forget, facts."""

from argparse import ArgumentParser
from typing import TYPE_CHECKING

from nuggets import codec
from nuggets.facts.index import ALSO_TOLD
from nuggets.interfaces.cli.arguments import (
    metadata,
    metadata_arguments,
    purge_argument,
    session_argument,
    text_or_stdin,
)
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import fitted, one_line, printable, styled, table
from nuggets.interfaces.words import counted
from nuggets.project import name_of
from nuggets.records import MemoryNote, RecallResult

if TYPE_CHECKING:
    from nuggets.purging import Purged


def _remember_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("nugget", help="the topic it belongs to; made if need be")
    parser.add_argument("key", help="what you will ask for")
    parser.add_argument("value", help="what you want to hear; - reads it from standard input")
    metadata_arguments(parser)


def _remember(call: Call) -> Outcome:
    options = call.options
    value, given = text_or_stdin(options.value), metadata(call)
    revision = call.shelf.revision
    fact = call.shelf.remember(options.nugget, options.key, value, **given)
    lines = [
        f"Remembered {styled(one_line(fact.title), 'bold')} in {one_line(fact.nugget_name)} "
        f"({fact.stability}), {where_valid(fact)}."
    ]
    was = _replaced(call, fact, revision)
    if was:
        lines.append(f"was: {fitted(was, 200)}")
    return Outcome(codec.note_to_json(fact), lines)


def where_valid(note: MemoryNote) -> str:
    """For a receipt; the scope says what a memory is about, and this is another thing."""
    if note.project:
        return f"valid in this project ({one_line(name_of(note.project))})"
    return "valid everywhere"


def _replaced(call: Call, fact: MemoryNote, revision: int) -> str:
    """The value it had before this call; "" if it is new or has stayed the same."""
    if fact.updated_at == fact.created_at or call.shelf.revision == revision:
        return ""
    for commit in call.shelf.commits(revision):
        for before in commit.before.put:
            if before.id == fact.id and fact in commit.changes.put:
                return before.content if before.content != fact.content else ""
    return ""


def _recall_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="the key, a part of it, or nearly it")
    parser.add_argument("--nugget", help="ask only this one; otherwise the best match of all")
    session_argument(parser)


def _recall(call: Call) -> Outcome:
    from nuggets.interfaces import answers

    query = " ".join(call.options.query)
    result, notes = call.shelf.recall_or_search(query, call.options.nugget, call.session)
    shape = answers.recalled(call.shelf, result, notes)
    if result.found:
        return Outcome(shape, _answer_lines(call, result))
    if not notes:
        return Outcome(shape, ["Not found."], 1)
    from nuggets.interfaces.cli.graph import search_lines

    lines = ["No fact of that name, but these notes are about it:"]
    for note in notes:
        lines += search_lines(call, note)
    return Outcome(shape, lines)


def _answer_lines(call: Call, result: RecallResult) -> list[str]:
    lines = [] if result.match == "exact" else [f"Match: {result.match} {result.ratio:.2f}"]
    marks = ""
    if call.shelf.is_foreign(result):
        marks = f" (another project: {one_line(name_of(result.project))})"
    return [
        *lines,
        f"Found: {one_line(result.key)}",
        f"Value: {styled(printable(result.answer), 'bold')}",
        f"Confidence: {result.confidence:.2f}  Margin: {result.margin:.2f}",
        f"Nugget: {one_line(result.nugget)}{marks}",
        *_also_lines(call, result),
    ]


def _also_lines(call: Call, result: RecallResult) -> list[str]:
    """What else may have been meant."""
    others = [call.shelf.get_note(note_id, session=None) for note_id in result.also]
    names = [
        f"{fitted(other.title, 80)} ({one_line(other.nugget_name)}"
        + (f", {one_line(name_of(other.project))})" if call.shelf.is_foreign(other) else ")")
        for other in others
    ]
    more = ", and maybe more" if len(names) == ALSO_TOLD else ""
    return [f"Also: {', '.join(names)}{more}"] if names else []


def purged(done: "Purged") -> Outcome:
    """Where a memory was erased; for a person by kind, lest the whole journal seem to be gone."""
    from nuggets.interfaces import answers

    where = [*(["the shelf"] if done.memories else []), "its history"]
    where += map(one_line, done.memory_files)
    if done.of_conversations:
        where.append(counted(len(done.of_conversations), "session record"))
    what = one_line(done.erased[0]) if done.memories else "what was left of it"
    said = " and ".join(filter(None, (", ".join(where[:-1]), where[-1])))
    lines = [f"Erased {what} from {said}."]
    if done.history[1:]:
        lines.append("With it went all that was set aside:")
        lines += [f"  {one_line(path)}" for path in done.history[1:]]
    if done.merged_with:
        lines.append("It was merged, so its words may stand in others; look at them:")
        lines += [
            f"  {one_line(f'{one.kind} {one.title!r} ({one.id})')}" for one in done.merged_with
        ]
    if done.backups:
        lines.append("Backups that were made before may still have it; remove them by hand:")
        lines += [f"  {one_line(path)}" for path in done.backups]
    return Outcome(answers.purged(done), lines)


def _forget_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("nugget", help="the nugget it is in")
    parser.add_argument("key", help="its exact key; case does not matter")
    purge_argument(parser)


def _forget(call: Call) -> Outcome:
    from nuggets.interfaces import answers

    nugget, key = call.options.nugget, call.options.key
    if call.options.purge:
        return purged(call.shelf.purge_fact(nugget, key))
    gone = call.shelf.forget(nugget, key)
    shape = answers.forgotten(nugget, int(gone), key)
    if gone:
        return Outcome(shape, [f"Forgot {one_line(key)}."])
    lines = [f"Not found: there is no fact {one_line(key)!r} in {one_line(nugget)}."]
    near = call.shelf.recall(key, nugget, session=None)
    if near.found and not call.shelf.is_foreign(near):
        lines.append(f"Did you mean {one_line(near.key)!r}?")
    return Outcome(shape, lines, 1)


def _facts_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("nugget", help="whose facts to show")


def _facts(call: Call) -> Outcome:
    from nuggets.interfaces import answers

    facts = call.shelf.facts(call.options.nugget)
    rows = [
        (
            fact.title + (f" ({name_of(fact.project)})" if call.shelf.is_foreign(fact) else ""),
            str(fact.hits),
            fact.content,
        )
        for fact in facts
    ]
    lines = table(("KEY", "HITS", "VALUE"), rows) if rows else ["No facts yet."]
    return Outcome([answers.fact(fact) for fact in facts], lines)


COMMANDS = {
    "remember": Command(
        (
            'nuggets remember locations "auth handler" "src/auth/middleware.ts:47"',
            'nuggets remember project "test cmd" "pytest tests/ -v"',
            'nuggets remember prefs "style" "2-space indent, no semicolons"',
            'git log -1 --format=%B | nuggets remember project "last commit" -',
        ),
        _remember,
        _remember_arguments,
        summary="store a fact; a key that is known gets the new value",
        changes=True,
    ),
    "recall": Command(
        (
            'nuggets recall "auth handler"',
            "nuggets recall auth handlr",
            'nuggets recall "test cmd" --nugget project --json',
        ),
        _recall,
        _recall_arguments,
    ),
    "forget": Command(
        (
            'nuggets forget locations "auth handler"',
            'nuggets forget project "api token" --purge    # from the history as well',
        ),
        _forget,
        _forget_arguments,
        changes=True,
    ),
    "facts": Command(
        ("nuggets facts project", "nuggets facts project --json"),
        _facts,
        _facts_arguments,
    ),
}
