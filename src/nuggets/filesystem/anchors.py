"""Where a memory is anchored in a repository, and whether what it is about is still there.

An anchor has the path and fingerprints of the lines and the symbols that the memory names, as they
were when it was kept. Checking it costs one `stat` if the file has not been written since, else
one bounded read. Git is never started here (`git_repository.py` does that).

Texts and anchors may be hostile: a path is followed only inside the checkout, through no symbolic
link that leads out of it, to a plain file that is not too large.
"""

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from zlib import crc32

from nuggets.domain.records import Anchor
from nuggets.filesystem.atomic_files import read_beginning
from nuggets.filesystem.current_project import current_branch, current_project
from nuggets.language.repository_references import (
    TARGET_FILES,
    References,
    numbers_in,
    read_references,
)
from nuggets.language.text import all_words

# Anchors are checked wherever their memory is shown, so these bound the time of a hook, which has
# one second for everything.
MOST_ANCHORS = 6  # of one memory
MOST_BYTES = 512 * 1024  # of a file that is read; a larger one is hardly written by hand
MOST_LINES = 3  # fingerprints of one anchor: a number that more lines have names none of them
MOST_SYMBOLS = 4  # names of one memory that are looked for in files
FEW_DIGITS = 2  # a longer number names its line alone, a shorter one with a word
# Where versions are written down, in the root of a checkout.
VERSION_FILES = (
    *(".nvmrc", ".node-version", ".python-version", ".ruby-version", ".tool-versions"),
    *("package.json", "pyproject.toml", "setup.cfg", "requirements.txt", "go.mod", "Cargo.toml"),
    *("Gemfile", "pom.xml", "build.gradle", "Dockerfile", "docker-compose.yml", "compose.yaml"),
)
_BARE_VERSION_FILES = {".nvmrc": "node", ".node-version": "node", ".python-version": "python",
                       ".ruby-version": "ruby"}  # fmt: skip
_SECRET_FILES = (".env", ".pem", ".key", ".p12")  # of these no line leaves a trace


def make_anchors(root: str, text: str) -> tuple[Anchor, ...]:
    """The anchors of a memory in a checkout, for what it names and the checkout has."""
    references = read_references(text)
    anchors = [
        *(_file_anchor(root, path, line, references) for path, line in references.files),
        *(_target_anchor(root, tool, target) for tool, target in references.targets),
        *_version_anchors(root, references),
        *(Anchor("", branch=name) for name in references.branches if _branch_commit(root, name)),
    ]
    branch = current_branch(root) if any(anchors) else ""
    commit = _branch_commit(root, branch) if branch else ""
    unique = {anchor.path or anchor.branch: anchor for anchor in reversed(anchors) if anchor}
    return tuple(
        anchor._replace(commit=commit, branch=anchor.branch or branch)
        for anchor in list(unique.values())[::-1][:MOST_ANCHORS]
    )


def stale_reasons(root: str, anchors: Iterable[Anchor], moved: Mapping[str, str]) -> list[str]:
    """What has changed since a memory was kept; `moved`: new paths by old ones, where known."""
    reasons: list[str] = []
    for anchor in anchors:
        if anchor.path:
            reasons += _check(root, anchor, moved)
        elif not _branch_commit(root, anchor.branch):
            reasons.append(f"branch {anchor.branch}: gone")
    return list(dict.fromkeys(reasons))


def is_gone(root: str, anchor: Anchor) -> bool:
    """Is its file no longer where it was?"""
    return bool(anchor.path) and _status(root, anchor.path) is None


def read_lines(root: str, path: str) -> list[str] | None:
    """The lines of a plain file inside the checkout; None for anything else."""
    status = _status(root, path)
    if status is None or status.st_size > MOST_BYTES:
        return None
    text = read_beginning(os.path.realpath(os.path.join(root, path)), MOST_BYTES)
    return text.split("\n")


def fingerprint(line: str) -> str:
    """Of a line, whatever its blanks; "" of an empty one."""
    plain = " ".join(line.split())
    return f"{crc32(plain.encode(errors='replace')):08x}" if plain else ""


# --- making them ------------------------------------------------------------------------------


def _file_anchor(root: str, path: str, line: int, references: References) -> Anchor | None:
    path = _inner_path(root, path)
    anchor, lines = _read_anchored(root, path) if path else (None, [])
    if anchor is None or os.path.basename(path).startswith(_SECRET_FILES[0]):
        return anchor
    if path.endswith(_SECRET_FILES):
        return anchor
    symbols = [name for name in references.symbols if _has_name(lines, name)]
    anchor = anchor._replace(symbols=tuple(symbols[:MOST_SYMBOLS]))
    if line:
        mark = fingerprint(lines[line - 1]) if line <= len(lines) else ""
        return anchor._replace(line=line, lines=(mark,)) if mark else anchor
    return anchor._replace(lines=_lines_with_numbers(lines, references))


def _read_anchored(root: str, path: str) -> tuple[Anchor | None, list[str]]:
    """An anchor of the whole file, and its lines; None and no lines if it is not there."""
    status = _status(root, path)
    if status is None:
        return None, []
    anchor = Anchor(path, size=status.st_size, modified=status.st_mtime_ns)
    return anchor, read_lines(root, path) or []


def _lines_with_numbers(lines: Sequence[str], references: References) -> tuple[str, ...]:
    """Fingerprints of the lines with a number and most words of the text: it states their value."""
    best: list[tuple[int, str]] = []
    telling = references.telling_words
    for line in lines:
        if not any(number in line for number in references.numbers):
            continue
        numbers = set(numbers_in(line)).intersection(references.numbers)
        shared = len(telling.intersection(all_words(line)))
        if numbers and (shared or any(len(number) > FEW_DIGITS for number in numbers)):
            best.append((shared, fingerprint(line)))
    most = max((shared for shared, _ in best), default=0)
    found = dict.fromkeys(mark for shared, mark in best if shared == most)
    return tuple(found) if len(found) <= MOST_LINES else ()


def _target_anchor(root: str, tool: str, target: str) -> Anchor | None:
    """The file that defines what a command runs."""
    for name in TARGET_FILES[tool]:
        symbol = f'"{target}":' if name == "package.json" else f"{target}:"
        anchor, lines = _read_anchored(root, name)
        if anchor is not None and _has_name(lines, symbol):
            return anchor._replace(symbols=(symbol,))
    return None


def _version_anchors(root: str, references: References) -> list[Anchor]:
    """The lines that state the versions which a text names."""
    anchors = []
    for name, version in references.versions:
        stated = rf"(?<![\d.]){re.escape(version)}(?!\d)"
        for path in VERSION_FILES:
            anchor, lines = _read_anchored(root, path)
            is_bare = _BARE_VERSION_FILES.get(path) == name
            marks = dict.fromkeys(
                fingerprint(line)
                for line in lines
                if (is_bare or name in line.lower()) and re.search(stated, line)
            )
            if anchor is not None and 0 < len(marks) <= MOST_LINES:
                anchors.append(anchor._replace(lines=tuple(marks)))
    return anchors


# --- checking them ----------------------------------------------------------------------------


def _check(root: str, anchor: Anchor, moved: Mapping[str, str]) -> list[str]:
    status = _status(root, anchor.path)
    if status is None:
        return [_describe_gone(root, anchor, moved)]
    if (status.st_size, status.st_mtime_ns) == (anchor.size, anchor.modified):
        return []
    if not anchor.lines and not anchor.symbols:
        return []
    lines = _read_version(root, anchor.path, status.st_size, status.st_mtime_ns)
    if lines is None:
        return []
    reasons = [
        f"{symbol.strip(chr(34) + ':')} is no longer in {anchor.path}"
        for symbol in anchor.symbols
        if not _has_name(lines, symbol)
    ]
    return [*reasons, *_check_lines(root, lines, anchor)]


@lru_cache(maxsize=16)  # several memories may name one file
def _read_version(root: str, path: str, size: int, modified: int) -> list[str] | None:
    return read_lines(root, path)


def _check_lines(root: str, lines: Sequence[str], anchor: Anchor) -> list[str]:
    marks = [fingerprint(line) for line in lines]
    place = f"{anchor.path}:{anchor.line}" if anchor.line else anchor.path
    if any(mark not in marks for mark in anchor.lines):
        return [f"{place}: lines changed since{_branch_suffix(root, anchor)}"]
    if anchor.line and anchor.lines and marks[anchor.line - 1 : anchor.line] != [anchor.lines[0]]:
        return [f"{place} is now line {marks.index(anchor.lines[0]) + 1}"]
    return []


def _describe_gone(root: str, anchor: Anchor, moved: Mapping[str, str]) -> str:
    if anchor.path in moved:
        return f"{anchor.path}: moved to {moved[anchor.path]}"
    suffix = _branch_suffix(root, anchor)
    return f"{anchor.path}: not here{suffix}" if suffix else f"{anchor.path}: file gone"


def _branch_suffix(root: str, anchor: Anchor) -> str:
    """That it was kept on another branch, if it was and that branch is still there."""
    if not anchor.branch or anchor.branch == current_branch(root):
        return ""
    if not _branch_commit(root, anchor.branch):
        return ""
    return f" (from branch {anchor.branch})"


def _has_name(lines: Sequence[str], name: str) -> bool:
    """Does it stand in a line as a whole word?"""
    last = name.rpartition(".")[2].rpartition("::")[2] if name[-1:].isalnum() else name
    before = r"(?<![\w$-])" if last[:1].isalnum() else ""
    after = r"(?!\w)" if last[-1:].isalnum() else ""
    whole = re.compile(f"{before}{re.escape(last)}{after}")
    return any(last in line and whole.search(line) for line in lines)


# --- files ------------------------------------------------------------------------------------


def _inner_path(root: str, path: str) -> str:
    """The path from the root of the checkout; "" if it leads out of it."""
    if os.path.isabs(path):
        path = os.path.relpath(path, root) if path.startswith(root + os.sep) else ""
    plain = os.path.normpath(path) if path and "\0" not in path else ""
    outside = plain in ("", ".", "..") or plain.startswith(("../", ".git/")) or plain == ".git"
    return "" if outside else plain


def _status(root: str, path: str) -> os.stat_result | None:
    """The status of a plain file inside the checkout."""
    inner = _inner_path(root, path)
    if not inner:
        return None
    whole = os.path.join(root, inner)
    try:
        status = os.lstat(whole)
        if stat.S_ISLNK(status.st_mode) or os.path.dirname(inner):
            real = os.path.realpath(whole)
            if not real.startswith(os.path.realpath(root) + os.sep):
                return None
            status = os.stat(real)
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _branch_commit(root: str, name: str) -> str:
    """The last commit of a branch, read without git; "" if there is no such branch."""
    if name.startswith(("/", ".")) or ".." in name or "\0" in name:
        return ""
    git = current_project(root)  # that of the repository, for a worktree too
    commit = read_beginning(os.path.join(git, "refs", "heads", name), 64).strip()
    if commit:
        return commit
    packed = read_beginning(os.path.join(git, "packed-refs"), MOST_BYTES)
    ending = f" refs/heads/{name}"
    return next((line[:40] for line in packed.split("\n") if line.endswith(ending)), "")
