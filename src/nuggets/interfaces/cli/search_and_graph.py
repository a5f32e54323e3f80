"""Commands that find notes and follow their links: search, link, unlink, graph."""

from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.domain.records import MemoryNote, SearchNotesResult
from nuggets.filesystem.current_project import name_of
from nuggets.interfaces import json_responses
from nuggets.interfaces.cli import Call, Outcome, argument, command
from nuggets.interfaces.cli.run_command import (
    FILTER_ARGUMENTS,
    NAME_HELP,
    SESSION_ARGUMENT,
    filters,
)
from nuggets.interfaces.cli.terminal_output import (
    distinct_titles,
    escape_controls,
    fit,
    one_line,
    screen_width,
    style,
)
from nuggets.search.answer_degree import describe_gaps

if TYPE_CHECKING:
    from nuggets.search.explanation import Explanation

# --- search ------------------------------------------------------------------------------------


@command(
    "search",
    argument("query", nargs="+", help="your question, in your own words"),
    argument("--limit", type=int, default=5, help="maximum number of results (default: 5)"),
    argument("--why", action="store_true", help="explain each score"),
    SESSION_ARGUMENT,
    *FILTER_ARGUMENTS,
    examples=(
        "nuggets search how does authentication work",
        "nuggets search jwt --nugget project --limit 3 --why",
    ),
)
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
                shape[-1]["why"] = codec.to_json(why)
                lines += [f"    {one_line(line)}" for line in _why_lines(why, result.meaning)]
    told = describe_gaps(results)
    if told:
        lines.insert(0, one_line(told))
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
        "title": why.named,
        "time": why.time,
        "asks": why.asks,
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


# --- link, unlink, graph -----------------------------------------------------------------------


DEFAULT_DEPTH = 2  # from a note: its neighbours, and theirs
DEEPEST = 100  # a deeper tree would fit no screen


_PAIR_ARGUMENTS = (
    argument("a", help=f"one note: {NAME_HELP}"),
    argument("b", help="the other note"),
    argument("reason", nargs="?", help="how they are related"),
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


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= DEEPEST):
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to {DEEPEST}")
    return int(text)


@command(
    "graph",
    argument("note", nargs="?", help=f"the note to start at: {NAME_HELP} (default: all)"),
    argument(
        "--depth",
        type=_depth,
        help="maximum number of links from the start (default: 2 from a note, else all)",
    ),
    argument("--dot", action="store_true", help="print it as Graphviz input"),
    examples=(
        'nuggets graph "Auth middleware" --depth 3',
        "nuggets graph --dot | dot -Tpng > memory.png",
    ),
)
def _graph(call: Call) -> Outcome:
    options = call.options
    if options.note:
        start = call.shelf.get_note(options.note, session=None)
        depth = DEFAULT_DEPTH if options.depth is None else options.depth
        notes = {note.id: note for note in call.shelf.list_notes(include_hidden=True)}
        reasons, roots = _link_reasons(notes), [start.id]
    else:
        depth = DEEPEST if options.depth is None else options.depth
        notes = {note.id: note for note in call.shelf.list_notes()}
        reasons = _link_reasons(notes)
        linked = (note_id for note_id in notes if reasons[note_id])
        roots = sorted(linked, key=lambda i: (-len(notes[i].links), i))
    children = _assign_children(notes, reasons, roots, depth)
    nodes = {note_id: note for note_id, note in notes.items() if note_id in children}
    links = [  # each once, although both notes store it
        {"from": note.id, "to": link.to, "reason": link.reason, "createdAt": link.created_at}
        for note in nodes.values()
        for link in note.links
        if link.to in nodes and note.id < link.to
    ]
    shape = {"nodes": [codec.note_to_json(note) for note in nodes.values()], "links": links}
    if options.dot:
        return Outcome(shape, _dot(nodes))
    return Outcome(shape, list(_tree(nodes, reasons, roots, children)) or ["No links yet."])


def _dot(notes: Mapping[str, MemoryNote]) -> list[str]:
    from nuggets.maintenance.export_and_backup import dot_lines  # a search needs none of it

    text = b"".join(dot_lines(notes.values())).decode()
    return escape_controls(text).splitlines()


def _tree(
    notes: Mapping[str, MemoryNote],
    reasons: Mapping[str, Mapping[str, list[str]]],
    roots: Iterable[str],
    children: Mapping[str, list[str]],
) -> Iterator[str]:
    """Every note once, as near to its root as possible, with its neighbours below it. A link to a
    note that is printed above is marked."""
    titles = distinct_titles(notes.values())
    printed: set[str] = set()

    def branches(note_id: str, parent: str, indent: str) -> Iterator[str]:
        repeats = [
            neighbour
            for neighbour in reasons[note_id]
            if neighbour in printed and neighbour != parent
        ]
        printed.add(note_id)
        neighbours = [*repeats, *children[note_id]]
        for number, neighbour in enumerate(neighbours, 1):
            is_last, is_repeat = number == len(neighbours), number <= len(repeats)
            reason = style(f"  ({one_line('; '.join(reasons[note_id][neighbour]))})", "dim")
            mark = style("  ↑ shown above", "dim") if is_repeat else ""
            title = f"{titles[neighbour]}{_archived_mark(notes[neighbour])}"
            yield f"{indent}{'└─' if is_last else '├─'} {title}{reason}{mark}"
            if not is_repeat:
                yield from branches(neighbour, note_id, indent + ("   " if is_last else "│  "))

    for root in roots:
        if root not in printed:
            title = style(one_line(notes[root].title), "bold") + _archived_mark(notes[root])
            yield title + style(f"  {one_line(root)}", "dim")
            yield from branches(root, "", "")


def _archived_mark(note: MemoryNote) -> str:
    """What follows the title of an archived note."""
    return " (archived)" if note.hidden else ""


def _link_reasons(notes: Mapping[str, MemoryNote]) -> dict[str, dict[str, list[str]]]:
    """The neighbours of each note and the reasons of their links, in both directions."""
    reasons: dict[str, dict[str, list[str]]] = {note_id: {} for note_id in notes}
    links = [(note.id, link.to, link.reason) for note in notes.values() for link in note.links]
    for a, b, reason in (*links, *((b, a, reason) for a, b, reason in links)):
        if a in notes and b in notes and a != b and reason not in reasons[a].setdefault(b, []):
            reasons[a][b].append(reason)
    return reasons


def _assign_children(
    notes: Mapping[str, MemoryNote],
    reasons: Mapping[str, Mapping[str, list[str]]],
    roots: Iterable[str],
    depth: int,
) -> dict[str, list[str]]:
    """The notes below each note, breadth first, at most `depth` links from a root; none below one
    that is archived. A root that is below another has no own tree."""
    children: dict[str, list[str]] = {}
    for root in roots:
        level = [] if root in children else [root]
        children.setdefault(root, [])
        for _ in range(depth):
            parents = [note_id for note_id in level if note_id == root or not notes[note_id].hidden]
            level = []
            for parent in parents:
                new = [neighbour for neighbour in reasons[parent] if neighbour not in children]
                children[parent] = new
                children.update((neighbour, []) for neighbour in new)
                level += new
    return children
