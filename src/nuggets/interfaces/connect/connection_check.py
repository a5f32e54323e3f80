"""Which hosts are connected, and what keeps a connection from working. Writes nothing."""

import os
from collections.abc import Iterator

from nuggets.errors import InvalidInput
from nuggets.filesystem.current_project import checkout_root
from nuggets.interfaces.connect import EditError
from nuggets.interfaces.connect.hosts import (
    HOSTS,
    Entry,
    JsonMember,
    TomlTable,
    host_entries,
    is_own_server,
)
from nuggets.interfaces.connect.settings_edits import (
    by_file,
    has_entries,
    read_text,
    value_of,
)
from nuggets.named_tuple import NamedTuple

_SCOPES = ("user", "project")


class Problem(NamedTuple):
    """What keeps a connection from working, and the file that it is in."""

    path: str
    text: str


def connected_files(host: str, scope: str, *, working_directory: str, home: str) -> list[str]:
    """The files of this scope that have entries of Nuggets."""
    paths = []
    for path, entries in _files(host, scope, working_directory, home):
        try:
            text = read_text(path)
            if text is not None and has_entries(text, entries):
                paths.append(path)
        except (EditError, InvalidInput):  # what cannot be read connects nothing
            continue
    return paths


def find_problems(*, working_directory: str, home: str) -> list[Problem]:
    """Of the connections for all projects of a user, and for the project someone is in.

    `working_directory`: "" if it is gone.
    """
    problems = []
    for host in HOSTS:
        files = {
            scope: connected_files(host, scope, working_directory=working_directory, home=home)
            for scope in _SCOPES
        }
        if files["user"] and files["project"]:
            problems.append(Problem(files["project"][0], both_scopes_message(host)))
        for scope in _SCOPES:
            for path, entries in _files(host, scope, working_directory, home):
                if path in files[scope]:
                    texts = _file_problems(host, path, entries)
                    problems += [Problem(path, text) for text in texts]
    return problems


def both_scopes_message(host: str) -> str:
    return (
        f"{host} is connected for all your projects and again in this one, so its hooks and tools "
        f"are there twice. `nuggets disconnect {host} --project` or `nuggets disconnect {host}` "
        "removes one"
    )


def _files(
    host: str, scope: str, working_directory: str, home: str
) -> list[tuple[str, list[Entry]]]:
    user = scope == "user"
    if not user and not working_directory:
        return []
    root = home if user else checkout_root(working_directory)
    if not user and (not HOSTS[host].has_project_settings or root == os.path.realpath(home)):
        return []
    entries = host_entries(host, root, user=user, command=["nuggets"])
    return list(by_file(entries).items())


def _file_problems(host: str, path: str, entries: list[Entry]) -> Iterator[str]:
    text = read_text(path) or ""
    for entry in entries:
        server = value_of(text, entry) if isinstance(entry, JsonMember | TomlTable) else None
        if server is not None and is_own_server(server):
            command = server["command"]
            program = str(command[0] if isinstance(command, list) else command)
            if os.path.isabs(program) and not os.access(program, os.X_OK):
                yield f"it calls {program}, which is gone. `nuggets connect {host}` corrects it"
