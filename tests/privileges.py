"""Permissions that hold for root, too: without two capabilities its files can be closed to it."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3
_IGNORE_PERMISSIONS = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


@contextmanager
def permissions_hold() -> Iterator[None]:
    """Inside, this thread may read and write only what the modes of files allow it to."""
    if os.geteuid() != 0 or sys.platform != "linux":
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    effective = sets[0]
    sets[0] = effective & ~_IGNORE_PERMISSIONS
    assert libc.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0] = effective
        assert libc.capset(header, sets) == 0
