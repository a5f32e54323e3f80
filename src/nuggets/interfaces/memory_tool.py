"""The memory tool of the Claude API (`memory_20250818`), stored on a shelf.

The model sees files below /memories; each is a note whose title is its path from there, in a nugget
of its own. So what it stores is found by search and recall, and has a history and undo. No path
reaches a file system. A deleted file is an archived note.

>>> from nuggets import NuggetShelf
>>> tool = MemoryTool(NuggetShelf("memory:"))
>>> tool.run({"command": "create", "path": "/memories/todo.md", "file_text": "call Ann"})
'Created /memories/todo.md'
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any

from nuggets.domain.limits import NAME_CHARACTERS, Limit
from nuggets.domain.records import MemoryNote
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.interfaces.json_schemas import parameters_of
from nuggets.shelf import NuggetShelf

ROOT = "/memories"
DEFINITION = {"type": "memory_20250818", "name": "memory"}
NUGGET = "memories"
_LISTED_LEVELS = 2  # of directories, as the tool is documented
_NUMBER_WIDTH = 6  # columns of a line's number, as the tool is documented

Path = Annotated[str, Limit(1, NAME_CHARACTERS)]
Range = tuple[int, ...]  # first and last line; -1: to the end


class MemoryTool:
    """Answers the calls of one tool."""

    def __init__(self, shelf: NuggetShelf, nugget: str = NUGGET) -> None:
        self._shelf = shelf
        self._nugget = nugget

    def tool_result(self, tool_use_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The block that answers a call of the model; an error is told to it."""
        try:
            content, is_error = self.run(given), False
        except NuggetsError as problem:
            content, is_error = f"Error: {problem}", True
        block = {"type": "tool_result", "tool_use_id": tool_use_id, "content": content}
        return {**block, "is_error": True} if is_error else block

    def run(self, given: Mapping[str, Any]) -> str:
        """Carry out a command; `given`: the input of the call."""
        name = given.get("command") if isinstance(given, Mapping) else None
        if not isinstance(name, str) or name not in _COMMANDS:
            raise InvalidInput(f"the command is one of {', '.join(_COMMANDS)}")
        arguments = {key: value for key, value in given.items() if key != "command"}
        run = _COMMANDS[name]
        return run(self, **parameters_of(run).read(arguments, name))

    # --- the commands, with what the model sends for each -----------------------------------

    def _view(self, path: Path, view_range: Range | None = None) -> str:
        name = _relative(path)
        note = self._files().get(name)
        if note is None:
            return self._list_directory(name)
        lines = note.content.split("\n")
        start, end = _range(view_range, len(lines))
        numbered = (
            f"{number:{_NUMBER_WIDTH}}\t{line}"
            for number, line in enumerate(lines[start - 1 : end], start)
        )
        self._shelf.record_reading(note)
        return "\n".join([f"{_whole_path(name)}:", *numbered])

    def _list_directory(self, path: str) -> str:
        inside = self._files_below(path)
        if not inside and path:
            raise NotFound(f"there is no file or directory {_whole_path(path)}")
        entries: dict[str, int] = {}
        for name, note in inside.items():
            parts = name.removeprefix(f"{path}/" if path else "").split("/")
            whole = [part for part in (path, *parts) if part]
            depth = len(whole) - len(parts)
            for level in range(depth, min(len(whole), depth + _LISTED_LEVELS) + 1):
                entry = "/".join(whole[:level])
                entries[entry] = entries.get(entry, 0) + len(note.content.encode())
        entries.setdefault(path, 0)
        rows = [f"{_size(size)}\t{_whole_path(entry)}" for entry, size in sorted(entries.items())]
        return "\n".join([f"Files below {_whole_path(path)}, {_LISTED_LEVELS} levels deep:", *rows])

    def _create(self, path: Path, file_text: str) -> str:
        name = self._free(path)
        self._shelf.create_note(self._nugget, name, file_text, stability="durable")
        return f"Created {_whole_path(name)}"

    def _replace(self, path: Path, old_str: str, new_str: str = "") -> str:
        note = self._file(path)
        found = note.content.count(old_str) if old_str else 0
        if found != 1:
            starts = [
                str(number)
                for number, line in enumerate(note.content.split("\n"), 1)
                if old_str and old_str.split("\n")[0] in line
            ]
            where = f" (lines {', '.join(starts)})" if found else ""
            raise InvalidInput(
                f"nothing was replaced: old_str occurs {found} times in {path}{where}; "
                "it must occur once"
            )
        return self._write(note, note.content.replace(old_str, new_str))

    def _insert(self, path: Path, insert_line: int, insert_text: str) -> str:
        note = self._file(path)
        lines = note.content.split("\n") if note.content else []
        if not 0 <= insert_line <= len(lines):
            raise InvalidInput(
                f"insert_line is 0 to {len(lines)}, the lines of {path}; not {insert_line}"
            )
        lines[insert_line:insert_line] = [insert_text.removesuffix("\n")]
        return self._write(note, "\n".join(lines))

    def _write(self, note: MemoryNote, content: str) -> str:
        self._shelf.edit_note(note.id, content=content, expected=note.updated_at)
        return f"Edited {_whole_path(note.title)}"

    def _delete(self, path: Path) -> str:
        name = _relative(path)
        if not name:
            raise InvalidInput(f"{ROOT} itself cannot be deleted; name a file in it")
        notes = self._at_or_below(name)
        with self._one_step():
            for note in notes.values():
                self._shelf.delete_note(note.id)
        return f"Deleted {_whole_path(name)}"

    def _rename(self, old_path: Path, new_path: Path) -> str:
        old = _relative(old_path)
        if not old:
            raise InvalidInput(f"{ROOT} itself cannot be renamed; name a file in it")
        notes = self._at_or_below(old)
        new = self._free(new_path)
        if f"{new}/".startswith(f"{old}/"):
            raise InvalidInput(f"{_whole_path(old)} cannot be moved into itself")
        with self._one_step():
            for name, note in notes.items():
                self._shelf.edit_note(note.id, title=new + name.removeprefix(old))
        return f"Renamed {_whole_path(old)} to {_whole_path(new)}"

    def _one_step(self) -> AbstractContextManager[None]:
        """All files of a directory at once; a server takes one operation at a time."""
        return nullcontext() if self._shelf.server else self._shelf.batch()

    # --- files ------------------------------------------------------------------------------

    def _files(self) -> dict[str, MemoryNote]:
        """The notes of the nugget by path; of equal titles the first."""
        if not self._shelf.has(self._nugget):
            return {}
        files: dict[str, MemoryNote] = {}
        for note in self._shelf.list_notes(nugget=self._nugget):
            files.setdefault(note.title, note)
        return files

    def _files_below(self, path: str) -> dict[str, MemoryNote]:
        inside = f"{path}/" if path else ""
        return {name: note for name, note in self._files().items() if name.startswith(inside)}

    def _file(self, given: str) -> MemoryNote:
        note = self._files().get(_relative(given))
        if note is None:
            raise NotFound(f"there is no file {given}; view {ROOT} to see what there is")
        return note

    def _at_or_below(self, path: str) -> dict[str, MemoryNote]:
        files = self._files()
        notes = {path: files[path]} if path in files else self._files_below(path)
        if not notes:
            raise NotFound(f"there is no file or directory {_whole_path(path)}")
        return notes

    def _free(self, given: str) -> str:
        """The path of a new file, which is no directory and does not lie in a file."""
        path, files = _relative(given), self._files()
        parents = {path[:end] for end, sign in enumerate(path) if sign == "/"}
        if not path or path in files or self._files_below(path):
            raise InvalidInput(f"{given} exists already; choose another path")
        if parents & files.keys():
            raise InvalidInput(f"{given} would lie in a file; choose another path")
        return path


_COMMANDS: dict[str, Callable[..., str]] = {
    "view": MemoryTool._view,
    "create": MemoryTool._create,
    "str_replace": MemoryTool._replace,
    "insert": MemoryTool._insert,
    "delete": MemoryTool._delete,
    "rename": MemoryTool._rename,
}


def _relative(path: str) -> str:
    """The path from /memories; what leads out of it, or is no plain name, is refused."""
    inside = path.removeprefix(ROOT) if path == ROOT or path.startswith(f"{ROOT}/") else None
    parts = [] if inside is None else inside.removesuffix("/").split("/")[1:]
    is_plain = all(
        part.strip(" .") and part == part.strip() and part.isprintable() and "\\" not in part
        for part in parts
    )
    if inside is None or not is_plain:
        raise InvalidInput(f"a path is {ROOT}/ and plain names below it; not {path!r:.80}")
    return "/".join(parts)


def _whole_path(path: str) -> str:
    return f"{ROOT}/{path}" if path else ROOT


def _range(given: tuple[int, ...] | None, lines: int) -> tuple[int, int]:
    if given is None:
        return 1, lines
    start, end = given if len(given) == 2 else (0, 0)
    end = lines if end == -1 else end
    if not 1 <= start <= end:
        raise InvalidInput(f"view_range is the first and the last line, of 1 to {lines}; or -1")
    return start, end


def _size(number: int) -> str:
    return f"{number / 1024:.1f}K" if number >= 1024 else f"{number}"
