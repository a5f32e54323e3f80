"""What several benchmarks measure with."""

import resource
import subprocess
from collections.abc import Sequence
from typing import Any

# For a program of its own. The peak of `getrusage` may be that of the process that started it.
HELD = """
def held(what):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(what)) / 1e3
"""


def cpu(command: Sequence[str], **how: Any) -> float:
    """CPU-seconds of one fresh process; `how` it is run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **how)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
