"""Commands that find memories: search, recall; and graph, which follows their links."""

from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nuggets.domain import codec, times
from nuggets.domain.records import MemoryNote, RecallResult, SearchNotesResult
from nuggets.filesystem.current_project import name_of
from nuggets.interfaces.cli import Call, Outcome, argument, command, flag
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
    format_minute,
    one_line,
    screen_width,
    style,
)
from nuggets.language.text import fold_case

if TYPE_CHECKING:
    from nuggets.search.explanation import Explanation
    from nuggets.shelf import NuggetShelf

# --- search ------------------------------------------------------------------------------------


@command(
    "search",
    argument("query", "your question, in your own words", nargs="+"),
    argument("--limit", "maximum number of results (default: 5)", type=int, default=5),
    flag("--why", "explain each score"),
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
    lines: list[str] = []
    with call.shelf.snapshot():
        results = call.shelf.search_notes(
            query, options.limit, session=call.session, **filters(call)
        )
        shape = _result_shapes(call, results)
        for number, result in enumerate(results):
            lines += search_lines(call, result)
            if options.why:
                why = call.shelf.explain(query, result.note.id, options.all)
                lines += [f"    {one_line(line)}" for line in _explain(why, result.meaning)]
                if shape:
                    shape[number]["why"] = codec.to_json(why)
    from nuggets.search.answer_degree import describe_gaps  # the search has loaded it

    told = describe_gaps(results)
    if told:
        lines.insert(0, one_line(told))
    if results:
        return Outcome(shape, lines)
    archived = [] if options.all else _archived_lines(call, query)
    return Outcome(shape, ["Nothing found.", *archived], 1)


def _result_shapes(call: Call, results: Sequence[SearchNotesResult]) -> list[codec.Json]:
    """The JSON of results, if it is asked for."""
    if not call.options.json:
        return []

    from nuggets.interfaces import json_responses

    return [json_responses.search_result(call.shelf, result) for result in results]


def _explain(why: "Explanation", meaning: float) -> Iterator[str]:
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


# --- recall ------------------------------------------------------------------------------------


@command(
    "recall",
    argument("query", "the key, part of it, or a misspelling", nargs="+"),
    argument("--nugget", "search only this nugget (default: all)"),
    argument("--as-of", "what was true on this day, or at this moment in ISO 8601"),
    flag("--why", "also say how the key matched and the value was decoded"),
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
        return Outcome(result, lines, 0 if result.found else 1)
    with call.shelf.snapshot():
        result, notes = call.shelf.recall_or_search(query, call.options.nugget, call.session)
        shape = _recall_shape(call, result, notes)
        if result.found:
            return Outcome(shape, _answer_lines(call, result))
    archived = _archived_lines(call, query)
    if not notes:
        return Outcome(shape, ["Not found.", *archived], 1)
    answer_lines, nearest_lines = (
        [line for note in notes if note.clear_answer is clear for line in search_lines(call, note)]
        for clear in (True, False)
    )
    first = ["No fact has that key. A note answers:"] if answer_lines else ["Not found."]
    nearest = ["Nearest:", *nearest_lines] if nearest_lines else []
    return Outcome(shape, [*first, *archived, *answer_lines, *nearest], 0 if answer_lines else 1)


def _recall_shape(
    call: Call, result: RecallResult, notes: Sequence[SearchNotesResult]
) -> codec.Json | None:
    """The JSON of an answer, if it is asked for."""
    if not call.options.json:
        return None
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
    marks = "" if note is None else f", stored {times.ago(note.updated_at, times.now())}"
    if call.shelf.is_foreign(result):
        marks += f" (another project: {one_line(name_of(result.project))})"
    doubt = _doubt(result)
    why = [
        f"Match: {result.match} {result.ratio:.2f}",
        f"Decoded: confidence {result.confidence:.2f}, margin {result.margin:.2f}",
    ]
    return [
        f"Found: {one_line(result.key)}",
        f"Value: {style(escape_controls(result.answer), 'bold')}",
        f"{'Likely' if doubt else 'Sure'}: {100 * result.probability:.0f} %{doubt}",
        f"Nugget: {one_line(result.nugget)}{marks}",
        *validity_lines(result),
        *caveat_lines(call.shelf, note),
        *_also_lines(call, result),
        *(why if call.options.why else ()),
    ]


def _doubt(result: RecallResult) -> str:
    """Why an answer may not be what was meant."""
    if result.doubt:
        return f" ({one_line(result.doubt)})"
    return " (others fit as well)" if result.also and not result.is_clear else ""


def _also_lines(call: Call, result: RecallResult) -> list[str]:
    """Other facts that match the query."""
    from nuggets.facts.fact_index import MOST_ALTERNATIVES  # of no use to a search

    notes = [call.shelf.get_note(note_id, session=None) for note_id in result.also]
    names = [
        f"{fit(note.title, 80)} ({one_line(note.nugget_name)}"
        + (f", {one_line(name_of(note.project))})" if call.shelf.is_foreign(note) else ")")
        for note in notes
    ]
    more = ", and maybe more" if len(names) == MOST_ALTERNATIVES else ""
    return [f"Also: {', '.join(names)}{more}"] if names else []


def validity_lines(memory: MemoryNote | RecallResult) -> list[str]:
    """When a memory is valid, if that is said."""
    if memory.valid_from is None and memory.valid_until is None:
        return []
    start, end = memory.valid_from, memory.valid_until
    times = [f"from {format_minute(start)}"] if start else []
    times += [f"until {format_minute(end)}"] if end else []
    return [f"Valid: {' '.join(times)}"]


def caveat_lines(shelf: "NuggetShelf", note: MemoryNote | None) -> list[str]:
    """What speaks against relying on a memory."""
    caveats = shelf.caveats(note) if note is not None else ()
    return [f"Caution: {one_line(caveat)}" for caveat in caveats]


# --- graph -------------------------------------------------------------------------------------


DEFAULT_DEPTH = 2  # from a note: its neighbours, and theirs
DEEPEST = 100  # a deeper tree would fit no screen


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= DEEPEST):
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to {DEEPEST}")
    return int(text)


@command(
    "graph",
    argument("note", f"the note to start at: {NAME_HELP} (default: all)", nargs="?"),
    argument(
        "--depth",
        "maximum number of links from the start (default: 2 from a note, else all)",
        type=_depth,
    ),
    flag("--dot", "print it as Graphviz input"),
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
        from nuggets.maintenance.export_and_backup import dot_lines  # a search needs none of it

        text = b"".join(dot_lines(nodes.values())).decode()
        return Outcome(shape, escape_controls(text).splitlines())
    return Outcome(shape, list(_tree(nodes, reasons, roots, children)) or ["No links yet."])


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
    """The neighbours of each note and the reasons of their links."""
    reasons: dict[str, dict[str, list[str]]] = {note_id: {} for note_id in notes}
    for note in notes.values():
        for link in note.links:
            if link.to in notes:
                reasons[note.id].setdefault(link.to, []).append(link.reason)
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
