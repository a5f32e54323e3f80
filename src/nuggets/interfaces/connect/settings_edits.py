"""Plans the edits of a host's files, shows and writes them with backups, and takes them back; and
says which hosts are connected, and what keeps a connection from working."""

import difflib
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import Any

from nuggets.errors import InvalidInput
from nuggets.filesystem.atomic_files import (
    open_plain,
    remove_leftovers,
    unwritable,
    write_private_file,
)
from nuggets.filesystem.current_project import checkout_root
from nuggets.filesystem.processes import module_command
from nuggets.interfaces.connect import EditError, jsonc
from nuggets.interfaces.connect.hosts import (
    HOSTS,
    Entry,
    ListItem,
    Setup,
    Value,
    WholeFile,
    is_own_hook,
    is_own_server,
)
from nuggets.named_tuple import NamedTuple

_PACKAGED_COMMAND = 'const NUGGETS = ["nuggets"];'  # in the extensions of this package
_COMMAND_COMMENT = "`nuggets connect` fills this in"  # behind it, in extensions of every version
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")

# contents without any setting: such a file is removed
_EMPTY_SETTINGS: tuple[object, ...] = (
    {},
    {"version": 1},
    {"version": 1, "hooks": {}},
    {"$schema": "https://opencode.ai/config.json"},  # opencode adds it to a file without
)


class Edit(NamedTuple):
    """The text of a file before and after; None where there is no file."""

    path: str
    before: str | None
    after: str | None
    was_connected: bool  # `before` already has entries of Nuggets


def plan_edits(
    host: str, scope: str, *, connecting: bool, shelf_directory: str, location: str
) -> list[Edit]:
    """One edit for every file of the host, also where nothing changes. Writes nothing.

    `scope`: "user" or "project". `location`: of the shelf, for the entries; "" if they need not
    name it.
    """
    user, root = scope == "user", _root(scope)
    if not user and not HOSTS[host].has_project_settings:
        raise InvalidInput(f"{host} has no settings for one project; leave out --project")
    if not root:
        raise InvalidInput("the current directory is gone; change into the project")
    all_entries = HOSTS[host].entries(Setup(root, user, _find_command(host, user), location))
    edits = []
    for path, entries in _by_file(all_entries).items():
        if not user:
            _refuse_link_to_outside(root, path)
        text = read_text(path)
        try:
            if connecting:
                after: str | None = _add_entries(text, entries)
            else:
                after = _disconnect(path, text, entries, shelf_directory)
            was_connected = text is not None and after != text and has_entries(text, entries)
        except EditError as problem:
            raise InvalidInput(
                f"{path} cannot be edited ({problem}); it was left as it is. "
                "Correct it and try again"
            ) from None
        edits.append(Edit(path, text, after, was_connected))
    return edits


def _root(scope: str) -> str:
    """Where a host's files of this scope lie; "" if the current directory is gone."""
    try:
        return os.path.expanduser("~") if scope == "user" else checkout_root(os.getcwd())
    except OSError:
        return ""


def _by_file(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The entries of each file."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.file, []).append(entry)
    return groups


def _refuse_link_to_outside(root: str, path: str) -> None:
    """A link in somebody's repository must not make us write elsewhere."""
    target = os.path.realpath(path)
    if os.path.commonpath([root, target]) != root:
        raise InvalidInput(
            f"{path} leads to {target}, outside of this project; it was left as it is. "
            "Remove the link, or connect without --project"
        )


def diff(edit: Edit) -> Iterator[str]:
    """The lines of a unified diff."""
    texts = (edit.before, edit.after)
    before, after = ((text or "").splitlines() for text in texts)
    old, new = (edit.path if text is not None else "/dev/null" for text in texts)
    yield from difflib.unified_diff(before, after, old, new, lineterm="", n=2)


def apply_edits(edits: Sequence[Edit], shelf_directory: str, *, connecting: bool) -> list[str]:
    """Back up and write every file; returns the paths of the backups.

    The backup from before connecting is what disconnecting restores, so it is never overwritten
    by a later one.
    """
    backups = []
    for edit in edits:
        backup = _backup_path(edit.path, shelf_directory)
        if edit.before is None and os.path.exists(backup):
            os.replace(backup, f"{backup}.old")  # of an earlier file, which is gone
        if edit.before is not None:
            backup += "" if connecting and not edit.was_connected else ".disconnected"
            write_private_file(backup, edit.before.encode(), durable=True)
            backups.append(backup)
        _write(edit)
    return backups


def _write(edit: Edit) -> None:
    target = os.path.realpath(edit.path)  # dotfiles are often links: keep the link
    if read_text(target) != edit.before:
        raise InvalidInput(f"{edit.path} changed meanwhile; it was left as it is. Try again")
    try:
        if edit.after is None:
            remove_leftovers(target)
            os.unlink(target)
            return
        mode = stat.S_IMODE(os.stat(target).st_mode) if edit.before is not None else 0o600
        write_private_file(target, edit.after.encode(), durable=True, mode=mode)
    except OSError as problem:
        raise unwritable(edit.path, problem) from problem


def _add_entries(text: str | None, entries: Sequence[Entry]) -> str:
    after = text or ""
    for entry in entries:
        if isinstance(entry, WholeFile):
            after = _set_command(read_packaged(entry.source), entry.command)
        elif isinstance(entry, ListItem):
            after = _set_hook(after, entry)
        else:
            _refuse_other_server(_find_server(after, entry))
            after = _format(entry).set_value(after, entry.path, entry.value)
    return after


def _format(entry: Entry) -> Any:
    """The module that edits files like this one."""
    if entry.file.endswith(".toml"):
        from nuggets.interfaces.connect import toml

        return toml
    return jsonc


def _find_server(text: str, entry: Entry) -> Any:
    """The server called nuggets, where an entry is one; None if there is none."""
    if not isinstance(entry, Value) or entry.path[-1] != "nuggets":
        return None
    return _format(entry).value_at(text, entry.path)


def _refuse_other_server(server: object) -> None:
    if server is None or is_own_server(server):
        return
    is_only_tool_settings = isinstance(server, dict) and all(
        isinstance(value, dict) for value in server.values()
    )
    if not is_only_tool_settings:
        raise EditError(
            "its server called nuggets was not written by `nuggets connect`: rename or remove it"
        )


def _set_hook(text: str, entry: ListItem) -> str:
    """Exactly one hook of ours in the list; one that is up to date stays where it is."""
    own = [item for item in jsonc.value_at(text, entry.path) or () if is_own_hook(item)]
    if own == [entry.value]:
        return text
    return jsonc.append_item(_remove_own_hooks(text, entry.path), entry.path, entry.value)


def _remove_own_hooks(text: str, path: Sequence[str]) -> str:
    items = jsonc.value_at(text, path)
    for index, item in reversed([*enumerate(items if isinstance(items, list) else ())]):
        if is_own_hook(item):
            text = jsonc.remove(text, [*path, index])
    return text


def _disconnect(
    path: str, text: str | None, entries: Sequence[Entry], shelf_directory: str
) -> str | None:
    """The backup if nobody edited the file since, else the text without our entries."""
    if text is None or not has_entries(text, entries):
        return text
    backup = read_text(_backup_path(path, shelf_directory))
    if backup is not None and has_entries(backup, entries):
        backup = None  # made when the host was connected already
    if isinstance(entries[0], WholeFile):
        return backup
    after = _remove_entries(text, entries)
    if backup is not None and _add_entries(backup, entries) == text:
        return backup
    if _format(entries[0]) is not jsonc:
        return after if after.strip() else None
    return None if jsonc.parse(after).value in _EMPTY_SETTINGS and backup is None else after


def has_entries(text: str, entries: Sequence[Entry]) -> bool:
    """Any entry of Nuggets, also of another version."""
    if isinstance(entries[0], WholeFile):
        return _COMMAND_COMMENT in text
    return _remove_entries(text, entries) != text


def _remove_entries(text: str, entries: Sequence[Entry]) -> str:
    for entry in entries:
        if isinstance(entry, ListItem):
            before, text = text, _remove_own_hooks(text, entry.path)
            if text != before and jsonc.value_at(text, entry.path) == []:
                text = jsonc.remove_value(text, entry.path)
        elif isinstance(entry, Value) and is_own_server(_find_server(text, entry)):
            text = _format(entry).remove_value(text, entry.path)
    return text


def read_packaged(name: str) -> str:
    """A file that comes with this package."""
    return (
        files("nuggets.interfaces.connect").joinpath("files", *name.split("/")).read_text("utf-8")
    )


def _set_command(extension: str, command: Sequence[str]) -> str:
    """The extension with the command that it calls."""
    line = f"const NUGGETS = {json.dumps(list(command), ensure_ascii=False)};"
    return extension.replace(_PACKAGED_COMMAND, line, 1)


def _find_command(host: str, user: bool) -> list[str]:
    """How a host calls Nuggets. A project's files are shared, so they say what works for everyone.

    The bare name will do if every shell finds it, which is not so in a virtual environment, and
    if the host has a shell's PATH.
    """
    program = shutil.which("nuggets")
    if not user:
        return ["nuggets"]
    if program and not _is_in_environment(program):
        return [os.path.abspath(program) if HOSTS[host].is_started_by_desktop else "nuggets"]
    own = os.path.join(os.path.dirname(sys.executable), "nuggets")
    if os.access(own, os.X_OK):
        return [own]
    return module_command("nuggets")


def _is_in_environment(program: str) -> bool:
    """Is it in a virtual environment? A link from outside, as pipx and uv create it, is not."""
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(program)))
    return any(os.path.exists(os.path.join(prefix, mark)) for mark in _ENVIRONMENT_MARKS)


def _backup_path(path: str, shelf_directory: str) -> str:
    import hashlib

    digest = hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()[:8]
    folder = os.path.join(os.path.expanduser(shelf_directory), "backups", "connect")
    return os.path.join(folder, f"{digest}-{os.path.basename(path)}")


def read_text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="", opener=open_plain) as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8; it was left as it is. Convert it first") from None
    except OSError as problem:
        raise InvalidInput(f"{path} cannot be read: {problem.strerror}") from None


# --- which hosts are connected, and what keeps a connection from working --------------------------


def connected_files(host: str, scope: str) -> dict[str, str]:
    """The files of this scope that have entries of Nuggets, each with the program of our server."""
    programs = {}
    for path, entries in _files(host, scope):
        with suppress(EditError, InvalidInput):  # what cannot be read connects nothing
            text = read_text(path)
            if text is not None and has_entries(text, entries):
                programs[path] = _find_program(text, entries)
    return programs


def _find_program(text: str, entries: Sequence[Entry]) -> str:
    """What our server in a file is started with; "" if it has none."""
    for entry in entries:
        server = _find_server(text, entry)
        if is_own_server(server):
            command = server["command"]
            return str(command[0] if isinstance(command, list) else command)
    return ""


def find_problems() -> Iterator[tuple[str, str]]:
    """What keeps connections from working, for all projects of a user and for the project someone
    is in, each with the file that it is in."""
    for host in HOSTS:
        user, project = connected_files(host, "user"), connected_files(host, "project")
        if user and project:
            yield next(iter(project)), both_scopes_message(host)
        for path, program in {**user, **project}.items():
            if os.path.isabs(program) and not os.access(program, os.X_OK):
                what = f"it calls {program}, which is gone. `nuggets connect {host}` corrects it"
                yield path, what


def both_scopes_message(host: str) -> str:
    return (
        f"{host} is connected for all your projects and again in this one, so its hooks and tools "
        f"are there twice. `nuggets disconnect {host} --project` or `nuggets disconnect {host}` "
        "removes one"
    )


def _files(host: str, scope: str) -> list[tuple[str, list[Entry]]]:
    user, root = scope == "user", _root(scope)
    if not user and (
        root in ("", os.path.realpath(_root("user"))) or not HOSTS[host].has_project_settings
    ):
        return []
    entries = HOSTS[host].entries(Setup(root, user, ["nuggets"]))
    return list(_by_file(entries).items())
