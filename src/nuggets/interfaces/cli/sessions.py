"""Commands on the notes of sessions with agents: list, show, search."""

from argparse import ArgumentParser
from contextlib import suppress

from nuggets.domain import codec
from nuggets.domain.records import MemoryNote
from nuggets.errors import NuggetsError
from nuggets.filesystem.current_project import name_of
from nuggets.interfaces import json_responses
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.search import search_lines
from nuggets.interfaces.cli.terminal_output import escape_controls, one_line, style, table
from nuggets.operations.session_notes import session_agent

NONE_YET = "There is no note of a session yet. Hooks write them: nuggets connect --help"
NONE_HERE = (
    "There is no note of a session in this project yet. Hooks write them: nuggets connect --help "
    "(--all lists those of all projects)"
)


def _all_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="of all projects, not only this one")


def _keep_left_over(call: Call) -> None:
    """Note first what sessions did since their notes were written, as the next one would."""
    from nuggets.interfaces.hooks.session_note_update import keep_left_over

    with suppress(NuggetsError):  # another program writes: what is there is shown
        keep_left_over(call.shelf, call.settings["dir"])


def _list(call: Call) -> Outcome:
    _keep_left_over(call)
    notes = call.shelf.sessions(all_projects=call.options.all)
    shape = [codec.note_to_json(note) for note in notes]
    if not notes:
        return Outcome(shape, [NONE_YET if call.options.all else NONE_HERE])
    rows = [
        (note.id, _end_time(note), session_agent(note), name_of(note.project), note.title[11:])
        for note in notes
    ]
    return Outcome(shape, table(("ID", "ENDED", "AGENT", "PROJECT", "GOAL"), rows))


def _end_time(note: MemoryNote) -> str:
    return note.updated_at[:16].replace("T", " ")


def _show_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="id of its note (default: the last session here)")


def _show(call: Call) -> Outcome:
    _keep_left_over(call)
    note = call.shelf.get_session(call.options.id)
    head = style(one_line(note.title), "bold")
    body = escape_controls(note.content).split("\n")
    return Outcome(codec.note_to_json(note), [head, *body, *_foot(call, note)])


def _foot(call: Call, note: MemoryNote) -> list[str]:
    """Its id, when it ended, and the sessions that it is linked to."""
    linked = call.shelf.get_notes(link.to for link in note.links).values()
    earlier = [other.id for other in linked if other.created_at < note.created_at]
    parts = [note.id, f"ended {_end_time(note)}", session_agent(note), name_of(note.project)]
    lines = ["", " · ".join(one_line(part) for part in parts if part)]
    return [style(line, "dim") for line in [*lines, *(f"before it: {i}" for i in earlier[-1:])]]


def _search_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="what the session was about")
    parser.add_argument(
        "--limit", type=int, default=5, help="maximum number of results (default: 5)"
    )
    _all_argument(parser)


def _search(call: Call) -> Outcome:
    _keep_left_over(call)
    options = call.options
    found = call.shelf.search_sessions(
        " ".join(options.query), options.limit, all_projects=options.all
    )
    shape = [json_responses.search_result(call.shelf, result) for result in found]
    lines = [line for result in found for line in search_lines(call, result)]
    return Outcome(shape, lines or ["Nothing found."], 0 if found else 1)


COMMANDS = {
    "sessions list": Command(
        ("nuggets sessions list", "nuggets sessions list --all --json"), _list, _all_argument
    ),
    "sessions show": Command(
        ("nuggets sessions show", "nuggets sessions show note-sessions-1c2f"),
        _show,
        _show_arguments,
    ),
    "sessions search": Command(
        ("nuggets sessions search uuid migration",), _search, _search_arguments
    ),
}
