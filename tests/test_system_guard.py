"""No test reaches the machine that runs it: each way there is tried, and is refused."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from command_line import Nuggets, NuggetsProcess
from system_guard import PROGRAMS, REFUSED, Refused, guard

TESTS = Path(__file__).parent
RUN_EACH = "import subprocess, sys; print([subprocess.run([n]).returncode for n in sys.argv[1:]])"


def run_each(names: Sequence[str]) -> list[int]:
    return [subprocess.run([name], check=False).returncode for name in names]


def run_each_in_child(names: Sequence[str]) -> list[int]:
    command = [sys.executable, "-I", "-c", RUN_EACH, *names]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [int(code) for code in done.stdout.strip("[]\n").split(",")]


def run_each_in_shell(names: Sequence[str]) -> list[int]:
    return [os.waitstatus_to_exitcode(os.system(name)) for name in names]


@pytest.mark.parametrize("run", [run_each, run_each_in_child, run_each_in_shell])
def test_a_program_of_the_machine_is_refused(run: Callable[[Sequence[str]], list[int]]) -> None:
    assert run(PROGRAMS) == [REFUSED] * len(PROGRAMS)
    assert guard.take_refusals() == [f"{guard.stand_ins / name} " for name in PROGRAMS]


@pytest.fixture
def broken_crontab(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stub that cannot be run, on a machine where systemd says no."""
    for name, mode in (("crontab", 0o644), ("systemctl", 0o755)):
        (directory / name).write_text("#!/bin/sh\nexit 1\n")
        (directory / name).chmod(mode)
    monkeypatch.setenv("PATH", str(directory), prepend=os.pathsep)


@pytest.mark.usefixtures("broken_crontab")
def test_behind_a_stub_that_cannot_be_run_is_no_real_program(nuggets: Nuggets) -> None:
    assert nuggets("schedule", "install").code == 1
    assert guard.take_refusals() == [f"{guard.stand_ins / 'crontab'} -l"]


@pytest.mark.usefixtures("broken_crontab")
def test_nor_for_a_process_that_a_test_starts(nuggets_process: NuggetsProcess) -> None:
    assert nuggets_process("schedule", "install").code == 1
    assert guard.take_refusals() == [f"{guard.stand_ins / 'crontab'} -l"]


def test_a_child_without_rights_is_refused_as_well() -> None:
    """Root becomes someone else for it, who may look into fewer directories."""
    nobody = 65534 if os.geteuid() == 0 else None
    done = subprocess.run(["crontab", "-l"], user=nobody, group=nobody, check=False)

    assert done.returncode == REFUSED
    assert guard.take_refusals() == [f"{guard.stand_ins / 'crontab'} -l"]


def real_crontab() -> str:
    return os.path.join("/usr/bin", "crontab")


@pytest.mark.parametrize(
    "start",
    [
        lambda: subprocess.run([real_crontab(), "-l"], check=False),
        lambda: subprocess.run(["crontab"], executable=real_crontab(), check=False),
        lambda: subprocess.run(["/bin/sh", "-c", f"{real_crontab()} -l"], check=False),
        lambda: subprocess.run(f"true; {real_crontab()} -l", shell=True, check=False),
        lambda: os.system(f"{real_crontab()} -l"),
        lambda: os.posix_spawn(real_crontab(), ["crontab", "-l"], dict(os.environ)),
        lambda: os.execv(real_crontab(), ["crontab", "-l"]),
    ],
)
def test_a_real_program_is_not_started_by_its_path(start: Callable[[], object]) -> None:
    with pytest.raises(Refused, match="is the real one"):
        start()
    assert len(guard.take_refusals()) == 1


def without(variable: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != variable}


@pytest.mark.parametrize("path", ["/bin", "/usr/bin", f"/nowhere{os.pathsep}/usr/bin", None])
def test_no_child_gets_a_path_that_leads_to_real_programs(path: str | None) -> None:
    environ = without("PATH") if path is None else {**os.environ, "PATH": path}
    with pytest.raises(Refused, match="before the stand-ins"):
        subprocess.run([sys.executable, "-c", ""], env=environ, check=True)
    assert len(guard.take_refusals()) == 1


def test_a_test_may_give_its_children_nothing_but_its_own_programs(directory: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", ""], env={**os.environ, "PATH": str(directory)}, check=True
    )

    assert guard.take_refusals() == []


@pytest.mark.parametrize("home", [*guard.real_homes, None])
def test_no_child_gets_the_real_home(home: str | None) -> None:
    environ = without("HOME") if home is None else {**os.environ, "HOME": home}
    with pytest.raises(Refused, match="HOME"):
        subprocess.run([sys.executable, "-c", ""], env=environ, check=True)
    assert len(guard.take_refusals()) == 1


@pytest.mark.parametrize(
    "touch",
    [
        lambda path: path.write_text("x"),
        lambda path: path.read_text(),
        lambda path: path.mkdir(),
        lambda path: path.unlink(),
        lambda path: path.parent.joinpath("other").rename(path),
        lambda path: path.symlink_to("anything"),
        lambda path: os.listdir(path),
    ],
)
@pytest.mark.parametrize("home", guard.real_homes)
def test_no_test_touches_a_file_in_the_real_home(
    home: str, touch: Callable[[Path], object]
) -> None:
    with pytest.raises(Refused, match="real home"):
        touch(Path(home, ".claude", "settings.json"))
    assert len(guard.take_refusals()) == 1


def test_home_is_an_empty_directory() -> None:
    home = os.path.expanduser("~")

    assert home not in guard.real_homes
    assert os.listdir(home) == []
    assert not [name for name in os.environ if name.startswith(("XDG_", "DBUS_"))]


def run_tests(directory: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run the tests in a directory as a run of their own."""
    (directory / "pytest.ini").write_text("[pytest]\n")
    inherited = {name: value for name, value in os.environ.items() if "XDIST" not in name}
    search_path = os.pathsep.join([str(TESTS), *sys.path])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "system_guard", *options],
        cwd=directory,
        env={**inherited, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": search_path},
        capture_output=True,
        text=True,
        check=False,
    )


REACH = "subprocess.run(['crontab', '-l'])"  # and look at nothing that it says
AT_THE_END = f"""
import subprocess

def pytest_sessionfinish(session):
    if hasattr(session.config, "workerinput") or "-n" not in session.config.invocation_params.args:
        {REACH}
"""


@pytest.mark.parametrize("options", [("-n", "0"), ("-n", "1")], ids=" ".join)
def test_a_test_that_reached_for_the_machine_fails(
    directory: Path, options: tuple[str, ...]
) -> None:
    (directory / "test_it.py").write_text(f"import subprocess\ndef test_it():\n    {REACH}\n")
    done = run_tests(directory, *options)

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "reached for the machine itself" in done.stdout
    assert "/crontab -l" in done.stdout


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=" ".join)
def test_a_run_fails_if_something_reached_for_the_machine_after_its_test(
    directory: Path, options: tuple[str, ...]
) -> None:
    (directory / "conftest.py").write_text(AT_THE_END)
    (directory / "test_it.py").write_text("def test_it():\n    pass\n")
    done = run_tests(directory, *options)

    assert "1 passed" in done.stdout
    assert "/crontab -l" in done.stderr
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
