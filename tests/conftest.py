"""What most tests need: a shelf that nobody else sees, and the command line in two ways."""

import gc
import io
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from command_line import Done, Nuggets, NuggetsProcess, Prepare, run_process
from example_counts import example_count
from nuggets import NuggetShelf
from nuggets.__main__ import run_command as main
from postgresql_server import USER, Server

# With bytecode a command starts in a third of the time, and the tests start thousands of them.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported: threads wait for each other
MEMORY_DISK = "/dev/shm"
if os.path.isdir(MEMORY_DISK):  # where no test waits for a disk, if there is room to run programs
    disk = os.statvfs(MEMORY_DISK)
    if disk.f_bavail * disk.f_frsize >= 4 << 30 and not disk.f_flag & os.ST_NOEXEC:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY_DISK)
settings.register_profile(
    "nuggets",
    deadline=None,  # timing never decides a test
    max_examples=example_count(100),
)
settings.load_profile("nuggets")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: nobody need look for garbage in it, then or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All homes in one folder: pytest reads the folder above it to name each `tmp_path`."""
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def _home(homes: Path) -> Iterator[None]:
    """An empty home for each test, and no settings. See system_guard.py for what else no test
    can reach."""
    home = homes / str(next(_home_numbers))
    home.mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:  # not the one that a test may undo
        for variable in list(os.environ):
            if variable.startswith(("NUGGETS_", "MEMORY_", "QUIET_", "HEARTBEAT_")):
                patch.delenv(variable)
        patch.setenv("HOME", str(home))
        patch.setenv("NUGGETS_DIR", str(home / "nuggets"))
        patch.setenv("NUGGETS_HOOK_SECONDS", "60")  # a busy machine is no failure
        patch.chdir(home)
        yield


@pytest.fixture
def no_daily_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests with hooks, which start the pass in the background from nine o'clock on."""
    monkeypatch.setenv("MEMORY_REFLECTION_DAILY", "0")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Server]:
    import psycopg

    server = Server()
    with psycopg.connect(server.url("").partition("&shelf")[0], autocommit=True) as sql:
        sql.execute("CREATE ROLE person LOGIN")
        sql.execute("CREATE DATABASE shelves OWNER person")
    yield server
    server.remove()


@pytest.fixture
def postgresql_url(postgresql_server: Server) -> str:
    """A shelf of its own in a database that all tests share, as someone who is no superuser: for
    those PostgreSQL has neither rights nor row-level security."""
    url = postgresql_server.url(f"shelf {next(_shelf_numbers)}", "shelves")
    return url.replace(f"{USER}@", "person@")


_shelf_numbers = count(1)
_home_numbers = count(1)


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


@pytest.fixture(scope="session")
def prepare(homes: Path) -> Prepare:
    prepared: dict[tuple[str, ...], Path] = {}

    def run(*commands: str) -> None:
        if commands not in prepared:
            directory = homes / f"prepared {len(prepared)}"
            for command in commands:
                done = run_process(*shlex.split(command), env={"NUGGETS_DIR": str(directory)})
                assert done.code == 0, done.err
            prepared[commands] = directory
        shutil.copytree(prepared[commands], os.environ["NUGGETS_DIR"])

    return run


@pytest.fixture
def nuggets_process() -> NuggetsProcess:
    return run_process
