"""Nothing that a repository configures is executed, and it has no file of another one opened."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from fault_processes import TESTS, environment
from git_repositories import new_repository
from hostile_repositories import REPOSITORIES, make_all, make_victim
from nuggets.filesystem.git_repository import gather_evidence
from system_programs import program

ASKED_WHETHER_THEY_KNOW_A_CHECKOUT = {
    ".git/worktrees/legal/commondir",
    ".git/worktrees/legal/gitdir",
}


def test_the_corpus_is_large_enough() -> None:
    assert len(REPOSITORIES) >= 40


def test_no_hostile_repository_starts_a_program_or_has_another_one_opened(tmp_path: Path) -> None:
    proof, victim = tmp_path / "proof", make_victim(tmp_path / "victim")
    run = tmp_path / "run"
    run.write_text(f"#!/bin/sh\necho ran >> {proof}\n")
    run.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git-remote-evil").symlink_to(run)
    older = tmp_path / "bin" / "git"  # older versions do not know this variable
    older.write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {shutil.which("git")} "$@"\n')
    older.chmod(0o755)
    hook = victim / "post-index-change"  # where a repository says that its hooks are
    hook.symlink_to(run)
    repositories = make_all(tmp_path / "repositories", str(run), victim)
    strace, trace = program("strace", "strace"), tmp_path / "trace"
    tracing = [strace, "-f", "-y", "-qq", "-s", "4096", "-o", str(trace)] if strace else []
    tracing += ["-e", "trace=execve,open,openat,readlink"] if strace else []
    search = f"{tmp_path}/bin:{environment()['PATH']}"
    done = subprocess.run(
        [*tracing, sys.executable, f"{TESTS}/hostile_repositories.py", *repositories.values()],
        env=environment(NUGGETS_DIR=str(tmp_path / "shelf"), PATH=search),
        capture_output=True,
        text=True,
        check=True,
    )

    assert not proof.exists()
    for name, project in zip(repositories, done.stdout.splitlines(), strict=True):
        assert project.startswith(f"{repositories[name]}"), name
    if strace:
        opened = set(re.findall(rf"= \d+<{victim}/([^>]+)>$", trace.read_text(), re.MULTILINE))
        assert opened <= ASKED_WHETHER_THEY_KNOW_A_CHECKOUT
        started = set(re.findall(r'execve\("([^"]+)".* = 0$', trace.read_text(), re.MULTILINE))
        assert {Path(path).name for path in started} <= {"git", Path(sys.executable).name}


def test_of_a_harmless_repository_the_first_commit_is_known(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "repository")

    assert len(gather_evidence(str(repository / ".git"), str(tmp_path / "shelf")).root) == 40
