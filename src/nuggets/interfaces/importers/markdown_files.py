"""Markdown: folders of notes such as a vault of Obsidian, and files of instructions for agents."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nuggets.domain.marks import BLOCK_BEGIN, BLOCK_END
from nuggets.errors import NuggetsError
from nuggets.interfaces.importers import (
    Json,
    ReadFile,
    Records,
    files_below,
    make_note,
    moment,
    read_file,
)
from nuggets.language.code_fences import continues_code, without_code
from nuggets.language.text import fold_case
from nuggets.maintenance.export_and_backup import FIELD_NAMES, LINKS_HEADING
from nuggets.named_tuple import NamedTuple

# --- the fields before a text ---------------------------------------------------------------------
#
# Of YAML only what such files have is read: texts, numbers, and lists; JSON is part of it.


MOST_LINES = 1000  # a longer one is no front matter, but a text between two rules
_FIELD = re.compile(r"([^\W\d][\w -]{0,80}):(?:[ \t]+(.*)|[ \t]*)$")


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The fields before the text, and the text."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return {}, "\n".join(lines)
    ends = (i for i, line in enumerate(lines[1:MOST_LINES], 1) if line.rstrip() == "---")
    end = next(ends, 0)
    if not end:
        return {}, "\n".join(lines)
    return _fields(lines[1:end]), "\n".join(lines[end + 1 :])


def _fields(lines: Sequence[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    name = ""
    for line in lines:
        field = _FIELD.match(line)
        if field:
            name = field[1].strip()
            fields[name] = _value(field[2] or "")
        elif name and line.lstrip().startswith("- ") and not isinstance(fields[name], dict):
            items = fields[name] if isinstance(fields[name], list) else []
            fields[name] = [*items, _value(line.lstrip()[2:])]
    return fields


def _value(text: str) -> Any:
    """A JSON value, a list in brackets, or the text without its quotation marks."""
    text = text.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text.startswith("[") and text.endswith("]"):
        return [_value(item) for item in text[1:-1].split(",") if item.strip()]
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text


def list_of(value: object) -> list[Any]:
    """What a field lists."""
    if isinstance(value, str):  # Obsidian writes several in one line too
        return value.replace(",", " ").split()
    return value if isinstance(value, list) else []


# --- folders of notes: our own export, Obsidian, basic-memory, plain files ------------------------
#
# A file is a note, its front matter the fields, its wikilinks the links.


ENDINGS = (".md", ".mdc", ".markdown", ".cursorrules", ".windsurfrules")
_OWN_NAMES = {called: name for name, called in FIELD_NAMES.items()}
_WIKILINK = re.compile(r"!?\[\[([^\[\]|#^\n]{1,300})(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_INLINE_TAG = re.compile(r"(?<![\w&/#])#([^\W\d][\w/-]{0,60})")
_RELATION = re.compile(r"[ \t]{0,80}[-*+] ([^\[\]]{1,80})$")


def read_folder(folder: str, nugget: str, found: Records) -> None:
    """Every Markdown file below a folder; instruction files are read bullet by bullet."""
    found.form = "a folder of Markdown"
    vault = _Vault(found)
    for name in files_below(folder, ENDINGS):
        try:
            file = read_file(os.path.join(folder, name))
            if is_instruction_file(name):
                read_instructions(file.text(name), name, nugget, file.changed_at, found)
            else:
                vault.add(name, file, nugget)
        except NuggetsError as problem:
            found.problems.append(str(problem))
    vault.link_notes()


def read_markdown(file: ReadFile, name: str, nugget: str, found: Records) -> None:
    """A single file as a note."""
    found.form = "a Markdown file"
    vault = _Vault(found)
    vault.add(name, file, nugget)
    vault.link_notes()


class _Vault:
    """Notes that may link to each other by the names of their files, titles and aliases."""

    def __init__(self, found: Records) -> None:
        self._found = found
        self._ids: dict[str, str] = {}  # by whatever a wikilink may call it
        self._texts: list[tuple[Json, str]] = []  # each note, and in which text its links stand

    def add(self, name: str, file: ReadFile, nugget: str) -> None:
        fields, body = split_front_matter(file.text(name))
        if isinstance(fields.get("id"), str) and {"nugget", "kind"} <= fields.keys():
            note, text = _own_note(fields, body)
        else:
            note, text = _foreign_note(name, fields, body, nugget, file.changed_at), body
        stem = os.path.splitext(name)[0].replace(os.sep, "/")
        for called in (stem.rpartition("/")[2], note["title"], *list_of(fields.get("aliases"))):
            self._ids.setdefault(fold_case(str(called)), note["id"])
        self._ids[fold_case(stem)] = note["id"]  # a path is meant before any title
        self._found.add(note, name)
        self._texts.append((note, text))

    def link_notes(self) -> None:
        """Add the links, once all notes are known."""
        for note, text in self._texts:
            linked = {note["id"], *_targets(note["links"])}
            for target, reason in wikilinks(text):
                to = self._ids.get(fold_case(target.removesuffix(".md")))
                self._found.left_out += to is None
                if to is not None and to not in linked:
                    linked.add(to)
                    link = {"to": to, "reason": reason, "createdAt": note["updatedAt"]}
                    note["links"].append(link)


def _own_note(fields: Mapping[str, Any], body: str) -> tuple[Json, str]:
    """A note as `nuggets export markdown` writes it, and the part of it that has the links."""
    note = {_OWN_NAMES.get(name, name): value for name, value in fields.items()}
    heading, _, rest = body.lstrip("\n").partition("\n")
    title = heading.removeprefix("# ").strip()
    content, links = f"\n{rest}", ""
    if "links" in note and f"\n{LINKS_HEADING}\n" in content:
        content, _, links = content.rpartition(f"\n{LINKS_HEADING}\n")
    note.setdefault("title", title)
    note.setdefault("links", [])
    return {**note, "content": content.strip("\n")}, links


def _foreign_note(
    name: str, fields: Mapping[str, Any], body: str, nugget: str, changed_at: str
) -> Json:
    title = str(fields.get("title") or os.path.splitext(os.path.basename(name))[0])
    prose = without_code(body)
    tags = [*list_of(fields.get("tags")), *list_of(fields.get("type"))]
    tags += [folder for folder in os.path.dirname(name).split(os.sep) if folder]
    tags += _INLINE_TAG.findall(prose)
    given = next((fields[key] for key in ("modified", "updated", "timestamp") if key in fields), "")
    at = moment(given, changed_at)
    created = moment(fields.get("created", fields.get("date", "")), at)
    note = make_note(
        nugget, title, body, identity=f"file {name}", at=at, created=created, tags=tags
    )
    return {**note, "importedFrom": name}


def wikilinks(text: str) -> Iterator[tuple[str, str]]:
    """Targets of links, each with its reason: the relation before it, or what follows a colon."""
    for line in without_code(text).splitlines():
        for link in _WIKILINK.finditer(line):
            relation = _RELATION.match(line[: link.start()])
            after = line[link.end() :]
            reason = after[1:].strip() if after.startswith(":") else ""
            yield (
                link[1].strip(),
                reason or (relation[1].strip() if relation else "") or "mentions it",
            )


def _targets(links: object) -> set[str]:
    given = links if isinstance(links, list) else []
    return {str(link.get("to")) for link in given if isinstance(link, dict)}


# --- files that people write for an agent ---------------------------------------------------------
#
# CLAUDE.md, AGENTS.md, GEMINI.md, MEMORY.md, Cursor's and Windsurf's rules. A bullet or a paragraph
# is a note, the headings above it are its tags.


_NAMES = ("claude.md", "claude.local.md", "agents.md", "gemini.md", "memory.md")
_ENDINGS = (".cursorrules", ".windsurfrules", ".mdc")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_BULLET = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)")


class _Block(NamedTuple):
    """A bullet or a paragraph."""

    line: int
    text: str
    headings: tuple[str, ...]


def is_instruction_file(path: str) -> bool:
    name = os.path.basename(path).lower()
    return name in _NAMES or name.endswith(_ENDINGS)


def read_instructions(text: str, name: str, nugget: str, at: str, found: Records) -> None:
    """The notes of such a file. The same text gets the same id, wherever it stands in the file."""
    fields, body = split_front_matter(text)
    about = fields.get("description")  # of a rule of Cursor: when it applies
    skipped = text.count("\n") - body.count("\n")
    stem = os.path.splitext(os.path.basename(name))[0].strip(".")
    for block in _blocks(_without_our_block(body)):
        note = make_note(
            nugget, "", block.text, identity=f"{stem} {block.text}", at=at, tags=block.headings
        )
        if isinstance(about, str) and about:
            note["content"] += f"\n\nApplies to: {about}"
        place = f"{name}, line {block.line + skipped}"
        note |= {"project": found.project, "scope": "project"} if found.project else {}
        found.add({**note, "source": "explicit_user", "importedFrom": name}, place)


def _without_our_block(text: str) -> str:
    """What we promoted into the file is in memory already; its lines are counted."""
    before, begin, rest = text.partition(BLOCK_BEGIN)
    ours, end, after = rest.partition(BLOCK_END)
    return before + "\n" * ours.count("\n") + after if begin and end else text


def _blocks(text: str) -> Iterator[_Block]:
    """Bullets with what belongs to them, and paragraphs; a list after a colon belongs to it."""
    lines = text.split("\n")
    headings: dict[int, str] = {}
    block: list[str] = []
    start = 0
    takes_list = False
    for number, (line, is_code) in enumerate(zip(lines, continues_code(lines), strict=True), 1):
        heading = None if is_code else _HEADING.match(line)
        bullet = None if is_code else _BULLET.match(line)
        is_end = not is_code and not line.strip() and not takes_list
        if heading or is_end or (bullet and not takes_list):
            yield from _finish(start, block, headings)
            block, takes_list = [], False
        if heading:
            level = len(heading[1])
            headings = {i: title for i, title in headings.items() if i < level}
            headings[level] = heading[2].rstrip("# \t\r")
        elif line.strip() or block:
            if not block:
                start = number
                line = bullet[1] if bullet else line
            block.append(line)
            takes_list = line.rstrip().endswith(":") or (takes_list and _goes_on(line, bullet))
    yield from _finish(start, block, headings)


def _goes_on(line: str, bullet: object) -> bool:
    """Does a list that a colon announced go on with this line?"""
    return bullet is not None or not line.strip() or line.startswith((" ", "\t"))


def _finish(start: int, block: list[str], headings: dict[int, str]) -> Iterator[_Block]:
    text = "\n".join(block).strip("\n")
    if any(sign.isalnum() for sign in text) and not text.lstrip().startswith("<!--"):
        yield _Block(start, text, tuple(headings.values()))
