"""Commands on single notes: note add, show, edit, hide, restore, delete, merge, list."""

from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import suppress

from nuggets import codec
from nuggets.errors import InvalidInput
from nuggets.interfaces.cli.arguments import (
    NAME_HELP,
    filter_arguments,
    filters,
    metadata,
    metadata_arguments,
    purge_argument,
    session_argument,
    text_or_stdin,
)
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.editor import saved_from_editor
from nuggets.interfaces.cli.facts import purged, where_valid
from nuggets.interfaces.cli.printing import one_line, printable, styled, table
from nuggets.interfaces.words import counted
from nuggets.project import name_of, told_apart
from nuggets.records import MemoryNote


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("nugget", help="the topic it belongs to; made if need be")
    parser.add_argument("title", help="what it is about, in a few words")
    parser.add_argument(
        "content", nargs="?", help="- reads standard input; without it your $EDITOR opens"
    )
    parser.add_argument("--tag", action="append", default=[], help="may be repeated")
    metadata_arguments(parser)


def _add(call: Call) -> Outcome:
    options = call.options
    given = metadata(call)

    def create(content: str) -> MemoryNote:
        return call.shelf.create_note(options.nugget, options.title, content, options.tag, **given)

    if options.content is None:
        _rehearse(call, create)
        note = saved_from_editor("", create)
    else:  # a title may be all there is to say yet, but not by an accident
        note = create(options.content and _text(options.content))
    lines = [f"Noted {_name(note)}, {where_valid(note)}."]
    others = call.shelf.namesakes(note)
    if others:
        lines.append(
            f"There is another note of that title: {one_line(others[0].id)}. From now on name them "
            "by their ids, or merge them with `nuggets note merge`."
        )
    return Outcome(codec.note_to_json(note), lines)


class _Rehearsed(Exception):
    """Ends a rehearsal."""


def _rehearse(call: Call, create: Callable[[str], MemoryNote]) -> None:
    """Refuse what is wrong before anybody writes a text for it; nothing of this is kept."""
    with suppress(_Rehearsed), call.shelf.batch():
        create("text")
        raise _Rehearsed


def _name_argument(parser: ArgumentParser) -> None:
    parser.add_argument("note", help=NAME_HELP)
    parser.add_argument("--nugget", help="look for the title in this one only")


def _show_arguments(parser: ArgumentParser) -> None:
    _name_argument(parser)
    session_argument(parser)


def _show(call: Call) -> Outcome:
    note = call.shelf.get_note(call.options.note, call.options.nugget, call.session)
    return Outcome(codec.note_to_json(note), note_lines(call, note))


def note_lines(call: Call, note: MemoryNote) -> list[str]:
    """A whole note for a person."""
    state = " (archived)" if note.hidden else ""
    lines = [
        styled(one_line(note.title), "bold") + state,
        styled(one_line(f"{note.id} in {note.nugget_name}"), "dim"),
        "",
        printable(note.content),
        "",
        f"{note.kind}, scope {note.scope}, type {note.type}, {note.stability}, "
        f"from {note.source}, "
        f"confidence {note.confidence:g}",
        f"tags: {one_line(', '.join(note.tags))}",
        f"recalled in {counted(note.hits, 'session')}; changed {one_line(note.updated_at)}",
    ]
    if call.shelf.is_foreign(note):
        lines.append(f"belongs to another project: {one_line(note.project)}")
    if note.links:
        lines += ["", "links:"]
        linked = call.shelf.get_notes(link.to for link in note.links)
        for link in note.links:
            other = linked.get(link.to)
            title = one_line(other.title) if other else "?"
            title += " (archived)" if other and other.hidden else ""
            lines.append(
                f"  {title}  ({one_line(link.reason)})  {styled(one_line(link.to), 'dim')}"
            )
    return lines


def _edit_arguments(parser: ArgumentParser) -> None:
    _name_argument(parser)
    parser.add_argument(
        "content", nargs="?", help="- reads standard input; without any change $EDITOR opens"
    )
    parser.add_argument("--title", help="a new title; of a fact: a new key")
    parser.add_argument("--tag", action="append", help="its tags from now on; may be repeated")
    metadata_arguments(parser)


def _edit(call: Call) -> Outcome:
    options, given = call.options, metadata(call)
    note = call.shelf.get_note(options.note, options.nugget)

    def change(content: str | None) -> MemoryNote:
        return call.shelf.edit_note(
            note.id, content, options.title, options.tag, expected=note.updated_at, **given
        )

    if options.content is not None:
        after = change(_text(options.content))
    elif options.title is None and options.tag is None and not given:
        after = saved_from_editor(note.content, change)
    else:
        after = change(None)
    said = "Nothing to change in" if after == note else "Changed"
    return Outcome(codec.note_to_json(after), [f"{said} {_name(after)}."])


def _text(given: str) -> str:
    """What is given or piped in; nothing at all is a pipe that broke, or a variable not set."""
    text = text_or_stdin(given)
    if not text.strip():
        raise InvalidInput("the text is empty; nothing was changed")
    return text


def _hide(call: Call) -> Outcome:
    note = call.shelf.delete_note(call.options.note, nugget=call.options.nugget)
    return Outcome(codec.note_to_json(note), [f"Archived {_name(note)}; restore brings it back."])


def _restore(call: Call) -> Outcome:
    note = call.shelf.restore_note(call.options.note, call.options.nugget)
    return Outcome(codec.note_to_json(note), [f"Restored {_name(note)}."])


def _delete_arguments(parser: ArgumentParser) -> None:
    _name_argument(parser)
    purge_argument(parser)


def _delete(call: Call) -> Outcome:
    if call.options.purge:
        return purged(call.shelf.purge(call.options.note, call.options.nugget))
    note = call.shelf.delete_note(call.options.note, hard=True, nugget=call.options.nugget)
    return Outcome({"deleted": 1, "id": note.id}, [f"Deleted {_name(note)} and every link to it."])


def _merge_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("target", help=f"the note that stays: {NAME_HELP}")
    parser.add_argument(
        "source", help="the note that goes into it and is archived; no fact, its key would be lost"
    )
    parser.add_argument("--reason", default="", help="why they belong together")


def _merge(call: Call) -> Outcome:
    names = (call.options.target, call.options.source)
    target, source = (call.shelf.get_note(name, session=None) for name in names)
    note = call.shelf.merge_notes(target.id, source.id, call.options.reason)
    lines = [f"Merged into {_name(note)}."]
    if source.project != target.project:
        homes = told_apart(source.project, target.project)
        was, now = (f"in {one_line(home)}" if home else "everywhere" for home in homes)
        lines.append(f"What went into it was valid {was}, and now is {now}.")
    return Outcome(codec.note_to_json(note), lines)


def _list(call: Call) -> Outcome:
    found = call.shelf.list_notes(**filters(call))
    rows = [(note.id, note.kind, str(note.hits), note.title + _marks(call, note)) for note in found]
    lines = table(("ID", "KIND", "HITS", "TITLE"), rows) if rows else ["No notes."]
    return Outcome([codec.note_to_json(note) for note in found], lines)


def _marks(call: Call, note: MemoryNote) -> str:
    home = f" ({name_of(note.project)})" if call.shelf.is_foreign(note) else ""
    return home + (" (archived)" if note.hidden else "")


def _name(note: MemoryNote) -> str:
    return f"{styled(one_line(note.title), 'bold')} ({one_line(note.id)})"


COMMANDS = {
    "note add": Command(
        (
            'nuggets note add project "Auth middleware" "In src/auth. Uses JWT." --tag auth',
            'nuggets note add project "Release steps" - < RELEASING.md',
            'nuggets note add project "Ideas"    # opens $EDITOR',
        ),
        _add,
        _add_arguments,
        changes=True,
    ),
    "note show": Command(
        ('nuggets note show "Auth middleware"', "nuggets note show note-project-1a2b3c4d --json"),
        _show,
        _show_arguments,
    ),
    "note edit": Command(
        (
            'nuggets note edit "Auth middleware"    # opens $EDITOR',
            'nuggets note edit "Auth middleware" "Uses RS256 now." --tag auth --tag jwt',
            "nuggets note edit note-project-1a2b3c4d --title 'Auth' --stability temporary",
        ),
        _edit,
        _edit_arguments,
        changes=True,
    ),
    "note hide": Command(
        ('nuggets note hide "Old plan"',),
        _hide,
        _name_argument,
        changes=True,
    ),
    "note restore": Command(
        ('nuggets note restore "Old plan"',),
        _restore,
        _name_argument,
        changes=True,
    ),
    "note delete": Command(
        (
            'nuggets note delete "Old plan"',
            "nuggets note delete note-project-1a2b3c4d --purge    # from the history as well",
        ),
        _delete,
        _delete_arguments,
        changes=True,
    ),
    "note merge": Command(
        ('nuggets note merge "Auth middleware" "Auth notes" --reason "same topic"',),
        _merge,
        _merge_arguments,
        changes=True,
    ),
    "note list": Command(
        ("nuggets note list --nugget project", "nuggets note list --tag auth --all --json"),
        _list,
        filter_arguments,
    ),
}
