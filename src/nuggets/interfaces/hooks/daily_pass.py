"""Starts the daily clean-up, the refreshing of a server's copy, or the pairing with other machines,
in a process of its own, where only hooks run.

The answer is printed before, and the hook does not wait for the process. The clean-up itself
checks that nobody else has run it today.
"""

import os
import time
from contextlib import suppress

from nuggets.filesystem.atomic_files import open_plain
from nuggets.filesystem.hook_files import hook_path
from nuggets.settings import Settings

STAMP = "daily"  # the date of the last start


def start_daily_pass(directory: str, settings: Settings) -> None:
    """Start it if it is due and no hook has started it today."""
    path = hook_path(directory, STAMP)
    if not path or not settings["reflection_daily"] or _read(path) == time.strftime("%Y-%m-%d"):
        return
    from datetime import datetime

    from nuggets.maintenance.daily_schedule import Hours, is_due

    names = ("reflection_hour", "reflection_minute", "quiet_hours_start", "quiet_hours_end")
    if is_due(datetime.now(), None, Hours(*(settings[name] for name in names))):
        with suppress(OSError):  # the next hook tries again
            _write(path, time.strftime("%Y-%m-%d"))
            _start(directory, hook_path(directory, "log"), "schedule", "run", "--once")


def start_exchange(directory: str, command: str) -> None:
    """Run `sync` with the server, or `pair` with other machines: send what is new here, and take in
    what is new there."""
    log = hook_path(directory, "log")
    with suppress(OSError):
        os.makedirs(os.path.dirname(log), mode=0o700, exist_ok=True)
        _start(directory, log, command)


def _start(directory: str, log: str, *command: str) -> None:
    """Start the process in a session of its own, so that it outlives the host; it writes a log."""
    import subprocess

    from nuggets.filesystem.processes import NEUTRAL_FOLDER, module_command

    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    output = open_plain(log, flags)
    try:
        subprocess.Popen(
            module_command("nuggets", *command),
            env={**os.environ, "NUGGETS_STORE": directory},  # others can read a command line
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=NEUTRAL_FOLDER,
            start_new_session=True,
        )
    finally:
        os.close(output)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_plain) as file:
            return file.read(20)
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    descriptor = open_plain(path, flags)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
