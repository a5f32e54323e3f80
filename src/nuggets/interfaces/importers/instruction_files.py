"""Files that people write for an agent: CLAUDE.md, AGENTS.md, GEMINI.md, MEMORY.md, and the rules
of Cursor and Windsurf. A bullet or a paragraph is a note, the headings above it are its tags."""

import os
import re
from collections.abc import Iterator

from nuggets.domain.marks import BLOCK_BEGIN, BLOCK_END
from nuggets.domain.note_markdown import MARKDOWN_LINK
from nuggets.interfaces.importers import Records
from nuggets.language.markdown import continues_code, split_front_matter
from nuggets.named_tuple import NamedTuple

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
        note = found.add_memory(
            f"{name}, line {block.line + skipped}",
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
