"""Which credentials are noticed, so that no agent stores them and no session note has them.

    python -m benchmarks.credentials [--list]      --list prints what is judged wrongly

The samples are those of the tests, also the ones that are known not to be found.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.__main__ import line
from nuggets.domain.credentials import credential_kinds, redact

TESTS = Path(__file__).parent.parent / "tests"
LEAST = 49 / 50
MOST_ALARMS = 0.02


class Judged(NamedTuple):
    missed: list[str]
    left: list[str]  # credentials of which a redacted text still has something
    alarms: list[str]
    credentials: int
    harmless: int


def judge() -> Judged:
    sys.path.insert(0, str(TESTS))
    from secret_samples import ALARMS, CREDENTIALS, HARMLESS, UNSEEN

    texts = {name: sample.text for name, sample in CREDENTIALS.items()}
    texts |= {text: text for text in UNSEEN}
    harmless = [*HARMLESS, *ALARMS]
    return Judged(
        [name for name, text in texts.items() if not credential_kinds(text)],
        [name for name, sample in CREDENTIALS.items() if sample.secret in redact(sample.text)],
        [text for text in harmless if credential_kinds(text)],
        len(texts),
        len(harmless),
    )


def rows(quick: bool = False) -> Iterator[dict[str, Any]]:
    judged = judge()
    for what, wrong in (("noticed", judged.missed), ("redacted", [*judged.left, *judged.missed])):
        right = judged.credentials - len(set(wrong))
        yield {
            "what": f"kinds of credentials that are {what}, of {judged.credentials}",
            "goal": f"≥ {LEAST:.0%}",
            "measured": f"{right} ({right / judged.credentials:.1%})",
            "reached": right >= LEAST * judged.credentials,
        }
    alarms = len(judged.alarms)
    yield {
        "what": f"other texts taken for one, of {judged.harmless}",
        "goal": f"≤ {MOST_ALARMS:.0%}",
        "measured": f"{alarms} ({alarms / judged.harmless:.1%})",
        "reached": alarms <= MOST_ALARMS * judged.harmless,
    }


def main() -> int:
    judged = judge()
    if "--list" in sys.argv[1:]:
        for what, wrong in judged._asdict().items():
            for text in wrong if isinstance(wrong, list) else ():
                print(f"{what}: {text}")
    measured = list(rows())
    for row in measured:
        print(line(row))
    return 0 if all(row["reached"] for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
