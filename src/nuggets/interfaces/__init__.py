"""Front doors: each translates, calls the shelf, and translates back."""

import gc
import os
import sys
from collections.abc import Callable
from typing import NoReturn


def run_process(main: Callable[[], int]) -> NoReturn:
    """One short call is the whole process: spare it what Python does for longer ones.

    Nothing that is imported is garbage, so nobody looks for any until `main` has it all and turns
    that on again; and at the end, with everything written, the interpreter is not taken apart.
    """
    gc.disable()
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        sys.exit(code)  # nobody listens any more: Python has its own way to say so
    threads = sys.modules.get("threading")
    if threads is not None and threads.active_count() > 1:
        sys.exit(code)
    import atexit

    atexit._run_exitfuncs()
    os._exit(code)
