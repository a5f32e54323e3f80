"""What an agent's host calls at fixed moments: recall before work, capture after it.

A hook never blocks and never fails its host: own deadline, exit 0, silent, errors to a log.
"""

import os

DEADLINE_SECONDS = 1.0  # ours: a person waits for it before each answer
DEADLINE_VARIABLE = "NUGGETS_HOOK_SECONDS"  # for slow machines


def deadline_seconds() -> float:
    """How long a hook may take."""
    try:
        return min(60.0, max(0.1, float(os.environ[DEADLINE_VARIABLE])))
    except (KeyError, ValueError):
        return DEADLINE_SECONDS
