"""Operations that change the shelf, and the preview of a merge.

Each change but a purge is one step of the history and can be undone.
"""

from typing import Any

from nuggets.domain import codec
from nuggets.domain.limits import REASON_CHARACTERS, SESSION_CHARACTERS, TAG_CHARACTERS, TAGS
from nuggets.domain.records import SCOPES, SOURCES, STABILITIES, TYPES
from nuggets.interfaces import json_responses
from nuggets.interfaces.rest.operation_definition import (
    CONTENT,
    NAME,
    SHARE,
    TEXT,
    TRUTH,
    Arguments,
    Operation,
    Schema,
    array,
    choice,
    reference,
    shape,
    strict_object,
)
from nuggets.interfaces.rest.read_operations import QUERY
from nuggets.interfaces.rest.response_schemas import COUNT
from nuggets.shelf import NuggetShelf

REASON: Schema = {"type": "string", "maxLength": REASON_CHARACTERS}
PROJECT: Schema = {"type": "string", "maxLength": 4096}  # a repository; "" for none
SESSION: Schema = {"type": "string", "maxLength": SESSION_CHARACTERS}
TAG_LIST = array({"type": "string", "maxLength": TAG_CHARACTERS}, TAGS + 3)
META: dict[str, Schema] = {
    "subject": NAME,
    "scope": choice(SCOPES),
    "type": choice(TYPES),
    "source": choice(SOURCES),
    "confidence": SHARE,
    "stability": choice(STABILITIES),
    "project": PROJECT,
    "valid_from": TEXT,
    "valid_until": TEXT,
    "supersedes": NAME,
}


def _meta(arguments: Arguments) -> dict[str, Any]:
    return {name: arguments[name] for name in META if name in arguments}


def _remember(shelf: NuggetShelf, arguments: Arguments) -> Any:
    fact = shelf.remember(
        arguments["nugget"], arguments["key"], arguments["value"], **_meta(arguments)
    )
    return json_responses.written_fact(fact)


def _forget(shelf: NuggetShelf, arguments: Arguments) -> Any:
    nugget, key = arguments["nugget"], arguments["key"]
    return json_responses.forget_result(nugget, int(shelf.forget(nugget, key)), key)


def _recall(shelf: NuggetShelf, arguments: Arguments) -> Any:
    with shelf.snapshot():
        answers = shelf.recall_or_search(
            arguments["query"], arguments.get("nugget"), arguments.get("session", "")
        )
        return json_responses.recall_result(shelf, *answers)


def _create_note(shelf: NuggetShelf, arguments: Arguments) -> Any:
    note = shelf.create_note(
        arguments["nugget"],
        arguments["title"],
        arguments["content"],
        arguments.get("tags", ()),
        **_meta(arguments),
    )
    return json_responses.written_note(note)


def _edit_note(shelf: NuggetShelf, arguments: Arguments) -> Any:
    changed = {
        name: arguments[name]
        for name in ("content", "title", "tags", "hidden", "expected")
        if name in arguments
    }
    return json_responses.written_note(
        shelf.edit_note(arguments["note"], **changed, **_meta(arguments))
    )


def _delete_note(shelf: NuggetShelf, arguments: Arguments) -> Any:
    hard = arguments.get("hard", False)
    note = shelf.delete_note(arguments["note"], hard)
    return json_responses.delete_result(note) if hard else codec.note_to_json(note)


def _restore_note(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return codec.note_to_json(shelf.restore_note(arguments["note"]))


def _merge(shelf: NuggetShelf, arguments: Arguments) -> Any:
    note = shelf.merge_notes(arguments["note"], arguments["source"], arguments.get("reason", ""))
    return codec.note_to_json(note)


def _merge_preview(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return codec.note_to_json(
        shelf.merge_notes(arguments["note"], arguments["source"], dry_run=True)
    )


def _purge(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return json_responses.purge_result(shelf.purge(arguments["note"]))


def _link(shelf: NuggetShelf, arguments: Arguments) -> Any:
    a, b = arguments["a"], arguments["b"]
    return json_responses.link_result(
        shelf, a, b, shelf.add_link(a, b, arguments.get("reason", ""))
    )


def _unlink(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return json_responses.unlink_result(
        shelf.remove_link(arguments["a"], arguments["b"], arguments.get("reason"))
    )


def _clear(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return json_responses.forget_result(arguments["nugget"], shelf.clear(arguments["nugget"]))


def _remove(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return json_responses.remove_result(arguments["nugget"], shelf.remove(arguments["nugget"]))


_NOTE = reference("Note")
_PAIR: dict[str, Schema] = {"a": NAME, "b": NAME, "reason": REASON}

OPERATIONS = (
    Operation(
        "POST",
        "/api/nuggets/{nugget}/facts",
        "remember",
        "Store a fact; a known key gets the new value",
        _remember,
        reference("Remembered"),
        body=strict_object({"key": NAME, "value": CONTENT, **META}, ("key", "value")),
        status=201,
    ),
    Operation(
        "DELETE",
        "/api/nuggets/{nugget}/facts",
        "forget",
        "Forget a fact",
        _forget,
        shape({"forgotten": COUNT, "nugget": NAME, "key": NAME}),
        {"key": NAME},
        ("key",),
    ),
    Operation(
        "POST",
        "/api/nuggets/{nugget}/clear",
        "clear",
        "Forget all facts of a nugget; its notes stay",
        _clear,
        shape({"forgotten": COUNT, "nugget": NAME}),
        body=strict_object({}),
    ),
    Operation(
        "DELETE",
        "/api/nuggets/{nugget}",
        "remove",
        "Remove a nugget with everything in it",
        _remove,
        shape({"removed": COUNT, "nugget": NAME}),
    ),
    Operation(
        "POST",
        "/api/recall",
        "recallInSession",
        "Recall a fact for an agent, else search notes; a new session adds a hit",
        _recall,
        reference("Recall"),
        body=strict_object({"query": QUERY, "nugget": NAME, "session": SESSION}, ("query",)),
        is_quiet=True,
    ),
    Operation(
        "POST",
        "/api/notes",
        "createNote",
        "Store a note",
        _create_note,
        reference("Written"),
        body=strict_object(
            {"nugget": NAME, "title": NAME, "content": CONTENT, "tags": TAG_LIST, **META},
            ("nugget", "title", "content"),
        ),
        status=201,
    ),
    Operation(
        "PATCH",
        "/api/notes/{note}",
        "editNote",
        "Change the given fields; `expected` is the updatedAt that the editor saw",
        _edit_note,
        reference("Written"),
        body=strict_object(
            {
                "content": CONTENT,
                "title": NAME,
                "tags": TAG_LIST,
                "hidden": TRUTH,
                "expected": NAME,
                **META,
            }
        ),
    ),
    Operation(
        "DELETE",
        "/api/notes/{note}",
        "deleteNote",
        "Archive a note, or with `hard` delete it and all links to it",
        _delete_note,
        {"anyOf": [_NOTE, shape({"deleted": COUNT, "id": NAME})]},
        {"hard": TRUTH},
    ),
    Operation(
        "POST",
        "/api/notes/{note}/restore",
        "restoreNote",
        "Restore an archived note",
        _restore_note,
        _NOTE,
        body=strict_object({}),
    ),
    Operation(
        "POST",
        "/api/notes/{note}/merge",
        "mergeNotes",
        "Merge another note into this one; the other is archived",
        _merge,
        _NOTE,
        body=strict_object({"source": NAME, "reason": REASON}, ("source",)),
    ),
    Operation(
        "GET",
        "/api/notes/{note}/merge",
        "previewMerge",
        "Preview of a merge; changes nothing",
        _merge_preview,
        _NOTE,
        {"source": NAME},
        ("source",),
    ),
    Operation(
        "POST",
        "/api/notes/{note}/purge",
        "purgeNote",
        "Erase a note from the shelf, its history and MEMORY.md; there is no undo",
        _purge,
        shape(
            {
                "erased": array(TEXT),
                "mergedWith": array(reference("Brief")),
                "backups": array(TEXT),
                "notReached": array(TEXT),
            }
        ),
        body=strict_object({}),
    ),
    Operation(
        "POST",
        "/api/links",
        "link",
        "Link two notes, at both ends",
        _link,
        shape({"added": TRUTH, "notes": array(reference("Brief"))}),
        body=strict_object(_PAIR, ("a", "b")),
    ),
    Operation(
        "DELETE",
        "/api/links",
        "unlink",
        "Remove the link with this reason, or all links between the two",
        _unlink,
        shape({"removed": TRUTH}),
        _PAIR,
        ("a", "b"),
    ),
)
