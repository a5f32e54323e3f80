"""What reads foreign bytes, as functions of bytes that must refuse or accept, and never fail.

A target raises only if something is wrong: an error without a message of ours, or a property that
does not hold. `fuzz_run.py` looks for bytes that do that; `fuzz_corpus/` holds bytes that are
replayed by an ordinary test. A file of the corpus is input of the target that its folder names.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from itertools import count
from typing import Any

from graph_samples import NOW, by_id, sample
from nuggets.domain import codec, credentials, host_markup
from nuggets.domain.records import NuggetConfig
from nuggets.domain.state import MemoryState
from nuggets.errors import NuggetsError
from nuggets.interfaces.cli import terminal_output
from nuggets.interfaces.connect import EditError, jsonc, toml
from nuggets.interfaces.hooks import host_payload, orders
from nuggets.interfaces.importers import Records
from nuggets.interfaces.importers.markdown_files import read_instructions
from nuggets.interfaces.importers.record_files import read_json, read_rows
from nuggets.interfaces.mcp.server import ALL_TOOLS
from nuggets.interfaces.mcp.tool_definition import ToolCall
from nuggets.interfaces.rest import OPERATIONS
from nuggets.language import dates, text
from nuggets.maintenance.promotion.entries import WrittenEntries
from nuggets.maintenance.promotion.sections import merged_text
from nuggets.operations.external_edits import import_edit
from nuggets.operations.shared_memories import parse_file
from nuggets.search.query import tokenize_query
from nuggets.shelf import NuggetShelf
from nuggets.stores.exports.edits import FileContent, parse_edit

Target = Callable[[bytes], None]
LIVES = 300  # how often one shelf is used before a new one is made
TABLE = ["mcp_servers", "nuggets"]
VALUES = {"command": "nuggets", "args": ["mcp"]}
_STATUS = os.stat(__file__)


class Wrong(AssertionError):
    """A property that does not hold."""


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise Wrong(what)


def words_of(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def json_of(raw: bytes) -> Any:
    """The value that the bytes are, or None."""
    try:
        return codec.loads(raw, "input")
    except NuggetsError:
        return None


# --- files --------------------------------------------------------------------------------------


def read_export(raw: bytes) -> None:
    """An edited graph.json or nugget file: refused, or a change that can be written and read."""
    state = MemoryState()
    note = sample()
    state.notes[note.id] = note
    state.nuggets["learnings"] = NuggetConfig("learnings")
    for name in ("graph/graph.json", "learnings.nugget.json"):
        numbers = count(1)
        try:
            found = parse_edit("/shelf", name, FileContent(raw, _STATUS))
            draw = lambda numbers=numbers: f"{next(numbers):08x}"  # noqa: E731
            changes, _ = import_edit(draw, state, None, found.edit, NOW)
        except NuggetsError:
            continue
        for written in changes.put:
            shape = codec.note_to_json(written)
            again = codec.note_from_json(codec.loads(codec.dumps(shape), "again"))
            expect(codec.note_to_json(again) == shape, "a note is not what was written")


def read_memory_file(raw: bytes) -> None:
    """A MEMORY.md: what we write a second time is what we wrote the first time."""
    notes = by_id(sample()._replace(hits=3), sample(2, title="Other")._replace(hits=5))
    first = merged_text(words_of(raw), notes, WrittenEntries(), "")
    second = merged_text(first.text, notes, first.written, "")
    expect(second.text == first.text, "a second promotion changes the file")
    for line in re.split("[\r\n]+", words_of(raw).removeprefix("\ufeff")):  # no line begins with it
        kept = line in first.text or "nuggets" in line
        expect(kept, "a person's line is gone")


def read_shared_file(raw: bytes) -> None:
    value = json_of(raw)
    name = value.get("id") if isinstance(value, dict) else None
    with suppress(NuggetsError):
        parse_file(name if isinstance(name, str) else "memory", raw, "/here/.git", NOW)


def read_memories(raw: bytes) -> None:
    for read in (read_json, read_rows, read_instructions):
        with suppress(NuggetsError):
            read(words_of(raw), "memories", NOW, Records())


def edit_jsonc(raw: bytes) -> None:
    """Settings with comments: our member is there, all others are as before; then it is gone."""
    words = words_of(raw)
    try:
        before = jsonc.parse(words).value
        with_ours = jsonc.set_member(words, TABLE, VALUES)
        after = jsonc.parse(with_ours)
    except EditError:
        return
    ours = jsonc.find_node(after, TABLE)
    expect(ours is not None and ours.value == VALUES, "our member is not what was set")
    expect(_without(after.value) == _without(before), "another member has changed")
    removed = jsonc.parse(jsonc.remove(with_ours, TABLE)).value
    expect(_without(removed) == _without(before), "removing it changes another member")


def edit_toml(raw: bytes) -> None:
    """The editor compares before and after by itself, and refuses."""
    words = words_of(raw)
    try:
        after = toml.set_value(words, TABLE, VALUES)
        found = toml.value_at(after, TABLE)
        expect(VALUES.items() <= found.items(), "our table is not what was set")
        gone = toml.remove_value(after, TABLE)
        expect(toml.value_at(gone, TABLE) is None, "our table is still there")
    except EditError:
        pass


def _without(value: Any) -> Any:
    """A document without our member and what was made to hold it."""
    if not isinstance(value, dict):
        return value
    rest = dict(value)
    servers = rest.get(TABLE[0])
    if isinstance(servers, dict):
        rest[TABLE[0]] = {name: one for name, one in servers.items() if name != TABLE[1]}
    return {name: one for name, one in rest.items() if name != TABLE[0] or one != {}}


# --- words --------------------------------------------------------------------------------------


def find_secrets(raw: bytes) -> None:
    words = words_of(raw)
    redacted = credentials.redact(words)
    expect(
        bool(credentials.credential_kinds(words)) == (redacted != words), "found, but not redacted"
    )


def ask(raw: bytes) -> None:
    """A question, with its dates, to a shelf."""
    words = words_of(raw)[:2000]
    tokenize_query(words)
    dates.periods(dates.written_dates(words, text.tokens(words.lower())), range(2020, 2030))
    shelf = _shelf("ask")
    for operation in (shelf.recall, shelf.search_notes):
        with suppress(NuggetsError):
            operation(words, session=None)


def print_words(raw: bytes) -> None:
    """What a terminal or a model is shown steers neither."""
    words = words_of(raw)
    shown = terminal_output.one_line(words)
    expect(not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in shown), "a control sign")
    escaped = host_markup.escape_host_markup(words)
    expect("</system-reminder>" not in escaped.lower(), "a mark of a host")


# --- doors --------------------------------------------------------------------------------------


def read_hook(raw: bytes) -> None:
    value = json_of(raw)
    sent = value if isinstance(value, dict) else {"prompt": words_of(raw), "cwd": "/"}
    for name in ("user-prompt", "post-tool", ""):
        host_payload.files_of(event := host_payload.event_of(name, "claude", sent))
    orders.read_orders(event.prompt)
    orders.lasting_probability(event.prompt)
    orders.find_old_value(event.prompt)


def read_transcript(raw: bytes) -> None:
    """The lines of a transcript, as each host writes them."""
    from nuggets.interfaces.hooks.transcript_formats import STEPS

    entries = [value for line in raw.split(b"\n") if isinstance(value := _plain_json(line), dict)]
    for steps in STEPS.values():
        list(steps(entries))


def _plain_json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def call_tool(raw: bytes) -> None:
    """The first byte chooses a tool; what follows are its arguments, or the text of each."""
    if not raw:
        return
    tool = ALL_TOOLS[raw[0] % len(ALL_TOOLS)]
    value = json_of(raw[1:])
    if not isinstance(value, dict):
        value = _same_for_all(tool.arguments.schema["properties"], words_of(raw[1:]))
    try:
        answer = tool.run(
            ToolCall(_shelf("mcp"), "s", NOW, set()), **tool.arguments.read(value, "it")
        )
    except NuggetsError:
        return
    codec.dumps(answer.structured).encode()
    answer.text.encode()


def send_request(raw: bytes) -> None:
    """The same for the operations of the web interface that take a body."""
    operations = [operation for operation in OPERATIONS if operation.has_body]
    if not raw:
        return
    operation = operations[raw[0] % len(operations)]
    value = json_of(raw[1:])
    if not isinstance(value, dict):
        value = _same_for_all(operation.parameters.schema["properties"], words_of(raw[1:]))
    parts = {
        "nugget": "p",
        "note": "Title",
    }
    try:
        body = operation.parameters.read(value, "body")
        named = {name: part for name, part in parts.items() if f"{{{name}}}" in operation.path}
        operation.run(_shelf("rest"), **named, **body)
    except NuggetsError:
        return


def _same_for_all(properties: Mapping[str, Any], words: str) -> dict[str, Any]:
    kinds: dict[str, Any] = {"string": words, "array": [words], "integer": len(words)}
    return {
        name: kinds[schema["type"]]
        for name, schema in properties.items()
        if schema.get("type") in kinds and "enum" not in schema
    }


@cache
def _shelves() -> dict[str, tuple[NuggetShelf, "count[int]"]]:
    return {}


def _shelf(name: str) -> NuggetShelf:
    """A small shelf in memory; a new one now and then, because it fills."""
    shelf, uses = _shelves().get(name, (None, count(LIVES)))
    if shelf is None or next(uses) >= LIVES:
        if shelf is not None:
            shelf.close()
        shelf = NuggetShelf("memory:", project="")
        shelf.remember("p", "deploy day", "Tuesday, 3rd May 2024")
        shelf.create_note("p", "Title", "The content of the note about tabs.")
        shelf.create_note("p", "Other", "More content.")
        _shelves()[name] = (shelf, count(1))
    return shelf


TARGETS: Mapping[str, Target] = {
    "ask": ask,
    "edit_jsonc": edit_jsonc,
    "edit_toml": edit_toml,
    "call_tool": call_tool,
    "find_secrets": find_secrets,
    "print_words": print_words,
    "read_memories": read_memories,
    "read_export": read_export,
    "read_hook": read_hook,
    "read_memory_file": read_memory_file,
    "read_shared_file": read_shared_file,
    "read_transcript": read_transcript,
    "send_request": send_request,
}
