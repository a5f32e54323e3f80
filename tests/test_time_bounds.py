"""No text takes long: whatever reads foreign text is linear in it, or reads a bounded part.

Nothing is timed. At 512 KiB a quadratic function takes many minutes, and the hang limit ends it; a
linear one takes half a second at most. Those are the texts of `make faults`; here they have 16 KiB,
which a cubic function does not survive.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

import pytest

import nuggets
from nuggets.domain.credentials import JUDGED_CHARACTERS
from nuggets.domain.limits import NAME_CHARACTERS
from nuggets.interfaces.hooks.orders import LONGEST_PROMPT
from nuggets.interfaces.hooks.session_start import LONGEST_COMMAND
from nuggets.operations.session_requests import LONGEST_QUESTION, READ_CHARACTERS
from regex_attacks import attacks, pumped
from text_functions import TEXT_FUNCTIONS

pytestmark = pytest.mark.faults  # pytest's timeout is the hang limit

PACKAGE = Path(nuggets.__file__).parent
LONG = int(os.environ.get("NUGGETS_LONG_TEXT", 1 << 14))
OWN_STATEMENT = 4096  # SQL of our own is far shorter
ESCAPED = {"filesystem/anchors.py"}  # its patterns are names, every letter of them escaped
FILES = sorted(
    {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^import re$", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    - ESCAPED
)
# Patterns that are given no more than so many characters: by file, and by how they begin.
BOUNDS: Mapping[str, Mapping[tuple[str, ...], int]] = {
    "interfaces/hooks/orders.py": {("",): LONGEST_PROMPT},
    "interfaces/hooks/session_start.py": {("",): LONGEST_COMMAND},
    "operations/session_requests.py": {
        (r"(?i)\bwhere", "(?i)(?:(?:please"): READ_CHARACTERS,
        ("",): LONGEST_QUESTION,
    },
    "operations/session_note_text.py": {("",): READ_CHARACTERS},
    "operations/metadata_inference.py": {("(tmp", r"\bself-"): NAME_CHARACTERS},
    "stores/postgresql/schema.py": {("",): OWN_STATEMENT},
    "stores/sql/shelf_copy.py": {("",): OWN_STATEMENT},
    "domain/credentials.py": {
        ("(?i)", "(?=.*", "[~.]", "[!#$", "[^A-Z", "[A-Za-z0-9]{6", "[a-z]?"): JUDGED_CHARACTERS,
    },
}  # fmt: skip
Recorded = list[tuple[str, str, int, list[str]]]


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    program = Path(__file__).with_name("recorded_patterns.py")
    done = subprocess.run([sys.executable, program], check=True, capture_output=True, text=True)
    found: Recorded = [(f, p, flags, uses) for f, p, flags, uses in json.loads(done.stdout)]
    return found


def bound_of(file: str, pattern: str) -> int:
    for beginnings, bound in BOUNDS.get(file, {}).items():
        if pattern.startswith(beginnings):
            return bound
    return LONG


@pytest.mark.parametrize("file", FILES)
def test_every_pattern_takes_linear_time(file: str, recorded: Recorded) -> None:
    own = [one for one in recorded if one[0] == file]
    assert own, "its patterns were not recorded"

    for _, source, flags, uses in own:
        pattern = re.compile(source, flags)
        anchored = set(uses) and set(uses) <= {"match", "fullmatch"}
        for text in attacks(pattern, bound_of(file, source)):
            if anchored:
                for use in uses:
                    getattr(pattern, use)(text)
            else:
                exhaust(pattern.finditer(text))


@pytest.mark.parametrize("file", TEXT_FUNCTIONS)
def test_every_function_that_reads_text_takes_linear_time(file: str) -> None:
    for read_text in TEXT_FUNCTIONS[file]:
        for text in pumped(LONG - 100):
            read_text(text)


def exhaust(found: Iterable[object]) -> None:
    for _ in islice(found, LONG):
        pass


def test_no_group_is_repeated_possessively(recorded: Recorded) -> None:
    # Python before 3.11.5 matches such a group wrongly (gh-106052); "(?>(...)*)" means the same
    repeated = r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+"

    assert [pattern for _, pattern, _, _ in recorded if re.search(repeated, pattern)] == []
