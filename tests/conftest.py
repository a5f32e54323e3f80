"""What most tests need: a shelf that nobody else sees, and the command line in two ways."""

import io
import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from command_line import Done, Nuggets, NuggetsProcess, run_process
from nuggets import NuggetShelf
from nuggets.interfaces.cli import main

settings.register_profile("nuggets", deadline=None)  # timing never decides a test
settings.load_profile("nuggets")


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the real home, the real settings or the repository around it."""
    home = tmp_path_factory.mktemp("home")
    for variable in list(os.environ):
        if variable.startswith(("NUGGETS_", "MEMORY_", "QUIET_", "HEARTBEAT_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("NUGGETS_DIR", str(home / "nuggets"))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.chdir(home)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def clock() -> Callable[[], str]:
    """Every look at it is one second later."""
    ticks = count()
    return lambda: f"2026-01-31T09:{(tick := next(ticks)) // 60:02d}:{tick % 60:02d}.000Z"


@pytest.fixture
def draw() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"{next(numbers):08x}"


@pytest.fixture
def shelf(clock: Callable[[], str], draw: Callable[[], str]) -> Iterator[NuggetShelf]:
    with NuggetShelf("memory:", project="", clock=clock, draw=draw) as opened:
        yield opened


@pytest.fixture
def nuggets(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Nuggets:
    def run(*arguments: str, stdin: str | bytes = "") -> Done:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
        capsys.readouterr()
        code = main(arguments)
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


@pytest.fixture
def nuggets_process() -> NuggetsProcess:
    return run_process
