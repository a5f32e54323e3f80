"""The command that finds notes by what they are about: search."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.domain.records import SearchNotesResult
from nuggets.filesystem.current_project import name_of
from nuggets.interfaces import json_responses
from nuggets.interfaces.cli.arguments import filter_arguments, filters, session_argument
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_output import fit, one_line, screen_width, style
from nuggets.search.clear_answer import describe_little_found

if TYPE_CHECKING:
    from nuggets.search.explanation import Explanation


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
                shape[-1]["why"] = codec.to_json(why)
                lines += [f"    {one_line(line)}" for line in _why_lines(why, result.meaning)]
    told = describe_little_found(results)
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


COMMANDS = {
    "search": Command(
        (
            "nuggets search how does authentication work",
            "nuggets search jwt --nugget project --limit 3 --why",
        ),
        _search,
        _search_arguments,
    ),
}
