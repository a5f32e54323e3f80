"""Importers: each reads one format of another program into notes, in their documented JSON.

They decide nothing: `NuggetShelf.import_memories` checks every note and merges it. What they read
was written by others, so it is bounded, no link is followed, and what cannot be read is named.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nuggets.domain.limits import TAG_CHARACTERS, TAGS
from nuggets.domain.names_and_tags import title_from_text
from nuggets.domain.times import normalize_time
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.filesystem.atomic_files import open_plain
from nuggets.filesystem.untrusted_folder import FoundFile, find_files, open_folder
from nuggets.named_tuple import NamedTuple

Json = dict[str, Any]
KNOWN = (
    "a shelf, a backup, Markdown (a file, a folder, a vault), instructions such as CLAUDE.md, "
    "JSON, lines of JSON, CSV, a transcript of a session, what ChatGPT or Claude exported, or the "
    "database of claude-mem, hippo, mcp-memory-service or opencode"
)


class Records:
    """What was read so far, in the order in which it was read."""

    def __init__(self, nugget: str = "imported", directory: str = "") -> None:
        self.nugget = nugget  # of notes that name none
        self.directory = directory  # of the shelf that they are read for
        self.form = ""  # what was recognised, in words
        self.project = ""  # that instructions belong to; "": everywhere
        self.notes: list[Json] = []  # in their documented JSON
        self.places: list[str] = []  # where each of them was read: a file and a line
        self.problems: list[str] = []  # what cannot be read, each with its place
        self.left_out = 0  # relations and links to what is not there
        self.idle_sessions = 0  # in which nothing was asked
        self.old_sessions = 0  # that ended before `oldest_session`
        self.oldest_session = ""
        self.project_of: Callable[[str], str] = lambda folder: ""
        self.is_promoted: Callable[[str], bool] = lambda line: False  # was a line written here?
        self.report: Callable[[str], None] = lambda text: None  # how far it is

    def add(self, note: Json, place: str) -> Json:
        self.notes.append(note)
        self.places.append(place)
        return note


def make_note(
    nugget: str,
    title: str,
    content: str,
    *,
    identity: str,
    at: str,
    changed: object = None,
    created: object = None,
    tags: Iterable[object] = (),
    **more: object,
) -> Json:
    """A note that another program wrote. The same identity gets the same id, so that reading a
    place again adds nothing twice.

    `changed`, `created`: when, as the program writes times; `at`: when, if it says nothing that can
    be read; `more`: of the note's documented JSON.
    """
    updated = moment(changed, at)
    digest = hashlib.sha256(identity.encode(errors="surrogatepass")).hexdigest()
    return {
        "id": f"note-{nugget}-{digest[:16]}",
        "nuggetName": nugget,
        "title": title.strip() or title_from_text(content).removesuffix(":"),
        "content": content.strip("\n") or title,
        "tags": fitting_tags(tags),
        "links": [],
        "source": "inferred",  # nobody knows who told the other program
        "createdAt": moment(created, updated),
        "updatedAt": updated,
        **more,
    }


_TITLES = ("title", "key", "name", "subject")
CONTENTS = ("content", "memory", "value", "text", "note", "body")
_TAGS = ("tags", "tag", "categories", "category", "memory_type")
_CREATED = ("created_at", "created", "date")
_CHANGED = ("updated_at", "updated", "modified", *_CREATED)


def read_memory(
    record: Mapping[str, Any], nugget: str, at: str, *, own_id: object = ""
) -> Json | None:
    """A memory of another program, by the names that programs give to its fields; None if it has no
    text. `own_id`: by which the program knows it; else it is known by its text."""
    fields = {name.lower(): value for name, value in record.items()}
    title, content = _first_text(_TITLES, fields), _first_text(CONTENTS, fields)
    if not (title or content):
        return None
    return make_note(
        nugget,
        title,
        content,
        identity=f"memory {own_id or f'{title} {content}'}",
        at=at,
        changed=next(filter(None, map(fields.get, _CHANGED)), None),
        created=next(filter(None, map(fields.get, _CREATED)), None),
        tags=[tag for name in _TAGS for tag in _list_tags(fields.get(name))],
    )


def _first_text(names: Iterable[str], fields: Mapping[str, Any]) -> str:
    texts = (fields.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _list_tags(value: object) -> list[object]:
    """Tags as a list, or as a text with commas or semicolons between them."""
    if isinstance(value, str):
        return list(value.replace(";", ",").split(","))
    return value if isinstance(value, list) else []


def parse_json(text: object) -> Any:
    """JSON, as programs put it into a field; None if it is none."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def fitting_tags(tags: Iterable[object]) -> list[str]:
    """Those that a note may have: a tag too long or too many is no reason to refuse the note."""
    words = ("-".join(str(tag).split()).strip("#") for tag in tags)
    return list(dict.fromkeys(word for word in words if 0 < len(word) <= TAG_CHARACTERS))[:TAGS]


def moment(value: object, default: str) -> str:
    """A time in any form that programs write: ISO 8601, or seconds since 1970."""
    from datetime import UTC, datetime

    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return normalize_time(datetime.fromtimestamp(value, UTC))
        return normalize_time(value) if isinstance(value, str) and value.strip() else default
    except (InvalidInput, OverflowError, OSError, ValueError):
        return default


# --- files that others wrote: plain ones only, within bounds, and without following links ---------


LARGEST_FILE = 1 << 28  # bytes: parsed JSON takes about ten times as much memory
MOST_FILES = 100_000  # of a folder; the largest vaults that people report have a tenth of that
DATABASE_BEGIN = b"SQLite format 3\0"
_PACKAGES = "node_modules"  # a folder of other people's files
# Hidden files and folders that hold instructions; the others belong to their programs.
SHOWN = (".cursor", ".cursorrules", ".windsurfrules")


class ReadFile(NamedTuple):
    """A file's content, and when it was changed."""

    content: bytes
    changed_at: str

    def text(self, name: str) -> str:
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            line = self.content.count(b"\n", 0, problem.start) + 1
            raise InvalidInput(f"{name}, line {line}: not valid UTF-8; convert it first") from None


def read_file(path: str, *, follow_link: bool = False) -> ReadFile:
    """The file at a path. `follow_link`: a person named it, so it may be a link."""
    no_link = 0 if follow_link else os.O_NOFOLLOW
    try:
        with open(path, "rb", opener=lambda name, flags: open_plain(name, flags | no_link)) as file:
            status = os.fstat(file.fileno())
            if status.st_size > LARGEST_FILE:
                raise InvalidInput(
                    f"{path} is larger than {LARGEST_FILE >> 20} MB; import it in parts"
                )
            content = file.read(status.st_size)
    except FileNotFoundError:
        raise NotFound(f"there is no {path}; name a directory of memories or a file") from None
    except OSError as problem:
        raise NuggetsError(f"{path} cannot be read: {problem.strerror}") from problem
    return ReadFile(content, moment(status.st_mtime, ""))


def files_below(folder: str, endings: tuple[str, ...], found: Records) -> Iterator[FoundFile]:
    """The plain files with such a name; no link is followed."""
    both_cases = (*endings, *map(str.upper, endings))
    with open_folder(folder) as place:
        files, problems = find_files(place, both_cases, MOST_FILES, shown=SHOWN)
    found.problems += problems
    for number, file in enumerate(files):
        found.report(f"{number} of {len(files)} files")
        if _PACKAGES not in file.path.split(os.sep):
            yield file


def count_files(folder: str, endings: tuple[str, ...]) -> int:
    if not os.path.isdir(folder) or os.path.islink(folder):
        return 0
    return sum(1 for _ in files_below(folder, endings, Records()))


def modification_time(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:  # gone meanwhile
        return 0.0
