"""Finds where a file was moved: by the renames that git recorded, else by its fingerprints in files
of the same name. Starts git, so it runs only on request, or once a day.
"""

import os
from collections.abc import Iterable

from nuggets.domain.records import Anchor, MemoryNote
from nuggets.filesystem.anchors import holds_anchor, is_gone, read_lines
from nuggets.filesystem.current_project import git_directory
from nuggets.filesystem.git import run_git

MOST_COMMITS = 2000
MOST_FILES = 20_000
MOST_COMPARED = 200


def find_moved(root: str, anchors: Iterable[Anchor]) -> dict[str, str]:
    """For the anchored files that are gone, by path, where they are now, as far as it is known."""
    gone = {anchor.path: anchor for anchor in anchors if is_gone(root, anchor)}
    if not gone:
        return {}
    renamed = _renames(root)
    listed: list[str] | None = None
    moved: dict[str, str] = {}
    for path, anchor in gone.items():
        new = _follow(path, renamed)
        if new and not is_gone(root, anchor._replace(path=new)):
            moved[path] = new
            continue
        if listed is None:
            question = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
            output = run_git(git_directory(root), *question, work_tree=root)
            listed = output.split("\0")[:MOST_FILES]
        new = _find_alike(root, anchor, listed)
        if new:
            moved[path] = new
    return moved


def find_moved_by_note(root: str, notes: Iterable[MemoryNote]) -> dict[str, dict[str, str]]:
    """The same for the files that notes name: by note id, new paths by old ones."""
    anchored = [note for note in notes if note.anchors]
    moved = find_moved(root, [anchor for note in anchored for anchor in note.anchors])
    by_note = {
        note.id: {a.path: moved[a.path] for a in note.anchors if a.path in moved}
        for note in anchored
    }
    return {note_id: paths for note_id, paths in by_note.items() if paths}


def _renames(root: str) -> list[tuple[str, str]]:
    """The renames of the last commits, oldest first."""
    options = (
        *("-z", "-M", "--diff-filter=R", "--name-status", "--format=", f"-n{MOST_COMMITS}"),
        *("--no-ext-diff", "--no-textconv"),
    )
    output = run_git(git_directory(root), "log", *options, "HEAD", "--", work_tree=root)
    fields = output.split("\0")
    renames = [
        (fields[i + 1], fields[i + 2])
        for i, field in enumerate(fields[:-2])
        if field.strip().startswith("R") and field.strip()[1:].isdigit()
    ]
    return renames[::-1]


def _follow(path: str, renames: list[tuple[str, str]]) -> str:
    """The last name of a file that was renamed; "" if it was not."""
    name = path
    for old, new in renames:
        if name == old:
            name = new
    return name if name != path else ""


def _find_alike(root: str, anchor: Anchor, listed: list[str]) -> str:
    """A file that has all that the anchor names: of the same name, or else of the same kind; ""
    unless there is exactly one."""
    base = os.path.basename(anchor.path)
    ending = os.path.splitext(base)[1]
    same_name = [path for path in listed if os.path.basename(path) == base]
    has_marks = bool(anchor.lines or anchor.symbols)
    same_kind = [path for path in listed if has_marks and ending and path.endswith(ending)]
    for candidates in (same_name, same_kind[:MOST_COMPARED]):
        alike = [
            path
            for path in candidates
            if path != anchor.path and holds_anchor(read_lines(root, path) or [], anchor)
        ]
        if len(alike) == 1:
            return alike[0]
    return ""
