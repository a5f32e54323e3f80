"""A folder of Markdown: our own export, an Obsidian vault, basic-memory, or plain files.

A file is a note, its front matter the fields, its wikilinks the links.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from nuggets.errors import NuggetsError
from nuggets.interfaces.importers import Json, Records, make_note, moment
from nuggets.interfaces.importers.bounded_files import ReadFile, files_below, read_file
from nuggets.interfaces.importers.front_matter import list_of, split_front_matter
from nuggets.interfaces.importers.instruction_files import is_instruction_file, read_instructions
from nuggets.language.code_fences import without_code
from nuggets.language.text import fold_case
from nuggets.maintenance.export_and_backup import FIELD_NAMES, LINKS_HEADING

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
