"""What git knows of a repository: what identifies it wherever it is, and where files were moved."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache

from nuggets.domain.records import Anchor
from nuggets.errors import StoreError
from nuggets.filesystem.anchors import is_gone
from nuggets.filesystem.atomic_files import read_beginning, write_private_file
from nuggets.filesystem.current_project import (
    git_directory,
    repository_stamp,
)
from nuggets.filesystem.hook_files import hook_path
from nuggets.filesystem.processes import CONFIG_BYTES, GIT_SECONDS, run_git
from nuggets.named_tuple import NamedTuple

# --- identity ---------------------------------------------------------------------------------

# The first commit and the remote. Git's own files have the latter; for the first commit git is
# asked, once per repository, and the answer is cached in a file of the shelf's `hooks` directory.
ROOT_SECONDS = 0.5  # a hook has one second for everything
ASK_AGAIN_SECONDS = 24 * 3600  # after git was missing or too slow; not at every prompt


class Evidence(NamedTuple):
    """What is known of a repository. Empty texts where nothing is."""

    stamp: str = ""  # another one if another repository takes its place
    root: str = ""  # the first commit
    remote: str = ""  # host and path, without scheme and credentials
    is_shallow: bool = False  # git then names another first commit than in a full clone


def gather_evidence(location: str, shelf_url: str) -> Evidence:
    """The evidence of the repository whose git directory this is; none for a plain folder."""
    stamp = repository_stamp(location)
    if not stamp or os.path.islink(location) or not os.path.isfile(os.path.join(location, "HEAD")):
        return Evidence()
    return Evidence(
        stamp,
        _cached_root(location, stamp, shelf_url) if has_commits(location) else "",
        _read_remote(location),
        os.path.exists(os.path.join(location, "shallow")),
    )


def has_commits(location: str) -> bool:
    """Does HEAD lead to a commit? Read from git's files."""
    head = read_beginning(os.path.join(location, "HEAD"), 4096).strip()
    reference = head.removeprefix("ref:").strip()
    if reference == head:  # detached
        return bool(head)
    if os.path.isfile(os.path.join(location, *reference.split("/"))):
        return True
    packed = read_beginning(os.path.join(location, "packed-refs"), 16 * 1024 * 1024)
    is_reftable = os.path.isdir(os.path.join(location, "reftable"))
    return is_reftable or f" {reference}\n" in packed


def normalize_remote(url: str) -> str:
    """Host and path of a remote's address: however it is reached, and as whom, it is the same."""
    address = url.strip().partition("?")[0]
    scheme, separator, rest = address.partition("://")
    if not separator:
        rest = address
        host, colon, path = rest.partition(":")
        if colon and "/" not in host:  # git@host:path
            rest = f"{host}/{path}"
    host, slash, path = rest.partition("/")
    host = host.rpartition("@")[2].lower()
    if scheme.lower() in ("http", "https", "ssh", "git"):
        host = host.partition(":")[0]
    return f"{host}{slash}{path}".rstrip("/").removesuffix(".git")


def _cached_root(location: str, stamp: str, shelf_url: str) -> str:
    import hashlib
    import json
    import time

    digest = hashlib.sha1(location.encode(errors="replace"), usedforsecurity=False).hexdigest()
    path = hook_path(shelf_url, "repositories", digest)
    with suppress(OSError, ValueError, TypeError, RecursionError):
        cached_location, cached_stamp, root = json.loads(read_beginning(path, 16 * 1024))
        is_recent = time.time() - os.stat(path).st_mtime < ASK_AGAIN_SECONDS
        if (cached_location, cached_stamp) == (location, stamp) and (root or is_recent):
            return str(root)
    root = _ask_git_for_root(location)
    if path:
        with suppress(OSError, StoreError):  # git is asked again
            text = json.dumps([location, stamp, root])
            write_private_file(path, text.encode(errors="replace"), durable=False)
    return root


def _ask_git_for_root(location: str) -> str:
    """The first commit of HEAD's history; "" if git is missing, too slow or fails."""
    # Without the "--" some versions of git take HEAD for the file of that name, and refuse.
    question = ("rev-list", "--max-parents=0", "HEAD", "--")
    commits = run_git(location, *question, seconds=ROOT_SECONDS).split()
    return commits[-1] if commits else ""


def _read_remote(location: str) -> str:
    """The address of `origin`, or of the only remote there is."""
    remotes: dict[str, str] = {}
    section = ""
    for line in read_beginning(os.path.join(location, "config"), CONFIG_BYTES).splitlines():
        words = line.strip()
        if words.startswith("["):
            section = words
        elif section.startswith('[remote "') and words.partition("=")[0].strip() == "url":
            name = section.removeprefix('[remote "').partition('"')[0]
            remotes.setdefault(name, words.partition("=")[2].strip().strip('"'))
    if len(remotes) == 1:
        return normalize_remote(next(iter(remotes.values())))
    return normalize_remote(remotes.get("origin", ""))


# --- files that were moved --------------------------------------------------------------------

# Found by the renames that git recorded. Starts git, so it is asked only if a file is gone.
MOST_COMMITS = 2000  # that are looked at; what was moved before is told as gone


def find_moved(
    root: str, anchors: Iterable[Anchor], seconds: float | None = None
) -> dict[str, str]:
    """For the anchored files that are gone, by path, where they are now, as far as it is known.

    `seconds`: how long git may take to say so.
    """
    gone = {anchor.path: anchor for anchor in anchors if is_gone(root, anchor)}
    renames = _renames(root, _index_stamp(root), seconds or GIT_SECONDS) if gone else ()
    now = {path: _follow(path, renames) for path in gone}
    return {
        path: new
        for path, new in now.items()
        if new != path and not is_gone(root, gone[path]._replace(path=new))
    }


def _index_stamp(root: str) -> int:
    """Changes with what is committed, staged or checked out; 0 if that is not known."""
    with suppress(OSError):
        return os.stat(os.path.join(git_directory(root), "index")).st_mtime_ns
    return 0


@lru_cache(maxsize=4)  # of a session's many memories several may name files that are gone
def _renames(root: str, stamp: int, seconds: float) -> Sequence[tuple[str, str]]:
    """The renames of the last commits, oldest first, and of what is staged."""
    options = ("-z", "-M", "--diff-filter=R", "--name-status", "--no-ext-diff", "--no-textconv")
    git = git_directory(root)
    last = (f"-n{MOST_COMMITS}", "--format=", "HEAD", "--")
    committed = run_git(git, "log", *options, *last, work_tree=root, seconds=seconds)
    now = ("--cached", *options, "HEAD", "--")
    staged = run_git(git, "diff", *now, work_tree=root, seconds=seconds)
    return [*_parse_renames(committed)[::-1], *_parse_renames(staged)]


def _parse_renames(output: str) -> list[tuple[str, str]]:
    fields = output.split("\0")
    return [
        (fields[i + 1], fields[i + 2])
        for i, field in enumerate(fields[:-2])
        if field.strip().startswith("R") and field.strip()[1:].isdigit()
    ]


def _follow(path: str, renames: Iterable[tuple[str, str]]) -> str:
    """The last name of a file; the first one if it was not renamed."""
    for old, new in renames:
        if path == old:
            path = new
    return path
