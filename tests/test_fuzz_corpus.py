"""Bytes that were hard to read once, or look as if they were: each is refused or accepted.

Looking for more of them is `tests/fuzz_run.py`, in the long form of the fault tests.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

from fuzz_run import FUZZING
from fuzz_targets import TARGETS

CORPUS = Path(__file__).parent / "fuzz_corpus"


@pytest.mark.parametrize("name", TARGETS)
def test_a_reader_of_foreign_bytes_refuses_or_accepts(name: str) -> None:
    files = sorted((CORPUS / name).iterdir())

    assert files
    for file in files:
        raw = file.read_bytes()
        TARGETS[name](raw)
        for cut in (len(raw) // 3, len(raw) - 1):
            TARGETS[name](raw[:cut])
            TARGETS[name](raw[:cut] + bytes([raw[cut] ^ 1]) + raw[cut + 1 :] if raw else b"\0")


def test_every_target_has_a_corpus_and_every_corpus_a_target() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} == set(TARGETS)


def test_every_target_is_fuzzed_and_what_it_watches_is_there() -> None:
    assert FUZZING.keys() == TARGETS.keys()
    for fuzzing in FUZZING.values():
        assert [module for module in fuzzing.watched if find_spec(module) is None] == []
