"""Commands on notes: note add, show, edit, archive, restore, delete, merge, list; link, unlink."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from nuggets.domain.records import MemoryNote, WrittenNote
from nuggets.errors import InvalidInput
from nuggets.filesystem.atomic_files import read_if_plain
from nuggets.filesystem.current_project import distinguish_projects, name_of
from nuggets.interfaces import json_responses, pluralize
from nuggets.interfaces.cli import Call, Outcome, argument, command, flag
from nuggets.interfaces.cli.facts import (
    caution_lines,
    contradiction_lines,
    purge_outcome,
    written_note_outcome,
)
from nuggets.interfaces.cli.run_command import (
    FILTER_ARGUMENTS,
    METADATA_ARGUMENTS,
    NAME_HELP,
    PURGE_ARGUMENT,
    SESSION_ARGUMENT,
    filters,
    metadata,
    text_or_stdin,
)
from nuggets.interfaces.cli.search_recall_graph import caveat_lines, validity_lines
from nuggets.interfaces.cli.terminal_output import escape_controls, one_line, style, table, warn


@command(
    "note add",
    argument("nugget", "the topic it belongs to; created if needed"),
    argument("title", "what it is about, in a few words"),
    argument("content", "- reads standard input; without it your $EDITOR opens", nargs="?"),
    argument("--tag", "may be repeated", action="append", default=[]),
    *METADATA_ARGUMENTS,
    examples=(
        'nuggets note add project "Auth middleware" "In src/auth. Uses JWT." --tag auth',
        'nuggets note add project "Release steps" - < RELEASING.md',
        'nuggets note add project "Ideas"    # opens $EDITOR',
    ),
)
def _add(call: Call) -> Outcome:
    options = call.options
    fields = metadata(call)

    def create(content: str) -> WrittenNote:
        return call.shelf.create_note(options.nugget, options.title, content, options.tag, **fields)

    if options.content is None:
        with suppress(_RolledBack), call.shelf.batch():
            create("text")  # so that a wrong title or field is told before the editor opens
            raise _RolledBack
        note = save_from_editor("", create)
    else:  # an empty text is allowed only if it was given as such
        note = create(options.content and _text(options.content))
    return written_note_outcome(call, note)


class _RolledBack(Exception):
    """Rolls a batch back."""


_NAME_ARGUMENTS = (
    argument("note", NAME_HELP),
    argument("--nugget", "search for the title only in this nugget"),
)


@command(
    "note show",
    *_NAME_ARGUMENTS,
    SESSION_ARGUMENT,
    examples=(
        'nuggets note show "Auth middleware"',
        "nuggets note show note-project-1a2b3c4d --json",
    ),
)
def _show(call: Call) -> Outcome:
    name, nugget = call.options.note, call.options.nugget
    before = call.shelf.get_note(name, nugget, session=None)
    note = call.shelf.get_note(name, nugget, call.session)
    lines = _note_lines(call, note, before.hits)
    return Outcome(json_responses.shown_note(call.shelf, note), lines)


def _note_lines(call: Call, note: MemoryNote, hits_before: int) -> list[str]:
    """All fields of a note; `hits_before`: without this look at it."""
    state = " (archived)" if note.hidden else ""
    lines = [
        style(one_line(note.title), "bold") + state,
        style(one_line(f"{note.id} in {note.nugget_name}"), "dim"),
        "",
        escape_controls(note.content),
        "",
        f"{note.kind}, scope {note.scope}, type {note.type}, {note.stability}, "
        f"from {note.source}, "
        f"confidence {note.confidence:g}",
        f"tags: {one_line(', '.join(note.tags))}",
        f"recalled in {pluralize(hits_before, 'session')} before this; "
        f"changed {one_line(note.updated_at)}",
        *validity_lines(note),
        *caveat_lines(call.shelf, note),
    ]
    if note.project:
        which = "another project" if call.shelf.is_foreign(note) else "project"
        name = one_line(name_of(note.project))
        lines.append(f"belongs to {which} {name}: {one_line(note.project)}")
    if note.links:
        lines += ["", "links:"]
        linked = call.shelf.get_notes(link.to for link in note.links)
        for link in note.links:
            target = linked.get(link.to)
            title = one_line(target.title) if target else "?"
            title += " (archived)" if target and target.hidden else ""
            lines.append(f"  {title}  ({one_line(link.reason)})  {style(one_line(link.to), 'dim')}")
    return lines


@command(
    "note edit",
    *_NAME_ARGUMENTS,
    argument("content", "- reads standard input; without any change $EDITOR opens", nargs="?"),
    argument("--title", "a new title; of a fact: a new key"),
    argument("--tag", "replaces its tags; may be repeated", action="append"),
    flag("--moved", "name the places that files it names moved to"),
    *METADATA_ARGUMENTS,
    examples=(
        'nuggets note edit "Auth middleware"    # opens $EDITOR',
        'nuggets note edit "Auth middleware" "Uses RS256 now." --tag auth --tag jwt',
        "nuggets note edit note-project-1a2b3c4d --title 'Auth' --stability temporary",
        'nuggets note edit "Use pnpm" --supersedes "Use npm"    # the older rule is archived',
    ),
)
def _edit(call: Call) -> Outcome:
    options, fields = call.options, metadata(call)
    note = call.shelf.get_note(options.note, options.nugget)

    def change(content: str | None) -> WrittenNote:
        return call.shelf.edit_note(
            *(options.note, content, options.title, options.tag),
            nugget=options.nugget,
            expected=note.updated_at,
            **fields,
        )

    if options.moved:
        after = change(_with_new_places(call, note))
    elif options.content is not None:
        after = change(_text(options.content))
    elif options.title is None and options.tag is None and not fields:
        after = save_from_editor(note.content, change)
    else:
        after = change(None)
    verb = "No change to" if after.replaced is None else "Changed"
    lines = [f"{verb} {_name(after)}.", *caution_lines(call, after)]
    lines += contradiction_lines(after)
    return Outcome(after, lines)


def _with_new_places(call: Call, note: MemoryNote) -> str:
    """The text with the new place of each file that it names and that was moved."""
    content = note.content
    for old, new in call.shelf.find_moved_files(note).items():
        content = content.replace(old, new)
    if content == note.content:
        raise InvalidInput("no file that its text names was moved; nothing was changed")
    return content


def _text(value: str) -> str:
    """The text, or stdin; an empty one is refused as an unset variable or a broken pipe."""
    text = text_or_stdin(value)
    if not text.strip():
        raise InvalidInput("the text is empty; nothing was changed")
    return text


@command("note archive", *_NAME_ARGUMENTS, examples=('nuggets note archive "Old plan"',))
def _archive(call: Call) -> Outcome:
    note = call.shelf.delete_note(call.options.note, nugget=call.options.nugget)
    return Outcome(note, [f"Archived {_name(note)}; `nuggets note restore` restores it."])


@command("note restore", *_NAME_ARGUMENTS, examples=('nuggets note restore "Old plan"',))
def _restore(call: Call) -> Outcome:
    note = call.shelf.restore_note(call.options.note, call.options.nugget)
    return Outcome(note, [f"Restored {_name(note)}."])


@command(
    "note delete",
    *_NAME_ARGUMENTS,
    flag("--hard", "drop it with every link to it, instead of archiving it"),
    PURGE_ARGUMENT,
    examples=(
        'nuggets note delete "Old plan"',
        'nuggets note delete "Old plan" --hard',
        "nuggets note delete note-project-1a2b3c4d --purge    # from the history as well",
    ),
)
def _delete(call: Call) -> Outcome:
    if call.options.purge:
        return purge_outcome(call.shelf.purge(call.options.note, call.options.nugget))
    if not call.options.hard:
        return _archive(call)
    note = call.shelf.delete_note(call.options.note, hard=True, nugget=call.options.nugget)
    return Outcome({"deleted": 1, "id": note.id}, [f"Deleted {_name(note)} and every link to it."])


@command(
    "note merge",
    argument("target", f"the note that stays: {NAME_HELP}"),
    argument("source", "the note that is merged into it and archived; it cannot be a fact"),
    argument("--reason", "why they belong together", default=""),
    examples=('nuggets note merge "Auth middleware" "Auth notes" --reason "same topic"',),
)
def _merge(call: Call) -> Outcome:
    names = (call.options.target, call.options.source)
    target, source = (call.shelf.get_note(name, session=None) for name in names)
    note = call.shelf.merge_notes(target.id, source.id, call.options.reason)
    lines = [f"Merged into {_name(note)}."]
    if source.project != target.project:
        homes = distinguish_projects(source.project, target.project)
        was, now = (f"in {one_line(home)}" if home else "everywhere" for home in homes)
        lines.append(f"The merged text was valid {was}, and is now valid {now}.")
    return Outcome(note, lines)


def _name(note: MemoryNote) -> str:
    return f"{style(one_line(note.title), 'bold')} ({one_line(note.id)})"


@command(
    "note list",
    *FILTER_ARGUMENTS,
    examples=("nuggets note list --nugget project", "nuggets note list --tag auth --all --json"),
)
def _list(call: Call) -> Outcome:
    notes = call.shelf.list_notes(**filters(call))
    rows = [
        (note.id, note.kind, note.scope, str(note.hits), note.title + _marks(call, note))
        for note in notes
    ]
    lines = table(("ID", "KIND", "SCOPE", "HITS", "TITLE"), rows) if rows else ["No notes."]
    return Outcome(notes, lines)


def _marks(call: Call, note: MemoryNote) -> str:
    home = f" ({name_of(note.project)})" if call.shelf.is_foreign(note) else ""
    return home + (" (archived)" if note.hidden else "")


# --- link, unlink ------------------------------------------------------------------------------


_PAIR_ARGUMENTS = (
    argument("a", f"one note: {NAME_HELP}"),
    argument("b", "the other note"),
    argument("reason", "how they are related", nargs="?"),
)


@command(
    "link",
    *_PAIR_ARGUMENTS,
    examples=('nuggets link "Auth middleware" "JWT token format" "auth uses JWT tokens"',),
)
def _link(call: Call) -> Outcome:
    a, b, reason = call.options.a, call.options.b, call.options.reason or ""
    added = call.shelf.add_link(a, b, reason)
    shape = json_responses.link_result(call.shelf, a, b, added)
    return Outcome(shape, ["Linked." if added else "Already linked."])


@command(
    "unlink",
    *_PAIR_ARGUMENTS,
    examples=('nuggets unlink "Auth middleware" "JWT token format"',),
)
def _unlink(call: Call) -> Outcome:
    gone = call.shelf.remove_link(call.options.a, call.options.b, call.options.reason)
    if gone:
        return Outcome({"removed": True}, ["Unlinked."])
    return Outcome({"removed": False}, ["Not found: there is no such link."], 1)


# --- $EDITOR; if saving fails, the written text stays in a file --------------------------------


T = TypeVar("T")


def save_from_editor(text: str, save: Callable[[str], T]) -> T:
    """Edit the text in $EDITOR, then save it; text that cannot be saved stays in a file."""
    import shutil
    import tempfile

    editor = _editor()
    directory = tempfile.mkdtemp(prefix="nuggets-")
    path = os.path.join(directory, "note.md")
    is_saved = False
    try:
        saved = save(_run_editor(editor, path, text))
        is_saved = True
        return saved
    finally:
        if is_saved or read_if_plain(path).strip() in (text.encode().strip(), b""):
            shutil.rmtree(directory)
        else:
            warn(f"What you wrote is kept in {path}")


def _editor() -> list[str]:
    import shlex

    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        words = shlex.split(command)
    except ValueError as problem:
        raise InvalidInput(f"$EDITOR is not a valid command: {problem}: {command}") from None
    if not words:
        raise InvalidInput(
            "the content is missing: give it after the title, - for standard input, or set $EDITOR"
        )
    if sys.stdin is None or not sys.stdin.isatty():
        raise InvalidInput("give the content, or - for standard input: an editor needs a terminal")
    return words


def _run_editor(editor: list[str], path: str, text: str) -> str:
    import signal
    import subprocess

    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    # Ctrl-C reaches both processes. A handler, because the editor would inherit SIG_IGN.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        done = subprocess.run([*editor, path], check=False)
        with open(path, encoding="utf-8", newline="") as file:
            written = file.read()
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"{editor[0]} left no text: {problem}; nothing was changed") from None
    finally:
        signal.signal(signal.SIGINT, before)
    if done.returncode or not written.strip():
        why = "ended with an error" if done.returncode else "left an empty text"
        raise InvalidInput(f"{editor[0]} {why}; nothing was changed")
    return written
