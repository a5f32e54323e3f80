"""Operations that change the shelf, and the look at a merge before it is done.

Each change but a purge is one step of the history with a way back.
"""

from typing import Any

from nuggets import codec
from nuggets.graph.limits import REASON_CHARACTERS, TAG_CHARACTERS, TAGS
from nuggets.interfaces import answers
from nuggets.interfaces.rest.operation import (
    CONTENT,
    NAME,
    SHARE,
    TEXT,
    TRUTH,
    Given,
    Operation,
    Schema,
    array,
    choice,
    closed,
    named,
    shape,
)
from nuggets.interfaces.rest.reading import QUERY
from nuggets.interfaces.rest.shapes import COUNT
from nuggets.records import SCOPES, SOURCES, STABILITIES, TYPES
from nuggets.shelf import SESSION_CHARACTERS, NuggetShelf

REASON: Schema = {"type": "string", "maxLength": REASON_CHARACTERS}
SESSION: Schema = {"type": "string", "maxLength": SESSION_CHARACTERS}
TAG_LIST = array({"type": "string", "maxLength": TAG_CHARACTERS}, TAGS + 3)
META: dict[str, Schema] = {
    "subject": NAME,
    "scope": choice(SCOPES),
    "type": choice(TYPES),
    "source": choice(SOURCES),
    "confidence": SHARE,
    "stability": choice(STABILITIES),
}


def _meta(given: Given) -> dict[str, Any]:
    return {name: given[name] for name in META if name in given}


def _remember(shelf: NuggetShelf, given: Given) -> Any:
    fact = shelf.remember(given["nugget"], given["key"], given["value"], **_meta(given))
    return codec.note_to_json(fact)


def _forget(shelf: NuggetShelf, given: Given) -> Any:
    nugget, key = given["nugget"], given["key"]
    return answers.forgotten(nugget, int(shelf.forget(nugget, key)), key)


def _recall(shelf: NuggetShelf, given: Given) -> Any:
    found = shelf.recall_or_search(given["query"], given.get("nugget"), given.get("session", ""))
    return answers.recalled(shelf, *found)


def _create_note(shelf: NuggetShelf, given: Given) -> Any:
    note = shelf.create_note(
        given["nugget"], given["title"], given["content"], given.get("tags", ()), **_meta(given)
    )
    return codec.note_to_json(note)


def _edit_note(shelf: NuggetShelf, given: Given) -> Any:
    changed = {
        name: given[name]
        for name in ("content", "title", "tags", "hidden", "expected")
        if name in given
    }
    return codec.note_to_json(shelf.edit_note(given["note"], **changed, **_meta(given)))


def _delete_note(shelf: NuggetShelf, given: Given) -> Any:
    hard = given.get("hard", False)
    note = shelf.delete_note(given["note"], hard)
    return answers.deleted(note) if hard else codec.note_to_json(note)


def _restore_note(shelf: NuggetShelf, given: Given) -> Any:
    return codec.note_to_json(shelf.restore_note(given["note"]))


def _merge(shelf: NuggetShelf, given: Given) -> Any:
    note = shelf.merge_notes(given["note"], given["source"], given.get("reason", ""))
    return codec.note_to_json(note)


def _merge_preview(shelf: NuggetShelf, given: Given) -> Any:
    return codec.note_to_json(shelf.merge_notes(given["note"], given["source"], dry_run=True))


def _purge(shelf: NuggetShelf, given: Given) -> Any:
    return answers.purged(shelf.purge(given["note"]))


def _link(shelf: NuggetShelf, given: Given) -> Any:
    a, b = given["a"], given["b"]
    return answers.linked(shelf, a, b, shelf.add_link(a, b, given.get("reason", "")))


def _unlink(shelf: NuggetShelf, given: Given) -> Any:
    return answers.unlinked(shelf.remove_link(given["a"], given["b"], given.get("reason")))


def _clear(shelf: NuggetShelf, given: Given) -> Any:
    return answers.forgotten(given["nugget"], shelf.clear(given["nugget"]))


def _remove(shelf: NuggetShelf, given: Given) -> Any:
    return answers.removed(given["nugget"], shelf.remove(given["nugget"]))


_NOTE = named("Note")
_PAIR: dict[str, Schema] = {"a": NAME, "b": NAME, "reason": REASON}

OPERATIONS = (
    Operation(
        "POST",
        "/api/nuggets/{nugget}/facts",
        "remember",
        "Store a fact; a known key gets the new value",
        _remember,
        _NOTE,
        body=closed({"key": NAME, "value": CONTENT, **META}, ("key", "value")),
        status=201,
    ),
    Operation(
        "DELETE",
        "/api/nuggets/{nugget}/facts",
        "forget",
        "Take a fact away",
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
        body=closed({}),
    ),
    Operation(
        "DELETE",
        "/api/nuggets/{nugget}",
        "remove",
        "Take a nugget away with all it holds",
        _remove,
        shape({"removed": COUNT, "nugget": NAME}),
    ),
    Operation(
        "POST",
        "/api/recall",
        "recallInSession",
        "Find a fact for an agent, else notes: a session that had not seen them adds a hit",
        _recall,
        named("Recall"),
        body=closed({"query": QUERY, "nugget": NAME, "session": SESSION}, ("query",)),
        is_quiet=True,
    ),
    Operation(
        "POST",
        "/api/notes",
        "createNote",
        "Store a note",
        _create_note,
        _NOTE,
        body=closed(
            {"nugget": NAME, "title": NAME, "content": CONTENT, "tags": TAG_LIST, **META},
            ("nugget", "title", "content"),
        ),
        status=201,
    ),
    Operation(
        "PATCH",
        "/api/notes/{note}",
        "editNote",
        "Change what is given; `expected` is the updatedAt that the editor saw",
        _edit_note,
        _NOTE,
        body=closed(
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
        "Archive a note, or with `hard` take it and all links to it away",
        _delete_note,
        {"anyOf": [_NOTE, shape({"deleted": COUNT, "id": NAME})]},
        {"hard": TRUTH},
    ),
    Operation(
        "POST",
        "/api/notes/{note}/restore",
        "restoreNote",
        "Bring an archived note back",
        _restore_note,
        _NOTE,
        body=closed({}),
    ),
    Operation(
        "POST",
        "/api/notes/{note}/merge",
        "mergeNotes",
        "Unite another note into this one; the other is archived",
        _merge,
        _NOTE,
        body=closed({"source": NAME, "reason": REASON}, ("source",)),
    ),
    Operation(
        "GET",
        "/api/notes/{note}/merge",
        "previewMerge",
        "What this note would be with another one united into it; changes nothing",
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
        shape({"erased": array(TEXT), "mergedWith": array(named("Brief"))}),
        body=closed({}),
    ),
    Operation(
        "POST",
        "/api/links",
        "link",
        "Link two notes, at both ends",
        _link,
        shape({"added": TRUTH, "notes": array(named("Brief"))}),
        body=closed(_PAIR, ("a", "b")),
    ),
    Operation(
        "DELETE",
        "/api/links",
        "unlink",
        "Take the link of a reason away, or all between the two",
        _unlink,
        shape({"removed": TRUTH}),
        _PAIR,
        ("a", "b"),
    ),
)
