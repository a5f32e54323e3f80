"""Markdown: folders of notes, such as a vault of Obsidian, a project of basic-memory, a bundle of
the Open Knowledge Format, the memory folder of Claude Code, or our own export; and files that
people write for an agent.

A file is a note, its front matter the fields, its links the links. Fields that a note does not have
are kept as they are.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from nuggets.domain import codec
from nuggets.domain.limits import CONTENT_BYTES, REASON_CHARACTERS
from nuggets.domain.marks import BLOCK_BEGIN, BLOCK_END
from nuggets.domain.note_markdown import (
    MARKDOWN_LINK,
    WIKILINK,
    FileLink,
    NoteFile,
    linked_file,
    note_file,
)
from nuggets.errors import NuggetsError
from nuggets.interfaces.importers import ReadFile, Records, files_below, make_note, read_file
from nuggets.language.markdown import continues_code, list_of, split_front_matter, without_code
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple

ENDINGS = (".md", ".mdc", ".markdown", ".cursorrules", ".windsurfrules")
_LISTINGS = ("index.md", "log.md")  # what a bundle of the Open Knowledge Format has of itself
_CHANGED = ("modified", "updated", "timestamp")
_CREATED = ("created", "date")
KEPT = "frontMatter"  # where a note keeps fields of a file that notes do not have
_READ = {"title", "tags", "aliases", *_CHANGED, *_CREATED}  # fields that become part of the note
_INLINE_TAG = re.compile(r"(?<![\w&/#])#([^\W\d][\w/-]{0,60})")
_RELATION = re.compile(r"[ \t]{0,80}[-*+] ([^\[\]]{1,80})$")


def read_folder(folder: str, found: Records) -> None:
    """Every Markdown file below a folder; instruction files are read bullet by bullet."""
    vault, is_bundle = _Vault(found), _is_bundle(folder)
    for name in (file.path for file in files_below(folder, ENDINGS, found)):
        if is_bundle and os.path.basename(name) in _LISTINGS:
            continue
        try:
            file = read_file(os.path.join(folder, name))
            if is_instruction_file(name):
                read_instructions(file.text(name), name, file.changed_at, found)
            else:
                vault.add(name, file)
        except NuggetsError as problem:
            found.problems.append(str(problem))
    if os.path.isdir(os.path.join(folder, ".obsidian")):
        found.form = "a vault of Obsidian"
    else:
        found.form = "a bundle of the Open Knowledge Format" if is_bundle else vault.form
    vault.add_notes()


def _is_bundle(folder: str) -> bool:
    """Does its index say that it is a bundle of the Open Knowledge Format?"""
    try:
        index = read_file(os.path.join(folder, "index.md")).text("index.md")
    except NuggetsError:
        return False
    return "okf_version" in split_front_matter(index)[0]


def read_markdown(file: ReadFile, name: str, found: Records) -> None:
    """A single file as a note."""
    vault = _Vault(found)
    vault.add(name, file)
    found.form = "a Markdown file"
    vault.add_notes()


class _Vault:
    """Notes that may link to each other by the names of their files, titles and aliases."""

    def __init__(self, found: Records) -> None:
        self._found = found
        self._ids: dict[str, str] = {}  # by whatever a link may call it
        self._files: list[tuple[str, NoteFile]] = []
        self.form = "a folder of Markdown"

    def add(self, name: str, file: ReadFile) -> None:
        front, body = split_front_matter(file.text(name))
        stem = os.path.splitext(name)[0].replace(os.sep, "/")
        note = note_file(front, body, stem)
        if not note.is_ours:
            note = _foreign_note(name, front, body, self._found.nugget, file.changed_at)
            if "permalink" in front:
                self.form = "a folder of basic-memory"
            if len(codec.dumps(note.fields.get(KEPT, {}))) > CONTENT_BYTES:
                self._found.problems.append(f"{name}: its front matter is too large, and left out")
                del note.fields[KEPT]
        names = (stem.rpartition("/")[2], note.fields.get("title", ""), front.get("permalink", ""))
        for called in (*names, *list_of(front.get("aliases"))):
            self._ids.setdefault(fold_case(str(called)), note.fields["id"])
        self._ids[fold_case(stem)] = note.fields["id"]  # a path is meant before any title
        self._files.append((name, note))

    def add_notes(self) -> None:
        """Add the notes with their links, once all are known."""
        for name, note in self._files:
            shape = note.to_json(self._find)
            self._found.left_out += len(note.links) - len(shape["links"])
            self._found.add(shape, name)

    def _find(self, target: str) -> str | None:
        known = self._ids.get(fold_case(target.removesuffix(".md")))
        # one that was not exported with the others is linked by its id, and may be here
        return known or (target if target.startswith(("note-", "fact-")) else None)


def _foreign_note(
    name: str, front: Mapping[str, Any], body: str, nugget: str, changed_at: str
) -> NoteFile:
    stem = os.path.splitext(os.path.basename(name))[0]
    name_given = front.get("name")  # in the memory of Claude Code
    title = str(front.get("title") or (name_given if isinstance(name_given, str) else "") or stem)
    tags = [*list_of(front.get("tags")), *list_of(front.get("type"))]
    tags += [folder for folder in os.path.dirname(name).split(os.sep) if folder]
    tags += _INLINE_TAG.findall(without_code(body))
    note = make_note(
        nugget,
        title,
        body,
        identity=f"file {name}",
        at=changed_at,
        changed=next((front[key] for key in _CHANGED if key in front), None),
        created=next((front[key] for key in _CREATED if key in front), None),
        tags=tags,
    )
    del note["links"]
    kept = {field: value for field, value in front.items() if field not in _READ}
    fields = {**note, "importedFrom": name, **({KEPT: kept} if kept else {})}
    content = fields.pop("content")
    links = {link.target: link for link in reversed([*file_links(body, name)])}
    return NoteFile(fields, content, tuple(reversed(links.values())))


def file_links(text: str, name: str) -> Iterator[FileLink]:
    """Links in a text, each with its reason: the relation before it, or what follows a colon."""
    if "[[" not in text and "](" not in text:  # most texts: reading their lines takes long
        return
    for line in without_code(text).splitlines():
        for link in WIKILINK.finditer(line):
            yield FileLink(link[1].strip(), _reason(line, link))
        for link in MARKDOWN_LINK.finditer(line):
            if unquote(link[1]).lower().endswith(".md"):
                yield FileLink(linked_file(link[1], name), _reason(line, link))


def _reason(line: str, link: re.Match[str]) -> str:
    relation = _RELATION.match(line[: link.start()])
    after = line[link.end() :]
    reason = after[1:].strip() if after.startswith(":") else ""
    reason = reason or (relation[1].strip() if relation else "")
    return reason if 0 < len(reason) <= REASON_CHARACTERS else "mentions it"


# --- files that people write for an agent ---------------------------------------------------------
#
# CLAUDE.md, AGENTS.md, GEMINI.md, MEMORY.md, and the rules of Cursor and Windsurf. A bullet or a
# paragraph is a note, the headings above it are its tags.


_MEMORY_FILE = "memory.md"  # of an agent: what it keeps itself, and what was promoted into it
_NAMES = ("claude.md", "claude.local.md", "agents.md", "gemini.md", _MEMORY_FILE)
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


def read_instructions(text: str, name: str, at: str, found: Records) -> None:
    """The notes of such a file. The same text gets the same id, wherever it stands in the file."""
    fields, body = split_front_matter(text)
    # of a rule of Cursor: when it applies, and to which files
    about = [fields[name] for name in ("description", "globs") if fields.get(name)]
    skipped = text.count("\n") - body.count("\n")
    stem = os.path.splitext(os.path.basename(name))[0].strip(".")
    is_memory_file = os.path.basename(name).lower() == _MEMORY_FILE
    for block in _blocks(_without_our_block(body)):
        if is_memory_file and (found.is_promoted(block.text) or _is_listing(block.text)):
            continue
        note = make_note(
            found.nugget,
            "",
            block.text,
            identity=f"{stem} {block.text}",
            at=at,
            tags=block.headings,
            source="explicit_user",
            importedFrom=name,
        )
        if about:
            note["content"] += f"\n\nApplies to: {'; '.join(map(_as_line, about))}"
        note |= {"project": found.project, "scope": "project"} if found.project else {}
        found.add(note, f"{name}, line {block.line + skipped}")


def _as_line(value: object) -> str:
    return (", ".join(map(str, value)) if isinstance(value, list) else str(value)).strip()


def _is_listing(text: str) -> bool:
    """Does it only say what another file of the folder is about?"""
    link = MARKDOWN_LINK.match(text)
    return link is not None and link[1].endswith(".md") and "\n" not in text


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
