"""Commands on facts: remember, forget, facts; and what receipts of facts and notes say."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from nuggets.domain.records import MemoryNote, WrittenNote
from nuggets.errors import InvalidInput
from nuggets.filesystem.current_project import name_of
from nuggets.interfaces import cautions, pluralize, where_valid
from nuggets.interfaces.cli import Call, Outcome, argument, command, flag
from nuggets.interfaces.cli.run_command import (
    METADATA_ARGUMENTS,
    PURGE_ARGUMENT,
    metadata,
    text_or_stdin,
)
from nuggets.interfaces.cli.terminal_output import fit, one_line, style, table

if TYPE_CHECKING:
    from nuggets.maintenance.purge import Purged


@command(
    "remember",
    argument(
        "nugget", "the topic it belongs to, created if needed; alone: a text to store as a note"
    ),
    argument("key", "the key to recall it by", nargs="?"),
    argument("value", "the value to store; - reads it from standard input", nargs="?"),
    flag("--pin", "write it to MEMORY.md now, however often it is recalled"),
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
        f"({fact.stability}), valid {one_line(where_valid(fact))}.",
        *pin_lines,
        *caution_lines(call, fact),
        *contradiction_lines(fact),
    ]
    if fact.replaced_content is not None:
        lines.append(f"was: {fit(fact.replaced_content, 200)}")
    return Outcome(fact, lines)


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
    "forget",
    argument("nugget", "the nugget that holds it"),
    argument("key", "its exact key; case does not matter"),
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
    argument("nugget", "only those of this nugget (default: all)", nargs="?"),
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


# --- receipts, when and where a memory is valid, caveats ---------------------------------------


def contradiction_lines(note: WrittenNote) -> list[str]:
    """What a written memory contradicts, and the commands that settle it."""
    lines = []
    for other in note.contradicts:
        new, old = one_line(note.id), one_line(other.id)
        lines += [
            f"Contradicts {style(fit(other.title, 80), 'bold')} ({old}): {one_line(other.content)}",
            f"  Only the new one holds: nuggets note edit {new} --supersedes {old}",
            f"  Both hold: nuggets unlink {new} {old}",
        ]
    return lines


def caution_lines(call: Call, note: MemoryNote) -> list[str]:
    """That what was just written is not valid today, is archived, or what else is seldom meant."""
    lines = []
    why = call.shelf.invalidity(note)
    if why:
        from nuggets.interfaces.cli.search_recall_graph import validity_lines

        lines += [f"Caution: it is {why}.", *validity_lines(note)]
    if note.hidden:
        back = f"nuggets note restore {one_line(note.id)}"
        lines.append(f"Caution: it is archived, so nothing finds it. To bring it back: {back}")
    seldom_meant = cautions(note, insists=call.options.allow_secret)
    return [*lines, *(f"Caution: {one_line(text)}" for text in seldom_meant)]


def written_note_outcome(call: Call, note: WrittenNote, done: str = "Noted") -> Outcome:
    """The receipt of a new note, `done` before its name, or of one that existed already."""
    name = f"{one_line(note.title)} ({one_line(note.id)})"
    if not note.is_new:
        done = "Already stored, with other metadata now" if note.replaced else "Already stored"
        return Outcome(note, [f"{done}: {name}.", *caution_lines(call, note)])
    lines = [f"{done} {name}, valid {one_line(where_valid(note))}.", *caution_lines(call, note)]
    lines += contradiction_lines(note)
    titled = call.shelf.notes_titled(note.title)
    namesakes = [other for other in titled if other.id != note.id]
    if namesakes:
        lines.append(
            f"Another note has the same title: {one_line(namesakes[0].id)}. Name them by id, "
            "or merge them with `nuggets note merge`."
        )
    return Outcome(note, lines)


def purge_outcome(done: "Purged") -> Outcome:
    """What a purge erased; places are named by kind, and files by path."""
    where = [*(["the shelf"] if done.memories else []), "its history"]
    where += map(one_line, done.memory_files)
    if done.of_conversations:
        where.append(pluralize(len(done.of_conversations), "session record"))
    what = one_line(done.erased_items[0]) if done.memories else "its remains"
    places = " and ".join(filter(None, (", ".join(where[:-1]), where[-1])))
    lines = [f"Erased {what} from {places}."]
    if done.history[1:]:
        lines.append("Also deleted or written again, because they may have contained it:")
        lines += [f"  {one_line(path)}" for path in done.history[1:]]
    if done.merged_with:
        lines.append("Its text may also be in these notes; check them:")
        lines += [
            f"  {one_line(f'{note.kind} {note.title!r} ({note.id})')}" for note in done.merged_with
        ]
    if done.backups:
        lines.append("These backups cannot be read or written; delete them yourself:")
        lines += [f"  {one_line(path)}" for path in done.backups]
    lines.append(f"Not reached: {'; '.join(done.not_reached)}.")
    from nuggets.interfaces import json_responses

    return Outcome(json_responses.purge_result(done), lines)
