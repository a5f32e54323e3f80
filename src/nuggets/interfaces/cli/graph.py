"""Commands on the graph: search, link, unlink, graph."""

import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nuggets import codec
from nuggets.errors import StoreError
from nuggets.interfaces import answers
from nuggets.interfaces.cli.arguments import (
    NAME_HELP,
    filter_arguments,
    filters,
    session_argument,
)
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import fitted, one_line, screen_width, styled
from nuggets.interfaces.cli.tree import archived, tree
from nuggets.interfaces.words import counted
from nuggets.project import name_of
from nuggets.records import MemoryNote, SearchNotesResult

if TYPE_CHECKING:
    from nuggets.search.explanation import Explanation

NEAR = 2  # links away from a note, if nobody says how many
DEEPEST = 100  # no screen is wide enough for more


def _search_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="what you want to know, in your own words")
    parser.add_argument("--limit", type=int, default=5, help="at most so many (default: 5)")
    parser.add_argument("--why", action="store_true", help="say what made each score")
    session_argument(parser)
    filter_arguments(parser)


def _search(call: Call) -> Outcome:
    options = call.options
    query = " ".join(options.query)
    found = call.shelf.search_notes(query, options.limit, session=call.session, **filters(call))
    shape = [answers.found(call.shelf, result) for result in found]
    lines: list[str] = []
    for result, entry in zip(found, shape, strict=True):
        lines += search_lines(call, result)
        if options.why:
            why = call.shelf.explain(query, result.note.id, options.all)
            entry["why"] = answers.plain(why)
            lines += [f"    {one_line(line)}" for line in _why_lines(why)]
    return Outcome(shape, lines or ["Nothing found."], 0 if found else 1)


def _why_lines(why: "Explanation") -> Iterator[str]:
    """The sum first, then what each word of the question found, then what else counted."""
    yield (
        f"relevance {why.relevance:.2f}: text {why.text:.2f}, vector {why.vector:.2f}, "
        f"boost {why.boost:.2f}"
    )
    for word in why.words:
        found = f"{', '.join(word.matched)} in {', '.join(word.fields)}"
        if not word.matched:
            found = "in linked notes" if word.fields else "not here"
        part = f"{word.weight:.0%} of the question, {word.share:.0%} of that answered"
        yield f"{word.word}: {found}; {part}"
    others = {
        "phrase": why.phrase,
        "group": why.group,
        "subject": why.subject,
        "time": why.time,
        "prior": why.prior,
    }
    counted = [f"{name} {value:+.2f}" for name, value in others.items() if abs(value) >= 0.005]
    if counted:
        yield f"also: {', '.join(counted)}"


def search_lines(call: Call, result: SearchNotesResult) -> Iterator[str]:
    """One result for a person: how good, what, and the beginning of what it says."""
    note = result.note
    marks = " (archived)" if note.hidden else ""
    if call.shelf.is_foreign(note):
        marks += f" (another project: {one_line(name_of(note.project))})"
    score = styled(f"[{result.relevance:.2f}]", "cyan")
    title = styled(fitted(note.title, 80), "bold")
    yield f"{score} {title}{marks}  {styled(one_line(note.id), 'dim')}"
    yield f"    {one_line(note.content, max(40, screen_width() - 4))}"


def _pair_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("a", help=f"one note: {NAME_HELP}")
    parser.add_argument("b", help="the other")
    parser.add_argument("reason", nargs="?", help="how they are related")


def _link(call: Call) -> Outcome:
    a, b, reason = call.options.a, call.options.b, call.options.reason or ""
    added = call.shelf.add_link(a, b, reason)
    shape = answers.linked(call.shelf, a, b, added)
    return Outcome(shape, ["Linked." if added else "They were linked so already."])


def _unlink(call: Call) -> Outcome:
    gone = call.shelf.remove_link(call.options.a, call.options.b, call.options.reason)
    if gone:
        return Outcome(answers.unlinked(True), ["Unlinked."])
    return Outcome(answers.unlinked(False), ["Not found: there is no such link."], 1)


def _graph_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("note", nargs="?", help=f"where to begin: {NAME_HELP}; otherwise all")
    parser.add_argument(
        "--depth", type=_depth, help="how many links away (default: 2 from a note, otherwise all)"
    )
    parser.add_argument("--dot", action="store_true", help="print Graphviz input for the same")
    parser.add_argument(
        "--svg",
        metavar="FILE",
        help="draw it into a file, without a note to begin at also what has no links",
    )


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= DEEPEST):
        raise ArgumentTypeError(f"{text!r} is no number from 0 to {DEEPEST}")
    return int(text)


def _graph(call: Call) -> Outcome:
    options = call.options
    if options.note:
        start = call.shelf.get_note(options.note, session=None)
        depth = NEAR if options.depth is None else options.depth
        notes = {note.id: note for note in call.shelf.list_notes(include_hidden=True)}
        shown = drawn = _around(notes, start, depth)
        roots = [start.id]
    else:
        depth = DEEPEST if options.depth is None else options.depth
        drawn = {note.id: note for note in call.shelf.list_notes()}
        shown = {i: note for i, note in drawn.items() if _neighbours(drawn, note)}
        roots = sorted(shown, key=lambda i: (-len(shown[i].links), i))
    if options.svg:
        return _drawn(options.svg, drawn)
    edges = list(_edges(shown))
    shape = {
        "nodes": [codec.note_to_json(note) for note in shown.values()],
        "links": [
            {"from": a, "to": b, "reason": reason, "createdAt": at} for a, b, reason, at in edges
        ],
    }
    if options.dot:
        return Outcome(shape, _dot(shown))
    return Outcome(shape, list(tree(shown, roots, depth)) or ["No links yet."])


def _drawn(path: str, notes: Mapping[str, MemoryNote]) -> Outcome:
    from nuggets.files import replace_file
    from nuggets.interfaces.drawing import svg

    place = os.path.abspath(path)
    if not os.path.isdir(os.path.dirname(place)):
        raise StoreError(f"Cannot write {place}: make the directory {os.path.dirname(place)} first")
    replace_file(place, [svg(list(notes.values())).encode()], durable=False)
    links = counted(sum(1 for _ in _edges(notes)), "link")
    drew = f"Drew {counted(len(notes), 'note')} and {links} into {one_line(path)}."
    return Outcome({"svg": path, "notes": len(notes)}, [drew])


def _neighbours(notes: Mapping[str, MemoryNote], note: MemoryNote) -> list[MemoryNote]:
    return [notes[link.to] for link in note.links if link.to in notes and link.to != note.id]


def _around(
    notes: Mapping[str, MemoryNote], start: MemoryNote, depth: int
) -> dict[str, MemoryNote]:
    """The notes so many links away; the way does not lead through what is archived."""
    reached = {start.id: start}
    edge = [start]
    for _ in range(depth):
        near = [other for note in edge for other in _neighbours(notes, note)]
        new = {note.id: note for note in near if note.id not in reached}
        reached.update(new)
        edge = [note for note in new.values() if not note.hidden]
    return reached


def _edges(notes: Mapping[str, MemoryNote]) -> Iterator[tuple[str, str, str, str]]:
    """Every link once, though both ends hold it."""
    for note in notes.values():
        for link in note.links:
            if link.to in notes and note.id < link.to:
                yield note.id, link.to, link.reason, link.created_at


def _dot(notes: Mapping[str, MemoryNote]) -> list[str]:
    lines = ["graph nuggets {", "  node [shape=box, style=rounded];"]
    for note in notes.values():
        look = ', style="rounded,dashed"' if note.hidden else ""
        lines.append(f"  {_quoted(note.id)} [label={_quoted(note.title + archived(note))}{look}];")
    lines += [
        f"  {_quoted(a)} -- {_quoted(b)} [label={_quoted(reason)}];"
        for a, b, reason, _ in _edges(notes)
    ]
    return [*lines, "}"]


def _quoted(text: str) -> str:
    return '"' + one_line(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


COMMANDS = {
    "search": Command(
        (
            "nuggets search how does authentication work",
            "nuggets search jwt --nugget project --limit 3 --why",
        ),
        _search,
        _search_arguments,
    ),
    "link": Command(
        ('nuggets link "Auth middleware" "JWT token format" "auth uses JWT tokens"',),
        _link,
        _pair_arguments,
        changes=True,
    ),
    "unlink": Command(
        ('nuggets unlink "Auth middleware" "JWT token format"',),
        _unlink,
        _pair_arguments,
        summary="take a link away, or all links between two notes",
        changes=True,
    ),
    "graph": Command(
        (
            'nuggets graph "Auth middleware" --depth 3',
            "nuggets graph --svg memory.svg",
            "nuggets graph --dot | dot -Tpng > memory.png",
        ),
        _graph,
        _graph_arguments,
    ),
}
