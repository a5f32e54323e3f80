"""Interfaces to the shelf: each translates a request, calls the shelf, translates the result."""

import gc
import os
import sys
from collections.abc import Callable
from typing import NoReturn


def run_process(main: Callable[[], int]) -> NoReturn:
    """Run a short process without work that only long ones need.

    Garbage collection is off while modules are imported (`main` turns it on again), and the
    interpreter is not torn down at the end.
    """
    gc.disable()
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        sys.exit(code)  # stdout is closed: let Python report it
    threads = sys.modules.get("threading")
    if threads is not None and threads.active_count() > 1:
        sys.exit(code)
    import atexit

    atexit._run_exitfuncs()
    os._exit(code)
