"""Exports all notes for people and other programs (documented JSON, JSON lines, Markdown), and
makes and restores backups.

An export writes only to new files and empty directories, one note at a time, so that a large shelf
is never in memory as a whole. Names of Markdown files are valid on every file system and never lead
out of the directory.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.domain.records import MemoryNote
from nuggets.domain.state import State
from nuggets.engine.argument_checks import checked_note, checked_nugget
from nuggets.engine.transactions import Transactions
from nuggets.errors import Conflict, InvalidInput
from nuggets.filesystem.atomic_files import NEW_FILE, private_directory, unwritable, write_all
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.stores.backup import Backup
    from nuggets.stores.restore import Restored

FORMS = ("json", "jsonl", "markdown")
_CHUNK = 1 << 18
_STEP = 1000  # notes between two reports
_LONGEST_NAME = 80  # characters; below the limit of 255 bytes even with letters of several bytes
_REFUSED_CHARACTERS = set('<>:"/\\|?*#^[]') | {chr(code) for code in (*range(32), 127)}
_RESERVED_NAMES = {"con", "prn", "aux", "nul"} | {
    f"{n}{i}" for n in ("com", "lpt") for i in range(10)
}
_TAIL = 8  # characters at the end of an id, used when two notes have one title

Report = Callable[[str], None]


class Exported(NamedTuple):
    """The result of an export."""

    form: str
    path: str
    notes: int
    files: int


def export_notes(
    transactions: Transactions, form: str, path: str | None, *, dry_run: bool, report: Report
) -> Exported:
    """Write all notes in one of the forms to a new place; without one, bring the shelf's own
    documented files up to date."""
    store = transactions.store
    if form not in FORMS:
        raise InvalidInput(
            f"the form of an export must be one of {', '.join(FORMS)}; not {form!r:.80}"
        )
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
        return _export(view.state, store.position, form, target, dry_run=dry_run, report=report)


def _export(
    state: State, position: tuple[int, str], form: str, path: str, *, dry_run: bool, report: Report
) -> Exported:
    """Write all notes in one of the forms; `dry_run` only counts and checks the target."""
    _refuse_occupied(path, is_directory=form != "jsonl")
    total = len(state.notes)
    files = {"json": len(state.nuggets) + 1, "jsonl": 1, "markdown": total}[form]
    if not dry_run:
        try:
            for name, parts in _files(state, position, form, _progress_reporter(report, total)):
                _write_new(os.path.join(path, name) if name else path, parts)
        except OSError as problem:
            raise unwritable(path, problem) from problem
    return Exported(form, path, total, files)


def note_lines(notes: Iterable[MemoryNote]) -> Iterator[bytes]:
    """Each note as one line of documented JSON."""
    return (f"{codec.dumps(codec.note_to_json(note))}\n".encode() for note in notes)


def _files(
    state: State, position: tuple[int, str], form: str, with_progress: "_Progress"
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """File names relative to the target, each with its content."""
    if form == "jsonl":
        yield "", note_lines(with_progress(state.notes.values()))
    elif form == "json":
        yield from _documented_files(state, position, with_progress)
    else:
        names = Names((note.id, note.nugget_name, note.title) for note in state.notes.values())
        for note in with_progress(state.notes.values()):
            yield f"{names[note.id]}.md", [_markdown_text(note, names).encode()]


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
        chunk = bytearray()
        for part in parts:
            chunk += part
            if len(chunk) >= _CHUNK:
                write_all(descriptor, chunk)
                chunk.clear()
        write_all(descriptor, chunk)
    finally:
        os.close(descriptor)


# --- Markdown: front matter, content, and links to the files of other notes ----------------------


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
    if not name or fold_case(name).partition(".")[0] in _RESERVED_NAMES:
        name = f"note {name}".strip()
    while len(name.encode(errors="replace")) > 3 * _LONGEST_NAME:
        name = name[:-1].rstrip()
    return name


def _markdown_text(note: MemoryNote, names: Names) -> str:
    """The text of the whole file."""
    lines = ["---", *_front_matter(note), "---", "", f"# {' '.join(note.title.split())}", ""]
    lines += [note.content.rstrip("\n"), ""]
    linked = [link for link in note.links if link.to in names]
    if linked:
        lines += ["## Links", ""]
        for link in linked:
            reason = f": {' '.join(link.reason.split())}" if link.reason else ""
            lines.append(f"- [[{names[link.to]}]]{reason}")
        lines.append("")
    return "\n".join(lines)


def _front_matter(note: MemoryNote) -> list[str]:
    """Lines of YAML, in which JSON values are valid."""
    fields = {
        "id": note.id,
        "nugget": note.nugget_name,
        "kind": note.kind,
        "tags": list(note.tags),
        "subject": note.subject,
        "scope": note.scope,
        "type": note.type,
        "source": note.source,
        "confidence": note.confidence,
        "stability": note.stability,
        "project": note.project,
        "hits": note.hits,
        "archived": note.hidden,
        "created": note.created_at,
        "updated": note.updated_at,
    }
    return [f"{name}: {codec.dumps(value)}" for name, value in fields.items()]


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
