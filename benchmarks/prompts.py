"""Whether a prompt gets the memory it is about, and no other; what that costs in tokens and time.

    python -m benchmarks.prompts [--list]      --list prints the prompts judged wrongly

The shelf has the 80 memories of data/start_memories.txt, the prompts and their labels are in
data/prompts.txt. The real hook runs as a process in a repository, for two agents in turns, each
prompt in a session of its own.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks.__main__ import line
from benchmarks.gauges import cpu
from benchmarks.session_start import filled, records
from nuggets.language.token_estimate import estimate_tokens
from nuggets.shelf import NuggetShelf

AGENTS = ("claude-code", "codex")
MOST_NOISE = 2 / 60
LEAST_RECALL = 0.9
BETWEEN = 6  # prompts between two looks at the baseline
PAUSED = {"MEMORY_REFLECTION_DAILY": "0", "NUGGETS_HOOK_SECONDS": "20"}


class Asked(NamedTuple):
    label: str  # want, hard, none
    title: str  # of the memory that it is about
    prompt: str
    context: str
    seconds: float  # of the processor

    @property
    def is_wrong(self) -> bool:
        if self.label == "none":
            return bool(self.context)
        return f"**{self.title}**" not in self.context


def ask_all() -> Iterator[Asked]:
    with tempfile.TemporaryDirectory() as place:
        folder, directory = os.path.join(place, "shop"), os.path.join(place, "shelf")
        subprocess.run(["git", "init", "-q", folder], check=True)
        with NuggetShelf(directory, folder=folder, at_work=True) as shelf, shelf.batch():
            filled(shelf, shelf.project)
        for number, (label, title, prompt) in enumerate(records("prompts.txt")):
            agent = AGENTS[number % len(AGENTS)]
            sent = {"session_id": str(number), "cwd": folder, "prompt": prompt}
            yield Asked(label, title, prompt, *_answer(agent, sent, directory, place))


def _answer(agent: str, sent: dict[str, Any], directory: str, home: str) -> tuple[str, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = subprocess.run(
        [sys.executable, "-m", "nuggets.interfaces.hooks", "user-prompt", "--host", agent],
        input=json.dumps(sent).encode(),
        capture_output=True,
        env={**os.environ, **PAUSED, "NUGGETS_DIR": directory, "HOME": home},
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told = json.loads(answer.stdout or "{}").get("hookSpecificOutput", {})
    return told.get("additionalContext", ""), used


def _numpy_seconds() -> float:
    environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    return cpu([sys.executable, "-c", "import numpy"], env=environ)


def rows(quick: bool = False, show: bool = False) -> Iterator[dict[str, Any]]:
    asked, baselines = [], []
    for one in ask_all():
        asked.append(one)
        if len(asked) % BETWEEN == 0:  # in turns, because the machine may be busy
            baselines.append(_numpy_seconds())
    baseline = statistics.median(baselines)
    for one in asked if show else ():
        if one.is_wrong:
            print(f"{one.label}: {one.prompt} | {one.title} | {one.context!r:.160}")
    wanted, hard, none = (
        [one for one in asked if one.label == label] for label in ("want", "hard", "none")
    )
    found = sum(not one.is_wrong for one in wanted)
    yield {
        "what": f"prompts that get their memory, of {len(wanted)}",
        "goal": f"≥ {LEAST_RECALL:.0%}",
        "measured": f"{found}",
        "reached": found >= LEAST_RECALL * len(wanted),
    }
    yield {
        "what": f"the same in other words (hard paraphrases), of {len(hard)}",
        "goal": "",
        "measured": f"{sum(not one.is_wrong for one in hard)}",
    }
    noise = sum(one.is_wrong for one in none)
    yield {
        "what": f"prompts on nothing here that get a memory, of {len(none)}",
        "goal": f"≤ {MOST_NOISE * len(none):.0f}",
        "measured": f"{noise}",
        "reached": noise <= MOST_NOISE * len(none),
    }
    tokens = [estimate_tokens(one.context) for one in wanted if one.context]
    yield {
        "what": "tokens of an injection, median and most",
        "goal": "",
        "measured": f"{statistics.median(tokens):.0f}, {max(tokens)}",
    }
    cost = statistics.median(one.seconds for one in asked) / baseline
    yield {
        "what": "hook on a prompt, cold, 80 memories, CPU",
        "goal": "≤ 1.0 ×",
        "measured": f"{cost:.2f} ×",
        "baseline": f"import numpy {1000 * baseline:.0f} ms",
        "reached": cost <= 1,
    }


def main() -> int:
    measured = list(rows(show="--list" in sys.argv[1:]))
    for row in measured:
        print(line(row))
    return 0 if all(row.get("reached", True) for row in measured) else 1


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # cold starts are measured with bytecode
    sys.exit(main())
