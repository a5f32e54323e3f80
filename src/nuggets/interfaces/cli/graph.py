"""Commands on the graph: search, link, unlink, graph."""

import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.domain.records import MemoryNote, SearchNotesResult
from nuggets.errors import StoreError
from nuggets.filesystem.current_project import name_of
from nuggets.interfaces import json_responses
from nuggets.interfaces.cli.arguments import (
    NAME_HELP,
    filter_arguments,
    filters,
    session_argument,
)
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.note_tree import archived_mark, tree
from nuggets.interfaces.cli.terminal_text import fit, one_line, screen_width, style
from nuggets.interfaces.display_text import pluralize

if TYPE_CHECKING:
    from nuggets.search.explanation import Explanation

DEFAULT_DEPTH = 2  # default depth from a note
DEEPEST = 100  # a deeper tree would fit no screen


def _search_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="your question, in your own words")
    parser.add_argument(
        "--limit", type=int, default=5, help="maximum number of results (default: 5)"
    )
    parser.add_argument("--why", action="store_true", help="explain each score")
    session_argument(parser)
    filter_arguments(parser)


def _search(call: Call) -> Outcome:
    options = call.options
    query = " ".join(options.query)
    shape: list[codec.Json] = []
    lines: list[str] = []
    with call.shelf.snapshot():
        results = call.shelf.search_notes(
            query, options.limit, session=call.session, **filters(call)
        )
        for result in results:
            shape.append(json_responses.search_result(call.shelf, result))
            lines += search_lines(call, result)
            if options.why:
                why = call.shelf.explain(query, result.note.id, options.all)
                shape[-1]["why"] = json_responses.record_to_json(why)
                lines += [f"    {one_line(line)}" for line in _why_lines(why, result.meaning)]
    return Outcome(shape, lines or ["Nothing found."], 0 if results else 1)


def _why_lines(why: "Explanation", meaning: float) -> Iterator[str]:
    """The score, then the share of each word of the query, then other parts of the score.
    `meaning`: what the sentence encoder adds to the score."""
    yield (
        f"relevance {why.relevance:.2f}: text {why.text:.2f}, vector {why.vector:.2f}, "
        f"boost {why.boost:.2f}"
    )
    if meaning:
        yield f"meaning {meaning:+.2f}: added to that by the sentence encoder"
    for word in why.words:
        place = f"{', '.join(word.matched)} in {', '.join(word.fields)}"
        if not word.matched:
            place = "in linked notes" if word.fields else "not in this note"
        part = f"{word.weight:.0%} of the query, {word.share:.0%} of that matched"
        yield f"{word.word}: {place}; {part}"
    parts = {
        "phrase": why.phrase,
        "group": why.group,
        "subject": why.subject,
        "time": why.time,
        "prior": why.prior,
    }
    shares = [f"{name} {value:+.2f}" for name, value in parts.items() if abs(value) >= 0.005]
    if shares:
        yield f"also: {', '.join(shares)}"


def search_lines(call: Call, result: SearchNotesResult) -> Iterator[str]:
    """One result: relevance, title, and the beginning of the text."""
    note = result.note
    marks = " (archived)" if note.hidden else ""
    if call.shelf.is_foreign(note):
        marks += f" (another project: {one_line(name_of(note.project))})"
    marks += "".join(f" ({one_line(caveat)})" for caveat in call.shelf.caveats(note))
    score = style(f"[{result.relevance:.2f}]", "cyan")
    title = style(fit(note.title, 80), "bold")
    yield f"{score} {title}{marks}  {style(one_line(note.id), 'dim')}"
    yield f"    {one_line(note.content, max(40, screen_width() - 4))}"


def _pair_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("a", help=f"one note: {NAME_HELP}")
    parser.add_argument("b", help="the other note")
    parser.add_argument("reason", nargs="?", help="how they are related")


def _link(call: Call) -> Outcome:
    a, b, reason = call.options.a, call.options.b, call.options.reason or ""
    added = call.shelf.add_link(a, b, reason)
    shape = json_responses.link_result(call.shelf, a, b, added)
    return Outcome(shape, ["Linked." if added else "Already linked."])


def _unlink(call: Call) -> Outcome:
    gone = call.shelf.remove_link(call.options.a, call.options.b, call.options.reason)
    if gone:
        return Outcome(json_responses.unlink_result(True), ["Unlinked."])
    return Outcome(json_responses.unlink_result(False), ["Not found: there is no such link."], 1)


def _graph_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("note", nargs="?", help=f"the note to start at: {NAME_HELP} (default: all)")
    parser.add_argument(
        "--depth",
        type=_depth,
        help="maximum number of links from the start (default: 2 from a note, else all)",
    )
    parser.add_argument("--dot", action="store_true", help="print it as Graphviz input")
    parser.add_argument(
        "--svg",
        metavar="FILE",
        help="draw it into a file; without a start note, notes without links are drawn too",
    )


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= DEEPEST):
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to {DEEPEST}")
    return int(text)


def _graph(call: Call) -> Outcome:
    options = call.options
    if options.note:
        start = call.shelf.get_note(options.note, session=None)
        depth = DEFAULT_DEPTH if options.depth is None else options.depth
        notes = {note.id: note for note in call.shelf.list_notes(include_hidden=True)}
        nodes = drawn = _neighbourhood(notes, start, depth)
        roots = [start.id]
    else:
        depth = DEEPEST if options.depth is None else options.depth
        drawn = {note.id: note for note in call.shelf.list_notes()}
        nodes = {i: note for i, note in drawn.items() if _neighbours(drawn, note)}
        roots = sorted(nodes, key=lambda i: (-len(nodes[i].links), i))
    if options.svg:
        return _draw_svg(options.svg, drawn)
    edges = list(_edges(nodes))
    shape = {
        "nodes": [codec.note_to_json(note) for note in nodes.values()],
        "links": [
            {"from": a, "to": b, "reason": reason, "createdAt": at} for a, b, reason, at in edges
        ],
    }
    if options.dot:
        return Outcome(shape, _dot(nodes))
    return Outcome(shape, list(tree(nodes, roots, depth)) or ["No links yet."])


def _draw_svg(path: str, notes: Mapping[str, MemoryNote]) -> Outcome:
    from nuggets.filesystem.atomic_files import replace_file
    from nuggets.interfaces.graph_svg import svg

    target = os.path.abspath(path)
    if not os.path.isdir(os.path.dirname(target)):
        raise StoreError(
            f"Cannot write {target}: create the directory {os.path.dirname(target)} first"
        )
    replace_file(target, [svg(list(notes.values())).encode()], durable=False)
    links = pluralize(sum(1 for _ in _edges(notes)), "link")
    drew = f"Drew {pluralize(len(notes), 'note')} and {links} into {one_line(path)}."
    return Outcome({"svg": path, "notes": len(notes)}, [drew])


def _neighbours(notes: Mapping[str, MemoryNote], note: MemoryNote) -> list[MemoryNote]:
    return [notes[link.to] for link in note.links if link.to in notes and link.to != note.id]


def _neighbourhood(
    notes: Mapping[str, MemoryNote], start: MemoryNote, depth: int
) -> dict[str, MemoryNote]:
    """The notes at most `depth` links away; paths do not go through archived notes."""
    reached = {start.id: start}
    edge = [start]
    for _ in range(depth):
        near = [neighbour for note in edge for neighbour in _neighbours(notes, note)]
        new = {note.id: note for note in near if note.id not in reached}
        reached.update(new)
        edge = [note for note in new.values() if not note.hidden]
    return reached


def _edges(notes: Mapping[str, MemoryNote]) -> Iterator[tuple[str, str, str, str]]:
    """Every link once, although both notes store it."""
    for note in notes.values():
        for link in note.links:
            if link.to in notes and note.id < link.to:
                yield note.id, link.to, link.reason, link.created_at


def _dot(notes: Mapping[str, MemoryNote]) -> list[str]:
    lines = ["graph nuggets {", "  node [shape=box, style=rounded];"]
    for note in notes.values():
        look = ', style="rounded,dashed"' if note.hidden else ""
        lines.append(
            f"  {_quote(note.id)} [label={_quote(note.title + archived_mark(note))}{look}];"
        )
    lines += [
        f"  {_quote(a)} -- {_quote(b)} [label={_quote(reason)}];"
        for a, b, reason, _ in _edges(notes)
    ]
    return [*lines, "}"]


def _quote(text: str) -> str:
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
        summary="remove a link, or all links between two notes",
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
