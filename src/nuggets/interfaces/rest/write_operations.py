"""Operations that change the shelf, and the preview of a merge.

Each change but a purge is one step of the history and can be undone.
"""

from typing import Annotated, Any

from nuggets.domain import codec
from nuggets.domain.limits import REASON_CHARACTERS, TAG_CHARACTERS, TAGS, Limit, Name, Session
from nuggets.domain.records import GraphNoteMetaInput
from nuggets.interfaces import json_responses
from nuggets.interfaces.json_schemas import (
    Parameters,
    array,
    given_kinds,
    reference,
    shape,
)
from nuggets.interfaces.rest.operation_definition import Arguments, Content, Count, Operation
from nuggets.interfaces.rest.read_operations import QUERY
from nuggets.shelf import NuggetShelf

REASON = Annotated[str, Limit(0, REASON_CHARACTERS)]
TAG_LIST = Annotated[
    tuple[Annotated[str, Limit(0, TAG_CHARACTERS)], ...], Limit(0, TAGS + 3, "items")
]
META = given_kinds(GraphNoteMetaInput)


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


def _purge_preview(shelf: NuggetShelf, arguments: Arguments) -> Any:
    return json_responses.purge_result(shelf.purge(arguments["note"], dry_run=True))


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
_PAIR: dict[str, Any] = {"a": Name, "b": Name, "reason": REASON}

_PURGED = shape(
    {
        "erased": array(str),
        "mergedWith": array(reference("Brief")),
        "backups": array(str),
        "notReached": array(str),
    }
)

OPERATIONS = (
    Operation(
        "POST",
        "/api/nuggets/{nugget}/facts",
        "remember",
        "Store a fact; a known key gets the new value",
        _remember,
        reference("Remembered"),
        body=Parameters({"key": Name, "value": Content, **META}, ("key", "value")),
        status=201,
    ),
    Operation(
        "DELETE",
        "/api/nuggets/{nugget}/facts",
        "forget",
        "Forget a fact",
        _forget,
        shape({"forgotten": Count, "nugget": Name, "key": Name}),
        {"key": Name},
        ("key",),
    ),
    Operation(
        "POST",
        "/api/nuggets/{nugget}/clear",
        "clear",
        "Forget all facts of a nugget; its notes stay",
        _clear,
        shape({"forgotten": Count, "nugget": Name}),
        body=Parameters({}),
    ),
    Operation(
        "DELETE",
        "/api/nuggets/{nugget}",
        "remove",
        "Remove a nugget with everything in it",
        _remove,
        shape({"removed": Count, "nugget": Name}),
    ),
    Operation(
        "POST",
        "/api/recall",
        "recallInSession",
        "Recall a fact for an agent, else search notes; a new session adds a hit",
        _recall,
        reference("Recall"),
        body=Parameters({"query": QUERY, "nugget": Name, "session": Session}, ("query",)),
        is_quiet=True,
    ),
    Operation(
        "POST",
        "/api/notes",
        "createNote",
        "Store a note",
        _create_note,
        reference("Written"),
        body=Parameters(
            {"nugget": Name, "title": Name, "content": Content, "tags": TAG_LIST, **META},
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
        body=Parameters(
            {
                "content": Content,
                "title": Name,
                "tags": TAG_LIST,
                "hidden": bool,
                "expected": Name,
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
        {"anyOf": [_NOTE, shape({"deleted": Count, "id": Name})]},
        {"hard": bool},
    ),
    Operation(
        "POST",
        "/api/notes/{note}/restore",
        "restoreNote",
        "Restore an archived note",
        _restore_note,
        _NOTE,
        body=Parameters({}),
    ),
    Operation(
        "POST",
        "/api/notes/{note}/merge",
        "mergeNotes",
        "Merge another note into this one; the other is archived",
        _merge,
        _NOTE,
        body=Parameters({"source": Name, "reason": REASON}, ("source",)),
    ),
    Operation(
        "GET",
        "/api/notes/{note}/merge",
        "previewMerge",
        "Preview of a merge; changes nothing",
        _merge_preview,
        _NOTE,
        {"source": Name},
        ("source",),
    ),
    Operation(
        "POST",
        "/api/notes/{note}/purge",
        "purgeNote",
        "Erase a note from the shelf, its history and MEMORY.md; there is no undo",
        _purge,
        _PURGED,
        body=Parameters({}),
    ),
    Operation(
        "GET",
        "/api/notes/{note}/purge",
        "previewPurge",
        "What an erasure would take away; changes nothing",
        _purge_preview,
        _PURGED,
    ),
    Operation(
        "POST",
        "/api/links",
        "link",
        "Link two notes, at both ends",
        _link,
        shape({"added": bool, "notes": array(reference("Brief"))}),
        body=Parameters(_PAIR, ("a", "b")),
    ),
    Operation(
        "DELETE",
        "/api/links",
        "unlink",
        "Remove the link with this reason, or all links between the two",
        _unlink,
        shape({"removed": bool}),
        _PAIR,
        ("a", "b"),
    ),
)
