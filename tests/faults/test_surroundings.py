"""Few descriptors, wrong clocks, damaged files; full disks are in the long form, which may mount
them."""

import subprocess
import sys
from pathlib import Path

import pytest

from fault_mutants import WITHOUT_CHECKSUM
from fault_processes import TESTS, environment

pytestmark = pytest.mark.faults


def survive(*arguments: str, program: str = "fault_surroundings", **variables: str) -> str:
    """What was survived, in lines."""
    done = subprocess.run(
        [sys.executable, f"{TESTS}/{program}.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment(**variables),
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


def test_with_few_descriptors_a_command_works_or_says_why_not(tmp_path: Path) -> None:
    assert "all there" in survive("descriptors", str(tmp_path / "shelf"), "0", "2", "4")


def test_clocks_from_1969_to_2099_lose_nothing(shim: str, tmp_path: Path) -> None:
    said = survive("clocks", str(tmp_path / "shelf"), "4", LD_PRELOAD=shim)

    assert said == "4 moments from 1969 to 2099: all there, in order\n"


def test_in_every_zone_the_daily_pass_runs_once_a_day_and_not_before_nine(shim: str) -> None:
    zones = (
        *("<west>12", "<ahead>-14", "<india>-5:30", "<nepal>-5:45", "UTC0"),
        *("EST5EDT,M3.2.0,M11.1.0", "<a>3<b>,M3.2.2/9:00,M11.1.0/9:00"),
    )

    assert survive("zones", *zones, LD_PRELOAD=shim).startswith("7 time zones: one pass a day")


def test_after_any_damage_to_a_file_every_command_ends_and_says_so(tmp_path: Path) -> None:
    said = survive(str(tmp_path), "3", "half", program="fault_damage")

    assert said.endswith("flipped: 3 bits\nflipped in backups: 3 bits\n")


def test_after_random_damage_to_a_database_every_command_ends_and_the_doctor_mends_it(
    tmp_path: Path,
) -> None:
    said = survive(str(tmp_path), "2", "1", program="fault_random_damage")

    assert said.startswith("3 damaged databases: no problem; saved with the files 100.0%")


def test_damage_to_backups_is_noticed_by_their_checksum(tmp_path: Path) -> None:
    script = (
        f"{WITHOUT_CHECKSUM}\nimport random, sys\nfrom fault_damage import flip_backups\n"
        "list(flip_backups(sys.argv[1], 20, random.Random(4)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "shelf")],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )

    assert "it would be restored" in done.stderr


IN_TURNS = """
import sys
from nuggets import NuggetShelf
with NuggetShelf(sys.argv[1], project="") as one, NuggetShelf(sys.argv[1], project="") as other:
    for number in range(3):
        one.remember("facts", f"first {number}", "a")
        assert other.recall(f"first {number}").answer == "a"
        other.remember("facts", f"second {number}", "b")
        assert one.recall(f"second {number}").answer == "b"
    print(len(one.facts("facts")), [defect for defect in one.checkup() if defect.harmful])
"""


def test_without_shared_memory_processes_use_the_database_in_turns(
    shim: str, tmp_path: Path
) -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", IN_TURNS, str(tmp_path / "shelf")],
            env=environment(**without),
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for without in ({"LD_PRELOAD": shim, "SHIM_NO_SHARED_MEMORY": "1"}, {})
    ]
    assert said == ["6 []\n", "6 []\n"]
