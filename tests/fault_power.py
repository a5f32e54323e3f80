"""Power cuts: ext4 on a loop device, shut down without flushing while processes write."""

import fcntl
import os
import shutil
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fault_processes import (
    MANNERS,
    WRITER,
    Outcome,
    age_leftovers,
    kept_keys,
    problems_in,
    start_writer,
    write_after,
)

_SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN
_NO_LOG_FLUSH = 2
IMAGE_BYTES = 24 << 20
BOOT_SECONDS = 2.1  # no machine is back sooner; an empty file is then nobody's half-done save


class NoPowerCuts(Exception):
    """They cannot be had on this machine; says why."""


def _run(*command: str) -> None:
    if shutil.which(command[0]) is None:
        raise NoPowerCuts(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoPowerCuts(f"{' '.join(command)}: {done.stderr.strip()}")


@contextmanager
def _mounted(image: str, place: str, options: str) -> Iterator[None]:
    _run("mount", "-o", f"loop,{options}", image, place)
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True, capture_output=True)


def _listen(writer: "subprocess.Popen[str]", said: list[str], begun: threading.Event) -> None:
    assert writer.stdout is not None
    with writer.stdout:
        for line in writer.stdout:
            said.append(line.strip())
            begun.set()
    begun.set()  # it may have died before it could write


def power_cut_round(
    work: str,
    seconds: float,
    options: str = "commit=5",
    program: str = WRITER,
    examine: Callable[[str], tuple[set[str], list[str]]] | None = None,
) -> Outcome:
    """Three writers on a new disk; the power goes; what is there after it is back.

    `examine`: the keys in a directory, and what is not in order; by default those of a shelf.
    """
    image, place = os.path.join(work, "disk.img"), os.path.join(work, "disk")
    os.makedirs(place, exist_ok=True)
    with open(image, "wb") as file:
        file.truncate(IMAGE_BYTES)
    _run("mkfs.ext4", "-q", "-F", image)
    directory = os.path.join(place, "store")
    with _mounted(image, place, options):
        writers = [
            start_writer(directory, f"w{n}", 10**6, *manners, program=program, quiet=True)
            for n, manners in enumerate(MANNERS[1:])
        ]
        said: list[str] = []
        begun = [threading.Event() for _ in writers]
        listeners = [
            threading.Thread(target=_listen, args=(writer, said, heard))
            for writer, heard in zip(writers, begun, strict=True)
        ]
        for listener, heard in zip(listeners, begun, strict=True):
            listener.start()
            heard.wait()
        threading.Event().wait(seconds)
        descriptor = os.open(place, os.O_RDONLY)
        # What is said after this moment proves nothing: an fsync that the shutdown interrupts may
        # return 0 (a loop of plain appends and fsyncs loses its last line now and then, too).
        acknowledged = set(said)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
        except OSError as problem:
            raise NoPowerCuts(f"EXT4_IOC_SHUTDOWN: {problem}") from problem
        finally:
            os.close(descriptor)
            for writer, listener in zip(writers, listeners, strict=True):
                writer.kill()
                writer.wait()
                listener.join()
    threading.Event().wait(BOOT_SECONDS)
    with _mounted(image, place, options):
        kept, problems = (examine or _found)(directory)
    return Outcome(acknowledged, acknowledged - kept, problems)


def _found(directory: str) -> tuple[set[str], list[str]]:
    """What is there after the power is back, and what is not in order then."""
    kept: set[str] = set()
    try:
        age_leftovers(directory)
        kept = kept_keys(directory) if os.path.isdir(directory) else set()
        write_after(directory, "the cut")
        return kept, problems_in(directory)
    except Exception as problem:
        return kept, [f"{type(problem).__name__}: {problem}"]
