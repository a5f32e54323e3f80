"""One note as a Markdown file with front matter, and back, with all that it has.

The front matter has the fields, the text is the content, and a last section lists the links, each
with its reason and, as a comment, its time. Obsidian opens it: links are wikilinks there, or
ordinary links between files for other readers. What people write is read too: fields that are not
ours are kept in the note, and a link needs neither reason nor time.
"""

import json
import re
from collections.abc import Callable, Mapping
from posixpath import dirname, join, normpath, relpath
from typing import Any, Literal
from urllib.parse import quote, unquote

from nuggets.domain import codec
from nuggets.domain.codec import LINK_FIELDS, Json
from nuggets.domain.names_and_tags import own_tags
from nuggets.domain.records import MemoryNote, NoteLink
from nuggets.language.markdown import front_matter, is_plain_name, split_front_matter
from nuggets.named_tuple import NamedTuple

LinkStyle = Literal["wikilink", "markdown"]

LINKS_HEADING = "## Links"
_FIELD_NAMES = {  # what some fields of a note are called in front matter
    "nuggetName": "nugget",
    "createdAt": "created",
    "updatedAt": "updated",
    "hidden": "archived",
}
_JSON_NAMES = {called: name for name, called in _FIELD_NAMES.items()}
_FIRST = ("title", "tags", "type", "createdAt", "updatedAt")  # what people look at
_UNKNOWN = "extra"  # the field for fields of others whose names would be mistaken
_KNOWN = {field.json_name for field in codec.json_fields(MemoryNote)} | {"vector"}
_RESERVED = {*_KNOWN, *_JSON_NAMES, _UNKNOWN, LINK_FIELDS}

WIKILINK = re.compile(r"!?\[\[([^\[\]|#^\n]{1,300})(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
# The address of an ordinary link; one with a scheme leads elsewhere.
MARKDOWN_LINK = re.compile(
    r"(?<!!)\[[^\[\]\n]{0,300}\]\((?![a-zA-Z][a-zA-Z+.-]*:)<?([^()<>#\s]{1,4096})(?:#[^()<>\s]*)?>?\)"
)
_LINK_LINE = re.compile(r"- (?:\[\[|\[).+")
_LINK_TIME = re.compile(r"(?:^|[ ])<!-- (\S{1,40}) -->$")


class FileLink(NamedTuple):
    """A link as a file has it: to the name of another file, or to whatever people call it."""

    target: str
    reason: str = ""
    created_at: str = ""


class NoteFile(NamedTuple):
    """What a file says. `fields`: in the documented JSON, without content and links; a file that a
    person wrote may lack any of them."""

    fields: Json
    content: str
    links: tuple[FileLink, ...]

    @property
    def is_ours(self) -> bool:
        """Was it made of a note, rather than written by a person or another program?"""
        return (
            isinstance(self.fields.get("id"), str) and {"nuggetName", "kind"} <= self.fields.keys()
        )

    def to_json(self, find_id: Callable[[str], str | None]) -> Json:
        """The note in its documented JSON; links to what `find_id` does not know are left out."""
        links = []
        kept = self.fields.get(LINK_FIELDS)
        for link in self.links:
            to = find_id(link.target)
            if to is not None:
                name = f"{to} {link.reason}"
                more = kept.get(name, {}) if isinstance(kept, dict) else {}
                at = link.created_at or self.fields.get("updatedAt", "")
                shape = {"to": to, "reason": link.reason, "createdAt": at}
                links.append({**shape, **(more if isinstance(more, dict) else {})})
        fields = {name: value for name, value in self.fields.items() if name != LINK_FIELDS}
        return {**fields, "content": self.content, "links": links}


# --- writing --------------------------------------------------------------------------------------


def render_note(
    note: MemoryNote, names: Mapping[str, str], *, link_style: LinkStyle = "wikilink"
) -> str:
    """The whole text of a note's file.

    `names`: for each note's id the path of its file below the common folder, without `.md`. A note
    that has none there is linked by its id.
    """
    text = f"{front_matter(_fields(note))}\n{note.content}\n"
    if not note.links and LINKS_HEADING not in note.content:
        return text
    own_name = names.get(note.id, "")
    lines = [_link_line(link, names.get(link.to, ""), own_name, link_style) for link in note.links]
    return "\n".join([text, LINKS_HEADING, "", *lines, ""])


def _fields(note: MemoryNote) -> Json:
    shape = codec.note_to_json(note, vector=False)
    for name in ("content", "links", *note.extra):
        shape.pop(name, None)
    shape["tags"] = list(own_tags(note.tags, note.nugget_name))
    ordered = {name: shape.pop(name) for name in _FIRST} | shape
    fields = {
        _FIELD_NAMES.get(name, name): value
        for name, value in ordered.items()
        if value not in ("", 0, False, []) or name == "confidence"
    }
    unknown = {name: value for name, value in note.extra.items() if name != LINK_FIELDS}
    mistaken = {n: unknown[n] for n in unknown if n in _RESERVED or not is_plain_name(n)}
    fields |= {name: value for name, value in unknown.items() if name not in mistaken}
    if LINK_FIELDS in note.extra:
        fields[LINK_FIELDS] = note.extra[LINK_FIELDS]
    return {**fields, _UNKNOWN: mistaken} if mistaken else fields


def _link_line(link: NoteLink, name: str, own_name: str, style: LinkStyle) -> str:
    if not name or style == "wikilink":
        target = f"[[{name or link.to}]]"
    else:
        address = relpath(f"{name}.md", dirname(own_name) or ".")
        target = f"[{name.rpartition('/')[2]}]({quote(address)})"
    reason = f": {_written_reason(link.reason)}" if link.reason else ""
    return f"- {target}{reason}" + (f" <!-- {link.created_at} -->" if link.created_at else "")


def _written_reason(reason: str) -> str:
    is_plain = reason.isprintable() and reason == reason.strip()
    is_plain = is_plain and not reason.startswith('"') and not reason.endswith("-->")
    return reason if is_plain else json.dumps(reason)


# --- reading --------------------------------------------------------------------------------------


def parse_note(text: str, name: str = "") -> NoteFile:
    """What a file says. `name`: its path below the common folder, to which ordinary links are
    relative."""
    return note_file(*split_front_matter(text), name)


def note_file(front: Mapping[str, Any], body: str, name: str) -> NoteFile:
    """What a file says, after its front matter was split off."""
    fields: Json = {_JSON_NAMES.get(called, called): value for called, value in front.items()}
    unknown = fields.pop(_UNKNOWN, None)
    if isinstance(unknown, dict):
        fields = {**unknown, **fields}
    elif unknown is not None:
        fields[_UNKNOWN] = unknown
    body = body.removeprefix("\n") if front else body
    content, links = _split_links(body, name)
    return NoteFile(fields, content.removesuffix("\n"), links)


def _split_links(body: str, name: str) -> tuple[str, tuple[FileLink, ...]]:
    """The content, and the links of the last section if it has nothing else."""
    before, heading, section = f"\n{body}".rpartition(f"\n{LINKS_HEADING}\n")
    lines = [line.rstrip("\r") for line in section.split("\n") if line.strip()]
    if not heading or not all(_LINK_LINE.match(line) for line in lines):
        return body, ()
    links = [_read_link(line[2:], name) for line in lines]
    if None in links:
        return body, ()
    return before.removeprefix("\n"), tuple(link for link in links if link)


def _read_link(text: str, name: str) -> FileLink | None:
    wikilink = WIKILINK.match(text)
    link = wikilink or MARKDOWN_LINK.match(text)
    if link is None:
        return None
    target = link[1].strip() if wikilink else linked_file(link[1], name)
    rest = text[link.end() :]
    time = _LINK_TIME.search(rest)
    reason = (rest[: time.start()] if time else rest).strip().removeprefix(":").strip()
    return FileLink(target, _read_reason(reason), time[1] if time else "")


def _read_reason(text: str) -> str:
    try:
        value: Any = json.loads(text) if text.startswith('"') else text
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def linked_file(address: str, name: str) -> str:
    """Which file the address of an ordinary link means: its path below the common folder, without
    `.md`. `name`: the path of the file in which it stands."""
    path = unquote(address)
    whole = path.lstrip("/") if path.startswith("/") else join(dirname(name), path)
    return normpath(whole).removesuffix(".md")
