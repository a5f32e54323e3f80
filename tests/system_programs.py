"""Programs of the system that some tests need: found, or installed where that is possible."""

import os
import shutil
import subprocess

APT = ("apt-get", "-o", "DPkg::Lock::Timeout=100", "-y", "--no-install-recommends")


def program(name: str, *packages: str) -> str | None:
    """Its path; installed first by these packages if need be, by root where there is apt."""
    found = shutil.which(name)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for step in (("update",), ("install", *packages)):
            subprocess.run([*APT, *step], capture_output=True, check=False)
        found = shutil.which(name)
    return found
