"""Exports notes for people and other programs, and makes and restores backups.

An export writes only to new files and empty directories, one note at a time, so that a large shelf
is never in memory as a whole. Markdown and CSV have every field, so that an import makes the same
notes of them. GraphML and DOT are for drawing: they have ids, titles, nuggets and links, and drop
everything else. Names of Markdown files are valid on every file system and never lead out of the
directory.
"""

import csv
import io
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.domain.names_and_tags import DEVICES
from nuggets.domain.records import MemoryNote
from nuggets.domain.state import State
from nuggets.errors import Conflict, InvalidInput
from nuggets.filesystem.atomic_files import NEW_FILE, private_directory, unwritable, write_parts
from nuggets.language.text import fold_case, one_line
from nuggets.named_tuple import NamedTuple
from nuggets.operations.argument_checks import checked_note, checked_nugget
from nuggets.operations.transactions import Transactions

if TYPE_CHECKING:
    from nuggets.stores.backup import Backup
    from nuggets.stores.restore import Restored


_LONGEST_NAME = 80  # characters; below the limit of 255 bytes even with letters of several bytes
_REFUSED_CHARACTERS = set('<>:"/\\|?*#^[]') | {chr(code) for code in (*range(32), 127)}
_TAIL = 8  # characters at the end of an id, used when two notes have one title


# --- Markdown: front matter, content, and links to the files of other notes ----------------------

FIELD_NAMES = {  # what some fields of a note are called in front matter
    "nuggetName": "nugget",
    "createdAt": "created",
    "updatedAt": "updated",
    "hidden": "archived",
}
LINKS_HEADING = "## Links"


class Names(dict[str, str]):
    """The file name of each note id: `<nugget>/<title>`, unique also if case is ignored."""

    def __init__(self, notes: Iterable[tuple[str, str, str]]) -> None:
        """`notes`: id, nugget and title of each."""
        super().__init__()
        taken: set[str] = set()
        for note_id, nugget, title in notes:
            name = f"{safe_name(nugget)}/{safe_name(title)}"
            if fold_case(name) in taken:
                name = f"{name} {safe_name(note_id[-_TAIL:])}"
            number = 2
            while fold_case(name) in taken:
                name, number = f"{name} {number}", number + 1
            taken.add(fold_case(name))
            self[note_id] = name


def safe_name(text: str) -> str:
    """A valid file name for a title."""
    plain = "".join(
        " " if sign in _REFUSED_CHARACTERS or not sign.isprintable() else sign for sign in text
    )
    name = " ".join(plain.split())[:_LONGEST_NAME].strip(" .")
    if not name or fold_case(name).partition(".")[0] in DEVICES:
        name = f"note {name}".strip()
    while len(name.encode(errors="replace")) > 3 * _LONGEST_NAME:
        name = name[:-1].rstrip()
    return name


def markdown_text(note: MemoryNote, names: Names) -> str:
    """The text of the whole file."""
    heading = " ".join(note.title.split())
    lines = ["---", *_front_matter(note, heading), "---", "", f"# {heading}", "", note.content, ""]
    if note.links:
        lines += [LINKS_HEADING, ""]
        for link in note.links:
            reason = f": {' '.join(link.reason.split())}" if link.reason else ""
            lines += [f"- [[{names[link.to]}]]{reason}"] if link.to in names else []
        lines.append("")
    return "\n".join(lines)


def _front_matter(note: MemoryNote, heading: str) -> Iterator[str]:
    """Lines of YAML, in which JSON values are valid; what is empty is left out."""
    fields = codec.note_to_json(note, vector=False)
    del fields["content"]
    if fields["title"] == heading:
        del fields["title"]
    for name, value in fields.items():
        if value not in (None, "", [], ()) or name in FIELD_NAMES:
            yield f"{FIELD_NAMES.get(name, name)}: {codec.dumps(value)}"


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


def graphml_lines(notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    """Nodes and edges, for programs that draw or measure graphs."""
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    yield b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for owner, name in (("node", "title"), ("node", "nugget"), ("edge", "reason")):
        yield (f'<key id="{name}" for="{owner}" attr.name="{name}" attr.type="string"/>\n').encode()
    yield b'<graph edgedefault="undirected">\n'
    edges: list[str] = []
    known: set[str] = set()
    for note in notes:
        known.add(note.id)
        data = _xml_data("title", note.title) + _xml_data("nugget", note.nugget_name)
        yield f"<node id={_xml_value(note.id)}>{data}</node>\n".encode()
        for link in note.links:
            if link.to in known:  # both notes have the link: the second one writes it
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
    known: set[str] = set()
    for note in notes:
        known.add(note.id)
        mark, look = (" (archived)", ', style="rounded,dashed"') if note.hidden else ("", "")
        label = _dot_text(f"{note.title}{mark}")
        yield f"  {_dot_text(note.id)} [label={label}{look}];\n".encode()
        edges += [
            f"  {_dot_text(note.id)} -- {_dot_text(link.to)} [label={_dot_text(link.reason)}];\n"
            for link in note.links
            if link.to in known
        ]
    yield from (edge.encode() for edge in edges)
    yield b"}\n"


def _dot_text(text: str) -> str:
    return '"' + one_line(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


# --- writing an export ----------------------------------------------------------------------------


FORMS = ("json", "jsonl", "markdown", "csv", "graphml", "dot")
_DIRECTORIES = ("json", "markdown")  # forms of several files
_STEP = 1000  # notes between two reports
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
        export = _Export(view.state, store.position, form, ids)
        return export.write(target, dry_run=dry_run, report=report)


class _Export(NamedTuple):
    """What is exported, and how."""

    state: State
    position: tuple[int, str]
    form: str
    ids: Collection[str] | None  # None: all

    def write(self, path: str, *, dry_run: bool, report: Report) -> Exported:
        """Write the files; `dry_run` only counts and checks the target."""
        is_directory = self.form in _DIRECTORIES
        _refuse_occupied(path, is_directory=is_directory)
        total = len(self.state.notes if self.ids is None else self.ids)
        files = {"json": len(self.state.nuggets) + 1, "markdown": total}.get(self.form, 1)
        if not dry_run:
            try:
                for name, parts in self._files(_progress_reporter(report, total)):
                    _write_new(os.path.join(path, name) if name else path, parts)
            except OSError as problem:
                raise unwritable(path, problem) from problem
        return Exported(self.form, path, total, files)

    def _files(self, with_progress: "_Progress") -> Iterator[tuple[str, Iterable[bytes]]]:
        """File names relative to the target, each with its content."""
        if self.form == "json":
            yield from _documented_files(self.state, self.position, with_progress)
            return
        if self.form == "markdown":
            names = Names((note.id, note.nugget_name, note.title) for note in self._notes())
            for note in with_progress(self._notes()):
                yield f"{names[note.id]}.md", [markdown_text(note, names).encode()]
            return
        lines = {
            "jsonl": note_lines,
            "csv": csv_rows,
            "graphml": graphml_lines,
            "dot": dot_lines,
        }[self.form]
        yield "", lines(with_progress(self._notes()))

    def _notes(self) -> Iterable[MemoryNote]:
        if self.ids is None:
            return self.state.notes.values()
        return (self.state.notes[note_id] for note_id in self.ids)


def note_lines(notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    """Each note as one line of documented JSON."""
    return (f"{codec.dumps(codec.note_to_json(note))}\n".encode() for note in notes)


def _documented_files(
    state: State, position: tuple[int, str], with_progress: "_Progress"
) -> Iterator[tuple[str, Iterable[bytes]]]:
    revision, at = position
    head_fields = {"revision": revision, "savedAt": at} if revision else {}
    for config in state.nuggets.values():
        facts = state.notes.find(nugget=config.name, kind="fact", hidden=False)
        facts.sort(key=lambda fact: fact.created_at)
        shape = codec.dumps({"version": 4, **head_fields, **codec.nugget_to_json(config, facts)})
        yield f"{config.name}.nugget.json", [shape.encode(), b"\n"]
    head = codec.dumps({"version": 3, **head_fields})[:-1]
    yield os.path.join("graph", "graph.json"), _graph(head, with_progress(state.notes.values()))


def _graph(head: str, notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    yield f'{head},"notes":['.encode()
    separator = b"\n"
    for line in note_lines(notes):
        yield separator + line[:-1]
        separator = b",\n"
    yield b"\n]}\n"


_Progress = Callable[[Iterable[MemoryNote]], Iterator[MemoryNote]]


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


def _write_new(path: str, parts: Iterable[bytes]) -> None:
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
