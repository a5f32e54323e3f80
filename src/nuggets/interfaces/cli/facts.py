"""Commands on facts: remember, recall, forget, facts."""

from collections.abc import Callable, Sequence
from typing import Any

from nuggets.domain import codec, times
from nuggets.domain.records import MemoryNote, RecallResult, SearchNotesResult, WrittenNote
from nuggets.errors import InvalidInput
from nuggets.facts.fact_index import MOST_ALTERNATIVES
from nuggets.filesystem.current_project import name_of
from nuggets.interfaces.cli import Call, Outcome, argument, command
from nuggets.interfaces.cli.run_command import (
    METADATA_ARGUMENTS,
    PURGE_ARGUMENT,
    SESSION_ARGUMENT,
    caution_lines,
    caveat_lines,
    contradiction_lines,
    metadata,
    purge_outcome,
    text_or_stdin,
    validity_lines,
    where_valid,
    written_note_outcome,
)
from nuggets.interfaces.cli.terminal_output import escape_controls, fit, one_line, style, table
from nuggets.language.text import fold_case


@command(
    "remember",
    argument(
        "nugget",
        help="the topic it belongs to, created if needed; alone: a text to store as a note",
    ),
    argument("key", nargs="?", help="the key to recall it by"),
    argument("value", nargs="?", help="the value to store; - reads it from standard input"),
    argument(
        "--pin", action="store_true", help="write it to MEMORY.md now, however often it is recalled"
    ),
    *METADATA_ARGUMENTS,
    examples=(
        'nuggets remember locations "auth handler" "src/auth/middleware.ts:47"',
        'nuggets remember project "test cmd" "pytest tests/ -v"',
        'nuggets remember prefs "style" "2-space indent, no semicolons"',
        'git log -1 --format=%B | nuggets remember project "last commit" -',
        'nuggets remember project "release branch" "main" --pin    # also in MEMORY.md',
        'nuggets remember project "freeze" "no deploys" --valid-until 2027-01-02',
        'nuggets remember "The mailer retries three times."    # a note of the nugget notes',
    ),
    summary="store a fact (an existing key gets the new value), or a single text as a note",
)
def _remember(call: Call) -> Outcome:
    options = call.options
    if options.key is None:
        return _remember_text(call)
    if options.value is None:
        raise InvalidInput("a value is missing: give nugget, key and value, or one text alone")
    value, fields = text_or_stdin(options.value), metadata(call)
    fact, pin_lines = _store(
        call, lambda: call.shelf.remember(options.nugget, options.key, value, **fields)
    )
    lines = [
        f"Remembered {style(one_line(fact.title), 'bold')} in {one_line(fact.nugget_name)} "
        f"({fact.stability}), {where_valid(fact)}.",
        *pin_lines,
        *caution_lines(call, fact),
        *contradiction_lines(fact),
    ]
    if fact.replaced_content is not None:
        lines.append(f"was: {fit(fact.replaced_content, 200)}")
    if not options.json:
        return Outcome(None, lines)
    from nuggets.interfaces import json_responses

    return Outcome(json_responses.written_fact(fact), lines)


def _remember_text(call: Call) -> Outcome:
    """A single text becomes a note of the default nugget."""
    from nuggets.domain.names_and_tags import DEFAULT_NUGGET, title_from_text

    text = text_or_stdin(call.options.nugget)
    if not text.strip():
        raise InvalidInput("the text is empty; nothing was stored")
    if call.shelf.has(call.options.nugget.strip()):
        raise InvalidInput(
            f"a key and a value are missing: {text.strip()!r:.80} is a nugget. "
            "Give nugget, key and value, or a text that is no nugget's name"
        )
    title, fields = title_from_text(text), metadata(call)
    note, pin_lines = _store(
        call, lambda: call.shelf.create_note(DEFAULT_NUGGET, title, text, **fields)
    )
    outcome = written_note_outcome(call, note, f"Stored as a note of nugget {note.nugget_name}:")
    return outcome._replace(lines=[*outcome.lines, *pin_lines])


def _store(call: Call, write: Callable[[], WrittenNote]) -> tuple[WrittenNote, list[str]]:
    """Store a memory; with --pin also write it to the memory file, as one entry of the history."""
    if not call.options.pin:
        return write(), []
    path = call.shelf.memory_path()
    with call.shelf.batch():  # a memory that cannot be pinned is not stored either
        note = write()
        call.shelf.pin(note.id)
    call.shelf.promote(path)
    if call.shelf.is_promoted(note.id):
        return note, [f"Pinned to {one_line(path)}"]
    return note, [f"Not in {one_line(path)}: `nuggets promote --explain` says why."]


@command(
    "recall",
    argument("query", nargs="+", help="the key, part of it, or a misspelling"),
    argument("--nugget", help="search only this nugget (default: all)"),
    argument("--as-of", help="what was true on this day, or at this moment in ISO 8601"),
    argument(
        "--why", action="store_true", help="also say how the key matched and the value was decoded"
    ),
    SESSION_ARGUMENT,
    examples=(
        'nuggets recall "auth handler"',
        "nuggets recall auth handlr --why",
        'nuggets recall "test cmd" --nugget project --json',
        'nuggets recall "deploy host" --as-of 2026-10-01',
    ),
)
def _recall(call: Call) -> Outcome:
    query = " ".join(call.options.query)
    if call.options.as_of is not None:
        result = call.shelf.recall(query, call.options.nugget, as_of=call.options.as_of)
        lines = _answer_lines(call, result) if result.found else ["Not found."]
        return Outcome(codec.to_json(result), lines, 0 if result.found else 1)
    with call.shelf.snapshot():
        result, notes = call.shelf.recall_or_search(query, call.options.nugget, call.session)
        shape = _recall_json(call, result, notes) if call.options.json else None
        if result.found:
            return Outcome(shape, _answer_lines(call, result))
    archived = _archived_lines(call, query)
    if not notes:
        return Outcome(shape, ["Not found.", *archived], 1)
    from nuggets.interfaces.cli.search_and_graph import search_lines

    answer_lines, nearest_lines = (
        [line for note in notes if note.clear_answer is clear for line in search_lines(call, note)]
        for clear in (True, False)
    )
    first = ["No fact has that key. A note answers:"] if answer_lines else ["Not found."]
    nearest = ["Nearest:", *nearest_lines] if nearest_lines else []
    return Outcome(shape, [*first, *archived, *answer_lines, *nearest], 0 if answer_lines else 1)


def _recall_json(
    call: Call, result: RecallResult, notes: Sequence[SearchNotesResult]
) -> dict[str, Any]:
    from nuggets.interfaces import json_responses

    return json_responses.recall_result(call.shelf, result, notes)


def _archived_lines(call: Call, query: str) -> list[str]:
    """Which archived memories have all that was asked for, and how they come back."""
    from nuggets.operations.session_notes import is_session_note

    if not query.strip():
        return []
    found = call.shelf.search_notes(
        query, nugget=call.options.nugget, include_hidden=True, session=None
    )
    fitting = (
        result.note
        for result in found  # a server does not say how much a note states
        if result.stated == 1.0 or fold_case(result.note.title) == fold_case(query)
    )
    return [
        f"{fit(note.title, 80)} is archived; bring it back: "
        f"nuggets note restore {one_line(note.id)}"
        for note in fitting
        if note.hidden and not is_session_note(note)
    ]


def _answer_lines(call: Call, result: RecallResult) -> list[str]:
    note = call.shelf.get_notes([result.note_id]).get(result.note_id)
    marks = f", {_format_age(note)}" if note is not None else ""
    if call.shelf.is_foreign(result):
        marks += f" (another project: {one_line(name_of(result.project))})"
    doubt = _doubt(result)
    return [
        f"Found: {one_line(result.key)}",
        f"Value: {style(escape_controls(result.answer), 'bold')}",
        f"{'Likely' if doubt else 'Sure'}: {100 * result.probability:.0f} %{doubt}",
        f"Nugget: {one_line(result.nugget)}{marks}",
        *validity_lines(result),
        *caveat_lines(call.shelf, note),
        *_also_lines(call, result),
        *(_why_lines(result) if call.options.why else ()),
    ]


def _format_age(note: MemoryNote) -> str:
    return f"stored {times.ago(note.updated_at, times.now())}"


def _doubt(result: RecallResult) -> str:
    """Why an answer may not be what was meant."""
    if result.doubt:
        return f" ({one_line(result.doubt)})"
    return " (others fit as well)" if result.also and not result.is_clear else ""


def _why_lines(result: RecallResult) -> list[str]:
    return [
        f"Match: {result.match} {result.ratio:.2f}",
        f"Decoded: confidence {result.confidence:.2f}, margin {result.margin:.2f}",
    ]


def _also_lines(call: Call, result: RecallResult) -> list[str]:
    """Other facts that match the query."""
    notes = [call.shelf.get_note(note_id, session=None) for note_id in result.also]
    names = [
        f"{fit(note.title, 80)} ({one_line(note.nugget_name)}"
        + (f", {one_line(name_of(note.project))})" if call.shelf.is_foreign(note) else ")")
        for note in notes
    ]
    more = ", and maybe more" if len(names) == MOST_ALTERNATIVES else ""
    return [f"Also: {', '.join(names)}{more}"] if names else []


@command(
    "forget",
    argument("nugget", help="the nugget that holds it"),
    argument("key", help="its exact key; case does not matter"),
    PURGE_ARGUMENT,
    examples=(
        'nuggets forget locations "auth handler"',
        'nuggets forget project "api token" --purge    # from the history as well',
    ),
)
def _forget(call: Call) -> Outcome:
    from nuggets.interfaces import json_responses

    nugget, key = call.options.nugget, call.options.key
    if call.options.purge:
        return purge_outcome(call.shelf.purge_fact(nugget, key))
    gone = call.shelf.forget(nugget, key)
    shape = json_responses.forget_result(nugget, int(gone), key)
    if gone:
        return Outcome(shape, [f"Forgot {one_line(key)}."])
    lines = [f"Not found: there is no fact {one_line(key)!r} in {one_line(nugget)}."]
    near = call.shelf.recall(key, nugget, session=None)
    if near.found and not call.shelf.is_foreign(near):
        lines.append(f"Did you mean {one_line(near.key)!r}?")
    return Outcome(shape, lines, 1)


@command(
    "facts",
    argument("nugget", nargs="?", help="only those of this nugget (default: all)"),
    examples=("nuggets facts", "nuggets facts project --json"),
)
def _facts(call: Call) -> Outcome:
    from nuggets.interfaces import json_responses

    nugget = call.options.nugget
    if nugget is None:
        facts = sorted(call.shelf.list_notes(kind="fact"), key=lambda fact: fact.nugget_name)
    else:
        facts = list(call.shelf.facts(nugget))
    rows = [
        (
            *((fact.nugget_name,) if nugget is None else ()),
            fact.title + (f" ({name_of(fact.project)})" if call.shelf.is_foreign(fact) else ""),
            str(fact.hits),
            fact.content,
        )
        for fact in facts
    ]
    head = (*(("NUGGET",) if nugget is None else ()), "KEY", "HITS", "VALUE")
    lines = table(head, rows) if rows else ["No facts yet."]
    return Outcome([json_responses.fact(fact) for fact in facts], lines)
