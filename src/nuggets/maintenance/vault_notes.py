"""A note as a file of a vault: what it is called, what it says, and what an edit of it means.

A file is a note with front matter (`domain/note_markdown.py`), without what is counted at every
recall. People may rename it, which renames the note, and link to it by its path, its name, its
title or an alias.
"""

import os
from collections.abc import Container, Mapping
from typing import Any

from nuggets.domain import codec
from nuggets.domain.limits import TAG_CHARACTERS
from nuggets.domain.names_and_tags import DEFAULT_NUGGET, checked_nugget_name, own_tags
from nuggets.domain.note_markdown import LINKS_HEADING, WIKILINK, parse_note, render_note
from nuggets.domain.records import DEFAULT_REASON, MemoryNote
from nuggets.domain.times import normalize_time
from nuggets.errors import InvalidInput
from nuggets.language.markdown import list_of, without_code
from nuggets.language.text import fold_case
from nuggets.operations.notes_and_links import normal_content

Json = dict[str, Any]
ENDING = ".md"
ALIASES = "aliases"  # Obsidian finds a note by them
_UNRESOLVED = "unresolvedLinks"  # links to what is not there yet, kept in the note
_MENTIONS = "mentions it"
_ANCHORS = "anchors"  # follow from the text
_DATES = ("createdAt", "updatedAt", "lastAccessedAt")  # a person's editor does not keep them
_COUNTED = ("hits", "lastHitSession", "hitSessions", "lastInspectedAt")


# --- names of files -------------------------------------------------------------------------------


def wikilink_name(path: str) -> str:
    """How a wikilink names a file surely."""
    return path.removesuffix(ENDING).replace(os.sep, "/")


def stem_of(path: str) -> str:
    return os.path.basename(path).removesuffix(ENDING)


# --- a note as a file -----------------------------------------------------------------------------


def as_shown(note: MemoryNote, ids: Container[str]) -> MemoryNote:
    """A note as far as its file shows it; `ids`: of the notes that have one."""
    return note._replace(
        hits=0,
        last_hit_session="",
        hit_sessions=(),
        last_accessed_at="",
        last_inspected_at=None,
        tags=own_tags(note.tags, note.nugget_name),
        links=tuple(link for link in note.links if link.to in ids),
    )


def vault_text(note: MemoryNote, paths: Mapping[str, str]) -> str:
    """The text of a note's file. `paths`: of the files, by note id."""
    extra = dict(note.extra)
    unresolved = extra.pop(_UNRESOLVED, [])
    if stem_of(paths[note.id]) != note.title:
        extra[ALIASES] = [note.title, *_aliases(extra)]
    shown = as_shown(note, paths)._replace(extra=extra)
    linked = (note.id, *(link.to for link in shown.links))
    text = render_note(shown, {i: paths[i].removesuffix(ENDING) for i in linked})
    if isinstance(unresolved, list) and unresolved:
        head = "" if shown.links or LINKS_HEADING in note.content else f"\n{LINKS_HEADING}\n\n"
        text += head + "".join(f"- {line}\n" for line in unresolved)
    return text


def _aliases(fields: Mapping[str, Any]) -> list[str]:
    value = fields.get(ALIASES) or []
    return [str(alias) for alias in (value if isinstance(value, list) else [value])]


class VaultFile:
    """What a file of a vault says."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        file = parse_note(text, wikilink_name(path))
        self._file = file if _is_own(file.fields) else file._replace(fields=_adopt(file.fields))
        self.id: str = file.fields["id"] if _is_own(file.fields) else ""
        given = self._file.fields.get("nuggetName")
        self.nugget = _nugget_of(path) if given is None else str(given)
        self.title = str(self._file.fields.get("title") or "").strip()
        self.aliases = _aliases(self._file.fields)

    def to_json(
        self, note_id: str, known: MemoryNote | None, old_path: str, ids: Mapping[str, str]
    ) -> Json:
        """The note in its documented JSON, without what a file cannot tell.

        `known`: as it was when the file was written; `old_path`: where that was, "" if it is new;
        `ids`: by all that wikilinks may call a note, folded.
        """
        shape = self._file.to_json(lambda target: _find(ids, target))
        shape = {
            name: _EMPTY.get(name) if value is None else value
            for name, value in shape.items()
            if name not in _COUNTED and (value is not None or name in _EMPTY or name not in _OURS)
        }
        shape |= {"id": note_id, "content": normal_content(shape["content"])}
        stem = stem_of(self.path)
        title = self.title
        is_renamed = known is not None and bool(old_path) and stem != stem_of(old_path)
        if not title or (is_renamed and known is not None and title == known.title):
            shape["title"] = stem
        self._add_links(shape, ids)
        aliases = [a for a in self.aliases if a not in (title, known and known.title)]
        shape.pop(ALIASES, None)
        if aliases or (known is not None and ALIASES in known.extra):
            shape[ALIASES] = aliases
        if known is None:
            shape |= {"nuggetName": self.nugget, "hidden": False}
            shape["tags"] = [str(tag) for tag in list_of(shape.get("tags"))]
            return shape
        for field in (*_DATES, _ANCHORS):
            shape.pop(field, None)
        shape |= {"nuggetName": known.nugget_name, "kind": known.kind}  # no edit changes them
        shape.setdefault("hidden", False)
        shape["tags"] = list(own_tags(map(str, list_of(shape.get("tags"))), known.nugget_name))
        if "\n".join(shape["content"].split()) == "\n".join(known.content.split()):
            shape["content"] = known.content  # an editor's way with blanks is no edit
        return shape

    def says(self, other: "VaultFile", note: MemoryNote, ids: Mapping[str, str]) -> bool:
        """Does it say all that the other file says of the note? One that a person wrote says less,
        because they need no fields."""
        mine, others = (file._statement(note, ids) for file in (self, other))
        fields = others.keys() | mine.keys() if self.id else mine.keys()
        return all(mine.get(field) == others.get(field) for field in fields)

    def _statement(self, note: MemoryNote, ids: Mapping[str, str]) -> Json:
        shape = self.to_json(note.id, note, self.path, ids)
        links = {
            (link["to"], fold_case(link["reason"] or DEFAULT_REASON)) for link in shape["links"]
        }
        anchors = {_ANCHORS: self._file.fields.get(_ANCHORS)} if self.id else {}
        return {**shape, "links": links, "tags": set(shape["tags"]), **anchors}

    def _add_links(self, shape: Json, ids: Mapping[str, str]) -> None:
        """Links in the text, beside those of the last section; and those that lead nowhere yet."""
        linked = {link["to"] for link in shape["links"]} | {shape["id"]}
        for match in WIKILINK.finditer(without_code(shape["content"])):
            to = _find(ids, match[1].strip())
            if to is not None and to not in linked:
                linked.add(to)
                shape["links"].append({"to": to, "reason": _MENTIONS, "createdAt": ""})
        unresolved = [
            f"[[{link.target}]]" + (f": {link.reason}" if link.reason else "")
            for link in self._file.links
            if _find(ids, link.target) is None
        ]
        shape.pop(_UNRESOLVED, None)
        if unresolved:
            shape[_UNRESOLVED] = unresolved


def _is_own(fields: Mapping[str, Any]) -> bool:
    """Was the file written by us? People do not name an id and a nugget."""
    return isinstance(fields.get("id"), str) and "nuggetName" in fields


def _adopt(fields: Json) -> Json:
    """The fields of a file that a person wrote, in which our names mean something else: they become
    tags, if they are words."""
    mistaken = [name for name in fields if name in _OURS and name not in _PEOPLES]
    words = [fields[name] for name in mistaken if isinstance(fields[name], str)]
    adopted = {name: value for name, value in fields.items() if name not in mistaken}
    tags = [*list_of(fields.get("tags")), *(word for word in words if len(word) <= TAG_CHARACTERS)]
    try:
        adopted["createdAt"] = normalize_time(str(fields["createdAt"]))
    except (InvalidInput, KeyError):
        adopted.pop("createdAt", None)
    return {**adopted, "tags": tags}


_OURS = {field.json_name for field in codec.json_fields(MemoryNote)}
_EMPTY = codec.empty_fields(MemoryNote)  # a property that someone emptied; the others stay
_PEOPLES = ("title", "tags", "nuggetName", "createdAt")  # what they mean as well


def _find(ids: Mapping[str, str], target: str) -> str | None:
    return ids.get(fold_case(target.removesuffix(ENDING)))


def _nugget_of(path: str) -> str:
    """The nugget of a new file: the directory in which it lies."""
    first, separator, _ = path.partition(os.sep)
    try:
        return checked_nugget_name(first) if separator else DEFAULT_NUGGET
    except InvalidInput:
        return DEFAULT_NUGGET


def rename_links(content: str, renamed: Mapping[str, str]) -> str:
    """The content with wikilinks to files that are called otherwise now; `renamed`: old name,
    folded, to new name."""
    if "[[" not in content:
        return content

    def rename(link: Any) -> str:
        new = renamed.get(fold_case(link[1].strip()))
        whole: str = link[0]
        return whole if new is None else whole.replace(link[1], new, 1)

    return WIKILINK.sub(rename, content)
