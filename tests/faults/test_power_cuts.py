"""What was acknowledged survives a power cut; recalls may be lost."""

import os
import random
from pathlib import Path

import pytest

from fault_mutants import WITHOUT_SYNC
from fault_power import EXT4, NoPowerCuts, power_cut_round
from fault_processes import WRITER

pytestmark = pytest.mark.faults

ROUNDS = int(os.environ.get("NUGGETS_POWER_ROUNDS", "3"))


def test_an_acknowledged_write_survives_a_power_cut(tmp_path: Path) -> None:
    moments = random.Random(3)
    for number in range(ROUNDS):
        options = EXT4.options[number % len(EXT4.options)]
        try:
            outcome = power_cut_round(str(tmp_path), moments.uniform(0.1, 0.4), options)
        except NoPowerCuts as reason:
            pytest.skip(str(reason))

        assert outcome.lost == set(), options
        assert outcome.problems == [], options


def test_the_harness_notices_a_missing_fsync(tmp_path: Path) -> None:
    try:
        outcome = power_cut_round(str(tmp_path), 0.3, "commit=1000", program=WITHOUT_SYNC + WRITER)
    except NoPowerCuts as reason:
        pytest.skip(str(reason))

    assert outcome.lost
