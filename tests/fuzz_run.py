"""Fuzzing with atheris, for the long form of the fault tests; needs `pip install atheris`.

python tests/fuzz_run.py TARGET EXECUTIONS FOLDER

New inputs go to the folder, so that a later run goes on from there. What fails is left there as
`crash-…`; make it small, put it into tests/fuzz_corpus and mend what it shows.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [TESTS, os.path.dirname(TESTS)]
HANG_SECONDS = 20


class Fuzzing(NamedTuple):
    """How a target of `fuzz_targets.py` is fuzzed."""

    watched: tuple[str, ...]  # modules: what reads the bytes, because watching takes most time
    share: int = 1  # of all executions: those that take little time are many
    most_bytes: int = 512


HOOKS, CONNECT = "nuggets.interfaces.hooks", "nuggets.interfaces.connect"
FUZZING: Mapping[str, Fuzzing] = {
    "ask": Fuzzing(("nuggets.search.query", "nuggets.language"), 1, 128),
    "edit_jsonc": Fuzzing((f"{CONNECT}.jsonc",), 25),
    "edit_toml": Fuzzing((f"{CONNECT}.toml",), 5),
    "call_tool": Fuzzing(("nuggets.interfaces.mcp",), 1, 256),
    "find_secrets": Fuzzing(("nuggets.domain.credentials",), 3, 256),
    "print_words": Fuzzing(("nuggets.interfaces.cli.terminal_output",), 15),
    "read_memories": Fuzzing(("nuggets.interfaces.importers",), 45),
    "read_export": Fuzzing(("nuggets.stores.exports", "nuggets.operations"), 8),
    "read_hook": Fuzzing((f"{HOOKS}.host_payload",), 4, 256),
    "read_memory_file": Fuzzing(("nuggets.maintenance.promotion",), 1, 256),
    "read_shared_file": Fuzzing(("nuggets.operations.shared_memories",), 40),
    "read_transcript": Fuzzing((f"{HOOKS}.transcript_formats",), 47, 1024),
    "send_request": Fuzzing(("nuggets.domain.type_check",), 5, 256),
}


def executions_of(name: str, executions: int) -> int:
    """How many of all executions are of one target."""
    return executions * FUZZING[name].share // sum(fuzzing.share for fuzzing in FUZZING.values())


def other_modules(watched: tuple[str, ...]) -> list[str]:
    """All modules of the package but these and what is inside them."""
    source = Path(TESTS).parent / "src"
    names = (
        ".".join(path.relative_to(source).with_suffix("").parts) for path in source.rglob("*.py")
    )
    modules = (name.removesuffix(".__init__") for name in names)
    return [name for name in modules if not f"{name}.".startswith(tuple(f"{w}." for w in watched))]


def main(name: str, executions: str, folder: str) -> None:
    import atheris

    fuzzing = FUZZING[name]
    with atheris.instrument_imports(["nuggets"], other_modules(fuzzing.watched)):
        from fuzz_targets import TARGETS
    os.makedirs(folder, exist_ok=True)
    options = [
        f"-runs={executions}",
        f"-max_len={fuzzing.most_bytes}",
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
