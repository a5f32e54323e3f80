"""Fuzzing with atheris, for the long form of the fault tests; needs `pip install atheris`.

python tests/fuzz_run.py TARGET SECONDS FOLDER

New inputs go to the folder, so that a later run goes on from there. What fails is left there as
`crash-…`; make it small, put it into tests/fuzz_corpus and mend what it shows.
"""

import os
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [TESTS, os.path.dirname(TESTS)]
MOST_BYTES = 4096
HANG_SECONDS = 20


def main(name: str, seconds: str, folder: str) -> None:
    import atheris

    with atheris.instrument_imports(include=["nuggets"]):
        from fuzz_targets import TARGETS
    os.makedirs(folder, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={MOST_BYTES}",
        f"-timeout={HANG_SECONDS}",
        f"-artifact_prefix={folder}/",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
    ]
    seeds = os.path.join(TESTS, "fuzz_corpus", name)
    atheris.Setup([sys.argv[0], *options, folder, seeds], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
