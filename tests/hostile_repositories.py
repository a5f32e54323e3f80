"""Repositories that want to run a program, or have files of another one opened.

As a program it looks at each of them as Nuggets does, which a test traces:
python tests/hostile_repositories.py REPOSITORY …
"""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from git_repositories import git, new_repository

Make = Callable[[Path, str, Path], None]  # of a repository, a program that must not run, a victim


def _config(text: str, attributes: str = "") -> Make:
    """Settings in the repository's own configuration; `{run}` is the program, `{victim}` a folder
    that it must not read."""

    def make(repository: Path, run: str, victim: Path) -> None:
        with open(repository / ".git" / "config", "a", encoding="utf-8") as config:
            config.write(text.format(run=run, victim=victim))
        if attributes:
            (repository / ".gitattributes").write_text(attributes)

    return make


def _hook(name: str) -> Make:
    def make(repository: Path, run: str, victim: Path) -> None:
        hook = repository / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{run}\n")
        hook.chmod(0o755)

    return make


def _promisor(url: str, allow: str = "") -> Make:
    """Objects are missing, and are promised by a remote."""

    def make(repository: Path, run: str, victim: Path) -> None:
        _config(
            "[extensions]\n\tpartialClone = origin\n[core]\n\trepositoryFormatVersion = 1\n"
            '[remote "origin"]\n\tpromisor = true\n\tpartialCloneFilter = blob:none\n'
            f'\turl = "{url}"\n{allow}'
        )(repository, run, victim)
        head = git(repository, "rev-parse", "HEAD").strip()
        first = git(repository, "rev-list", "--max-parents=0", "HEAD").strip()
        for name in (first, git(repository, "rev-parse", f"{head}^{{tree}}").strip()):
            (repository / ".git" / "objects" / name[:2] / name[2:]).unlink(missing_ok=True)

    return make


def _pointer(target: str, **files: str) -> Make:
    """`.git` is a file that names a directory, which has these files."""

    def make(repository: Path, run: str, victim: Path) -> None:
        shutil.rmtree(repository / ".git")
        (repository / ".git").write_text(f"gitdir: {target.format(victim=victim)}\n")
        for name, text in files.items():
            path = repository / "gd" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.format(victim=victim, here=repository))

    return make


def _link(name: str, target: str) -> Make:
    """Something of the repository is a link to the victim's."""

    def make(repository: Path, run: str, victim: Path) -> None:
        path = repository / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target.format(victim=victim))

    return make


def _bare_inside(repository: Path, run: str, victim: Path) -> None:
    """A bare repository among the files, as a clone can carry it."""
    inner = repository / "vendor"
    git(repository, "init", "-q", "--bare", str(inner))
    _config_of(inner / "config", f"[core]\n\tfsmonitor = {run}\n\tpager = {run}\n")


def _submodule(repository: Path, run: str, victim: Path) -> None:
    (repository / ".gitmodules").write_text(
        f'[submodule "a"]\n\tpath = a\n\turl = "ext::sh -c {run}"\n\tupdate = "!{run}"\n'
    )
    _config_of(
        repository / ".git" / "config", f'[submodule "a"]\n\tactive = true\n\tupdate = "!{run}"\n'
    )


def _config_of(path: Path, text: str) -> None:
    with open(path, "a", encoding="utf-8") as config:
        config.write(text)


ALLOW_EXT = '[protocol "ext"]\n\tallow = always\n[protocol]\n\tallow = always\n'
REPOSITORIES: dict[str, Make] = {
    "fsmonitor": _config("[core]\n\tfsmonitor = {run}\n"),
    "fsmonitor version": _config("[core]\n\tfsmonitor = {run}\n\tfsmonitorHookVersion = 2\n"),
    "fsmonitor and untracked cache": _config(
        "[core]\n\tfsmonitor = {run}\n\tuntrackedCache = true\n\tpreloadIndex = true\n"
    ),
    "hooks path": _config("[core]\n\thooksPath = {victim}\n"),
    **{
        f"hook {name}": _hook(name)
        for name in ("post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc")
    },
    "pager": _config("[core]\n\tpager = {run}\n[pager]\n\tlog = {run}\n\tls-files = {run}\n"),
    "editor": _config("[core]\n\teditor = {run}\n[sequence]\n\teditor = {run}\n"),
    "ask pass": _config("[core]\n\taskPass = {run}\n[credential]\n\thelper = !{run}\n"),
    "ssh command": _config("[core]\n\tsshCommand = {run}\n\tgitProxy = {run}\n"),
    "external diff": _config("[diff]\n\texternal = {run}\n"),
    "diff driver": _config('[diff "x"]\n\tcommand = {run}\n', "* diff=x\n"),
    "textconv": _config('[diff "x"]\n\ttextconv = {run}\n\tcachetextconv = true\n', "* diff=x\n"),
    "clean filter": _config('[filter "x"]\n\tclean = {run}\n\trequired = true\n', "* filter=x\n"),
    "smudge filter": _config('[filter "x"]\n\tsmudge = {run}\n', "* filter=x\n"),
    "filter process": _config('[filter "x"]\n\tprocess = {run}\n', "* filter=x\n"),
    "merge driver": _config('[merge "x"]\n\tdriver = {run}\n', "* merge=x\n"),
    "signatures": _config(
        "[log]\n\tshowSignature = true\n[gpg]\n\tprogram = {run}\n\tformat = ssh\n"
        '[gpg "ssh"]\n\tprogram = {run}\n\tdefaultKeyCommand = {run}\n'
    ),
    "aliases": _config("[alias]\n\tlog = !{run}\n\tls-files = !{run}\n\trev-list = !{run}\n"),
    "trace": _config('[trace2]\n\tnormalTarget = "{victim}/trace"\n\teventTarget = 1\n'),
    "maintenance": _config("[gc]\n\tauto = 1\n\tautoDetach = false\n[maintenance]\n\tauto = 1\n"),
    "diff filter": _config("[interactive]\n\tdiffFilter = {run}\n[man]\n\tviewer = x\n"),
    "promisor by ext": _promisor("ext::{run}"),
    "promisor by ext, allowed": _promisor("ext::{run}", ALLOW_EXT),
    "promisor by ssh": _promisor("ssh://localhost/x", "[core]\n\tsshCommand = {run}\n" + ALLOW_EXT),
    "promisor by a helper": _promisor("evil::x", '[protocol "evil"]\n\tallow = always\n'),
    "promisor by a file": _promisor(
        "file://{victim}", "[uploadpack]\n\tpackObjectsHook = {run}\n" + ALLOW_EXT
    ),
    "promisor with another program": _promisor(
        "{victim}", '[remote "origin"]\n\tuploadpack = {run}\n' + ALLOW_EXT
    ),
    "include": _config("[include]\n\tpath = {victim}/.git/config\n"),
    "include if": _config('[includeIf "gitdir:/"]\n\tpath = {victim}/.git/config\n'),
    "includes in capitals": _config("[INCLUDE]\n\tpath = {victim}/.git/config\n"),
    "work tree elsewhere": _config("[core]\n\tworktree = {victim}\n"),
    "excludes elsewhere": _config("[core]\n\texcludesFile = {victim}/secret\n"),
    "attributes elsewhere": _config("[core]\n\tattributesFile = {victim}/secret\n"),
    "mailmap elsewhere": _config("[mailmap]\n\tfile = {victim}/secret\n[log]\n\tmailmap = 1\n"),
    "order file elsewhere": _config("[diff]\n\torderFile = {victim}/secret\n"),
    "a pointer to a repository": _pointer("{victim}/.git"),
    "a pointer to a work tree": _pointer("{victim}/.git/worktrees/legal"),
    "a common directory elsewhere": _pointer(
        "gd", commondir="{victim}/.git\n", gitdir="{here}/.git\n", HEAD="ref: refs/heads/main\n"
    ),
    "worktrees of its own": _pointer(
        "gd/worktrees/x",
        **{
            "worktrees/x/commondir": "{victim}/.git\n",
            "worktrees/x/gitdir": "{here}/.git\n",
            "worktrees/x/HEAD": "ref: refs/heads/main\n",
        },
    ),
    "a submodule's pointer": _pointer("{victim}/.git/modules/a"),
    "a linked git directory": _link(".git", "{victim}/.git"),
    "a linked configuration": _link(".git/config", "{victim}/.git/config"),
    "a linked head": _link(".git/HEAD", "{victim}/.git/HEAD"),
    "linked objects": _link(".git/objects", "{victim}/.git/objects"),
    "linked references": _link(".git/refs", "{victim}/.git/refs"),
    "a linked index": _link(".git/index", "{victim}/.git/index"),
    "linked ignore file": _link(".gitignore", "{victim}/secret"),
    "linked attributes": _link(".gitattributes", "{victim}/secret"),
    "linked mailmap": _link(".mailmap", "{victim}/secret"),
    "a bare repository inside": _bare_inside,
    "submodules": _submodule,
}


def make_victim(folder: Path) -> Path:
    """Another project, with a work tree, a submodule's directory and programs as hooks."""
    victim = new_repository(folder)
    (victim / "secret").write_text("secret\n")
    git(victim, "worktree", "add", "-q", str(folder.parent / "legal"), "-b", "legal")
    (victim / ".git" / "modules" / "a").mkdir(parents=True)
    return victim


def make_all(folder: Path, run: str, victim: Path) -> dict[str, Path]:
    """The repositories by name; each has a file that was renamed once."""
    repositories = {}
    for number, (name, make) in enumerate(REPOSITORIES.items()):
        repository = new_repository(folder / f"repository-{number}", commits=1)
        (repository / "old.py").write_text("def handler():\n    return 1\n")
        git(repository, "add", "old.py")
        git(repository, "commit", "-q", "-m", "first")
        git(repository, "mv", "old.py", "new.py")
        git(repository, "commit", "-q", "-m", "second")
        make(repository, run, victim)
        repositories[name] = repository
    return repositories


def look_at(folder: str) -> str:
    """All that Nuggets reads of a repository; the project it takes it for."""
    from nuggets.domain.records import Anchor
    from nuggets.filesystem.current_project import checkout_root, current_branch, current_project
    from nuggets.filesystem.git_repository import find_moved, gather_evidence

    project = current_project(folder)
    gather_evidence(project, os.environ["NUGGETS_DIR"])
    current_branch(folder)
    find_moved(checkout_root(folder), [Anchor("old.py", 1, (), ("handler",))])
    return project


if __name__ == "__main__":
    for place in sys.argv[1:]:
        print(look_at(place))
