"""Exports notes for people and other programs, and makes and restores backups.

An export writes only to new files and empty directories, one note at a time, so that a large shelf
is never in memory as a whole. JSON lines, Markdown (also as a vault of Obsidian and as a bundle of
the Open Knowledge Format) and CSV have every field, so that an import makes the same notes of them.
GraphML and DOT are for drawing: they have ids, titles and links, and drop the rest.
Names of Markdown files are valid on every file system and never lead out of the directory.
"""

import csv
import io
import os
import shutil
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from nuggets.domain import codec
from nuggets.domain.names_and_tags import DEVICES
from nuggets.domain.note_markdown import LinkStyle, render_note
from nuggets.domain.records import MemoryNote, NoteLink
from nuggets.domain.state import State
from nuggets.errors import Conflict, InvalidInput
from nuggets.filesystem.atomic_files import NEW_FILE, private_directory, unwritable, write_parts
from nuggets.language.markdown import front_matter
from nuggets.language.text import fold_case, one_line
from nuggets.named_tuple import NamedTuple
from nuggets.operations.note_completion import checked_note, checked_nugget
from nuggets.operations.transactions import Transactions
from nuggets.stores.exports.register import GRAPH, nugget_file

if TYPE_CHECKING:
    from nuggets.stores.backup import Backup
    from nuggets.stores.restore import Restored


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


def markdown_files(notes: Callable[[], Iterable[MemoryNote]], form: str) -> Iterator["_File"]:
    """A file for each note; `notes` is asked once for the names and once for the texts."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for note in notes():
        names[note.id] = free_name(safe_name(note.nugget_name), note.id, note.title, taken)
        taken.add(fold_case(names[note.id]))
    style: LinkStyle = "wikilink" if form == "obsidian" else "markdown"
    for note in notes():
        yield f"{names[note.id]}.md", [render_note(note, names, link_style=style).encode()]
    if form == "okf":
        yield from _bundle_files(names.values())


def _bundle_files(names: Iterable[str]) -> Iterator["_File"]:
    """What a bundle of the Open Knowledge Format has of itself: a list of each folder."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folder, _, file = name.partition("/")
        folders.setdefault(folder, []).append(f"- [{file}]({quote(file)}.md)")
    listed = [f"- [{folder}]({quote(folder)}/index.md)" for folder in folders]
    head = front_matter({"okf_version": "0.1"})
    yield "index.md", ["\n".join([f"{head}\n# Memories\n", *listed, ""]).encode()]
    for folder, lines in folders.items():
        yield f"{folder}/index.md", ["\n".join([f"# {folder}\n", *lines, ""]).encode()]


# --- a table and graphs --------------------------------------------------------------------------

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


def graphml_lines(notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    """Nodes and edges, for programs that draw or measure graphs."""
    from xml.sax.saxutils import escape, quoteattr

    def data(key: str, text: str) -> str:
        return f'<data key="{key}">{escape(one_line(text))}</data>'

    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    yield b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for owner, name in (("node", "title"), ("node", "nugget"), ("edge", "reason")):
        yield f'<key id="{name}" for="{owner}" attr.name="{name}" attr.type="string"/>\n'.encode()
    yield b'<graph edgedefault="undirected">\n'
    edges: list[str] = []
    for note, links in _with_links_once(notes):
        node = data("title", note.title) + data("nugget", note.nugget_name)
        yield f"<node id={quoteattr(note.id)}>{node}</node>\n".encode()
        for link in links:
            ends = f"source={quoteattr(note.id)} target={quoteattr(link.to)}"
            edges.append(f"<edge {ends}>{data('reason', link.reason)}</edge>\n")
    yield "".join(edges).encode()
    yield b"</graph>\n</graphml>\n"


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
    yield "".join(edges).encode()
    yield b"}\n"


def _with_links_once(
    notes: Iterable[MemoryNote],
) -> Iterator[tuple[MemoryNote, list[NoteLink]]]:
    """Each note, with its links to notes before it: both ends have a link, the second tells it."""
    known: set[str] = set()
    for note in notes:
        known.add(note.id)
        yield note, [link for link in note.links if link.to in known]


def _dot_text(text: str) -> str:
    return '"' + one_line(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


# what is one file
FILE_FORMS: dict[str, Callable[[Iterable[MemoryNote]], Iterator[bytes]]] = {
    "jsonl": note_lines,
    "csv": csv_rows,
    "graphml": graphml_lines,
    "dot": dot_lines,
}


# --- writing an export ----------------------------------------------------------------------------


_MARKDOWN = ("markdown", "obsidian", "okf")
FORMS = ("json", *_MARKDOWN, *FILE_FORMS)
_STEP = 1000  # notes between two reports: ours, a person sees it go on
Report = Callable[[str], None]


class Exported(NamedTuple):
    """The result of an export."""

    form: str
    path: str
    notes: int
    files: int


def export_notes(
    transactions: Transactions,
    form: str,
    path: str | None,
    *,
    ids: Collection[str] | None,
    dry_run: bool,
    report: Report,
) -> Exported:
    """Write notes in one of the forms to a new place; without one, bring the shelf's own documented
    files up to date. `ids`: only these."""
    store = transactions.store
    if form not in FORMS:
        raise InvalidInput(
            f"the form of an export must be one of {', '.join(FORMS)}; not {form!r:.80}"
        )
    if form == "json" and ids is not None:
        raise InvalidInput("json is the whole shelf; choose another form for some of its notes")
    if path is None:
        if form != "json" or store.is_remote:
            raise InvalidInput(f"name a new place for the export as {form}")
        if not dry_run:
            store.refresh_exports()
    with transactions.reading() as view:
        if path is None:
            count = len(view.state.nuggets) + 1
            return Exported(form, store.directory, len(view.state.notes), count)
        target = os.path.abspath(os.path.expanduser(path))
        total = len(view.state.notes if ids is None else ids)
        with_progress = _progress_reporter(report, total)

        def notes() -> Iterable[MemoryNote]:
            found = view.state.notes
            return with_progress(found.values() if ids is None else (found[i] for i in ids))

        if form == "json":
            files = _documented_files(view.state, store.position, with_progress)
        elif form in _MARKDOWN:
            files = markdown_files(notes, form)
        else:
            files = iter([("", FILE_FORMS[form](notes()))])
        count = _write_files(target, files, is_directory=form not in FILE_FORMS, dry_run=dry_run)
        return Exported(form, target, total, count)


def _write_files(path: str, files: Iterator["_File"], *, is_directory: bool, dry_run: bool) -> int:
    """Write the files and count them; `dry_run` only counts and checks the target."""
    _refuse_occupied(path, is_directory=is_directory)
    count = 0
    with nullcontext(path) if dry_run else _whole_or_nothing(path) as place:
        for name, parts in files:
            count += 1
            if not dry_run:
                _write_new(os.path.join(place, name) if name else place, parts)
        if is_directory and not dry_run:
            private_directory(place)
        _refuse_occupied(path, is_directory=is_directory)
    return count


def _documented_files(
    state: State, position: tuple[int, str], with_progress: "_Progress"
) -> Iterator["_File"]:
    """As the store writes them beside its database."""
    from nuggets.stores.exports.write import (
        GRAPH_FIELDS,
        ExportedRevision,
        graph_parts,
        note_line,
        nugget_text,
    )

    exported = ExportedRevision(*position)
    for config in state.nuggets.values():
        facts = state.notes.find(nugget=config.name, kind="fact", hidden=False)
        yield nugget_file(config.name), [nugget_text(config, facts, exported)]
    lines = map(note_line, with_progress(state.notes.values()))
    fields = codec.dumps(state.marks.get(GRAPH_FIELDS) or {})
    yield GRAPH, graph_parts(exported, fields, lines)


_Progress = Callable[[Iterable[MemoryNote]], Iterator[MemoryNote]]
_File = tuple[str, Iterable[bytes | memoryview]]  # its name below the target, and its content


def _progress_reporter(report: Report, total: int) -> _Progress:
    def with_progress(notes: Iterable[MemoryNote]) -> Iterator[MemoryNote]:
        for number, note in enumerate(notes):
            if number % _STEP == 0:
                report(f"{number} of {total} notes")
            yield note

    return with_progress


def _refuse_occupied(path: str, *, is_directory: bool) -> None:
    if not os.path.lexists(path) or (is_directory and os.path.isdir(path) and not os.listdir(path)):
        return
    what = "an empty or new directory" if is_directory else "a new file"
    raise Conflict(f"{path} exists already, and nothing is overwritten; name {what}")


@contextmanager
def _whole_or_nothing(path: str) -> Iterator[str]:
    """A place beside a path, which becomes the path when all is written; if that fails or someone
    ends the program, nothing is left."""
    place = f"{path}.{os.getpid()}.partial"
    try:
        yield place
        os.rename(place, path)
    except BaseException as problem:
        shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):
            os.unlink(place)
        if isinstance(problem, OSError):
            raise unwritable(path, problem) from problem
        raise


def _write_new(path: str, parts: Iterable[bytes | memoryview]) -> None:
    private_directory(os.path.dirname(path))
    descriptor = os.open(path, NEW_FILE, 0o600)
    try:
        write_parts(descriptor, parts)
    finally:
        os.close(descriptor)


# --- backups ------------------------------------------------------------------------------------


def make_backup(transactions: Transactions, path: str | None, now: str) -> "Backup":
    """A copy of everything that is written, in one file; `path`: a new file, or a directory."""
    from nuggets.stores.backup import write_backup

    store = transactions.store
    if path is None and not store.directory:
        raise InvalidInput("a shelf in memory has no directory; name a file for the backup")
    target = os.path.join(store.directory, "backups", "") if path is None else path
    is_directory = target.endswith("/")
    target = os.path.abspath(os.path.expanduser(target))
    if is_directory or os.path.isdir(target):
        target = _new_backup_file(target, now)
    return write_backup(store.copy_to, target)


def _new_backup_file(directory: str, now: str) -> str:
    """A name after the time, that no file has."""
    stem = os.path.join(directory, f"nuggets-{now[:19].replace(':', '').replace('T', '-')}")
    path, number = f"{stem}.db", 2
    while os.path.lexists(path):
        path, number = f"{stem}-{number}.db", number + 1
    return path


def restore_backup(transactions: Transactions, path: str, now: str, *, dry_run: bool) -> "Restored":
    """Replace the shelf by a backup; `dry_run` only reports the difference."""
    from nuggets.stores.restore import RecordChecks, compare, restore

    store = transactions.store
    if store.is_remote or not store.directory:
        raise Conflict(
            "a backup replaces a shelf in a directory, not one in memory or in a database; "
            "`nuggets copy` puts it into a new shelf of a database"
        )
    checks = RecordChecks(checked_note, checked_nugget)
    backup = os.path.abspath(os.path.expanduser(path))
    if dry_run:
        return compare(store.directory, backup, checks)
    transactions.settle()
    store.close()
    done = restore(store.directory, backup, now, checks)
    store.refresh_exports()
    return done
