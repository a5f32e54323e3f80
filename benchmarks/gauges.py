"""What several benchmarks measure with."""

import resource
import subprocess
import sys
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


# A process that is started inherits the peak of the one that starts it, so that is a small one.
_PEAK = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[
    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, used = os.wait4(child, 0)
print(used.ru_maxrss / 1e3 if status == 0 else 1/0)
"""


def peak_mb(command: Sequence[str], **how: Any) -> float:
    """The most memory that one fresh process held; `how` it is run."""
    small = [sys.executable, "-I", "-S", "-c", _PEAK, *command]
    return float(subprocess.run(small, check=True, stdout=subprocess.PIPE, **how).stdout)
