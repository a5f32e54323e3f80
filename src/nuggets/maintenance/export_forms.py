"""The forms of an export: how notes look as files for people and other programs.

JSON lines, Markdown (also as a vault of Obsidian and as a bundle of the Open Knowledge Format) and
CSV have every field, so that an import makes the same notes of them. GraphML and DOT are for
drawing: they have ids, titles, nuggets and links, and drop everything else. Names of Markdown files
are valid on every file system and never lead out of the directory.
"""

import csv
import io
import os
from collections.abc import Callable, Container, Iterable, Iterator
from urllib.parse import quote

from nuggets.domain import codec
from nuggets.domain.names_and_tags import DEVICES
from nuggets.domain.note_markdown import LinkStyle, render_note
from nuggets.domain.records import MemoryNote, NoteLink
from nuggets.language.markdown import front_matter
from nuggets.language.text import fold_case, one_line


def note_lines(notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    """Each note as one line of documented JSON."""
    return (f"{codec.dumps(codec.note_to_json(note))}\n".encode() for note in notes)


_LONGEST_NAME = 80  # characters; below the limit of 255 bytes even with letters of several bytes
_REFUSED_CHARACTERS = set('<>:"/\\|?*#^[]') | {chr(code) for code in (*range(32), 127)}
_RESERVED = DEVICES | {"index", "log"}  # of a bundle of the Open Knowledge Format
_TAIL = 8  # characters at the end of an id, used when two notes have one title


# --- Markdown: a file for each note -------------------------------------------------------------


def free_name(folder: str, note_id: str, title: str, taken: Container[str]) -> str:
    """`<folder>/<title>`, as no other file is called, also if case is ignored; `taken`: folded."""
    stem = name = os.path.join(folder, safe_name(title))
    number = 1
    while fold_case(name) in taken:
        name = f"{stem} {safe_name(note_id[-_TAIL:])}" + (f" {number}" if number > 1 else "")
        number += 1
    return name


def safe_name(text: str) -> str:
    """A valid file name for a title."""
    plain = "".join(
        " " if sign in _REFUSED_CHARACTERS or not sign.isprintable() else sign for sign in text
    )
    name = " ".join(plain.split())[:_LONGEST_NAME].strip(" .")
    if not name or fold_case(name).partition(".")[0] in _RESERVED:
        name = f"note {name}".strip()
    while len(name.encode(errors="replace")) > 3 * _LONGEST_NAME:
        name = name[:-1].rstrip()
    return name


def markdown_files(
    notes: Callable[[], Iterable[MemoryNote]], form: str
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """A file for each note; `notes` is asked once for the names and once for the texts."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for note in notes():
        names[note.id] = free_name(safe_name(note.nugget_name), note.id, note.title, taken)
        taken.add(fold_case(names[note.id]))
    style: LinkStyle = "wikilink" if form == "obsidian" else "markdown"
    log: list[tuple[str, str]] = []
    for note in notes():
        log.append((note.updated_at[:10], names[note.id]))
        yield f"{names[note.id]}.md", [render_note(note, names, link_style=style).encode()]
    if form == "okf":
        yield from _bundle_files(names.values(), log)


def _bundle_files(
    names: Iterable[str], log: list[tuple[str, str]]
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """What a bundle of the Open Knowledge Format has of itself: a list of each folder, and what
    changed on which day, the last one first."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folder, _, file = name.partition("/")
        folders.setdefault(folder, []).append(f"- [{file}]({quote(file)}.md)")
    listed = [f"- [{folder}]({quote(folder)}/index.md)" for folder in folders]
    head = front_matter({"okf_version": "0.1"})
    yield "index.md", ["\n".join([f"{head}\n# Memories\n", *listed, ""]).encode()]
    for folder, lines in folders.items():
        yield f"{folder}/index.md", ["\n".join([f"# {folder}\n", *lines, ""]).encode()]
    days: dict[str, list[str]] = {}
    for day, name in sorted(log, reverse=True):
        days.setdefault(day, []).append(f"- [{name}]({quote(name)}.md)")
    entries = (f"\n## {day}\n\n" + "\n".join(lines) + "\n" for day, lines in days.items())
    yield "log.md", (part.encode() for part in ("# Changes\n", *entries))


# --- tables and graphs --------------------------------------------------------------------------

_EXTRA = "extra"  # the column of fields that others wrote into the documented files


def csv_rows(notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    """A row for each note below a head; lists and numbers are JSON."""
    columns = [*(codec.json_name(name) for name in MemoryNote._fields if name != "extra"), _EXTRA]
    yield _csv_row(columns)
    for note in notes:
        fields = codec.note_to_json(note, vector=False)
        unknown = {name: fields[name] for name in fields if name not in columns}
        cells = {**fields, _EXTRA: unknown or None}
        yield _csv_row([_cell(cells.get(name)) for name in columns])


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else codec.dumps(value)


def _csv_row(cells: Iterable[str]) -> bytes:
    row = io.StringIO(newline="")
    csv.writer(row).writerow(cells)
    return row.getvalue().encode()


def _with_links_once(
    notes: Iterable[MemoryNote],
) -> Iterator[tuple[MemoryNote, list[NoteLink]]]:
    """Each note, with its links to notes before it: both ends have a link, the second tells it."""
    known: set[str] = set()
    for note in notes:
        known.add(note.id)
        yield note, [link for link in note.links if link.to in known]


def graphml_lines(notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    """Nodes and edges, for programs that draw or measure graphs."""
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    yield b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for owner, name in (("node", "title"), ("node", "nugget"), ("edge", "reason")):
        yield (f'<key id="{name}" for="{owner}" attr.name="{name}" attr.type="string"/>\n').encode()
    yield b'<graph edgedefault="undirected">\n'
    edges: list[str] = []
    for note, links in _with_links_once(notes):
        data = _xml_data("title", note.title) + _xml_data("nugget", note.nugget_name)
        yield f"<node id={_xml_value(note.id)}>{data}</node>\n".encode()
        for link in links:
            ends = f"source={_xml_value(note.id)} target={_xml_value(link.to)}"
            edges.append(f"<edge {ends}>{_xml_data('reason', link.reason)}</edge>\n")
    yield from (edge.encode() for edge in edges)
    yield b"</graph>\n</graphml>\n"


def _xml_data(key: str, text: str) -> str:
    from xml.sax.saxutils import escape

    return f'<data key="{key}">{escape(_xml_text(text))}</data>'


def _xml_value(text: str) -> str:
    from xml.sax.saxutils import quoteattr

    return quoteattr(_xml_text(text))


def _xml_text(text: str) -> str:
    """Without the controls that XML does not know at all."""
    return "".join(sign if sign >= " " and sign not in "\ufffe\uffff" else " " for sign in text)


def dot_lines(notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    """Input of Graphviz; archived notes are dashed."""
    yield b"graph nuggets {\n  node [shape=box, style=rounded];\n"
    edges: list[str] = []
    for note, links in _with_links_once(notes):
        mark, look = (" (archived)", ', style="rounded,dashed"') if note.hidden else ("", "")
        label = _dot_text(f"{note.title}{mark}")
        yield f"  {_dot_text(note.id)} [label={label}{look}];\n".encode()
        edges += [
            f"  {_dot_text(note.id)} -- {_dot_text(link.to)} [label={_dot_text(link.reason)}];\n"
            for link in links
        ]
    yield from (edge.encode() for edge in edges)
    yield b"}\n"


def _dot_text(text: str) -> str:
    return '"' + one_line(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


# what is one file
FILE_FORMS: dict[str, Callable[[Iterable[MemoryNote]], Iterator[bytes]]] = {
    "jsonl": note_lines,
    "csv": csv_rows,
    "graphml": graphml_lines,
    "dot": dot_lines,
}
