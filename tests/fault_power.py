"""Power cuts: a file system on a loop device, which loses what it has not written to the device.

ext4 and XFS can be shut down without flushing. btrfs cannot: there the image of the device is
cloned at one moment while processes write. A clone needs a file system that shares blocks, so the
image lies on XFS, which is on a loop device of its own.
"""

import fcntl
import os
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

import system_programs
from fault_processes import (
    MANNERS,
    WRITER,
    Outcome,
    Process,
    age_leftovers,
    kept_keys,
    kill_all,
    problems_in,
    start_writer,
    write_after,
)

_SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN, which is XFS_IOC_GOINGDOWN
_NO_LOG_FLUSH = 2
_CLONE = 0x40049409  # FICLONE
BOOT_SECONDS = 2.1  # no machine is back sooner; an empty file is then nobody's half-done save


class FileSystem(NamedTuple):
    """How one is made; the image is sparse."""

    make: tuple[str, ...]
    image_bytes: int
    options: tuple[str, ...]  # of mount, in turn
    has_shutdown: bool = True


EXT4 = FileSystem(
    ("mkfs.ext4", "-q", "-F"),
    24 << 20,
    ("commit=5", "commit=1", "data=writeback,noauto_da_alloc,commit=1", "commit=1000"),
)
XFS = FileSystem(("mkfs.xfs", "-q", "-f"), 320 << 20, ("noatime", "wsync", "logbufs=2"))
BTRFS = FileSystem(
    ("mkfs.btrfs", "-q", "-f"), 256 << 20, ("commit=30", "commit=1", "notreelog"), False
)
PACKAGES = {  # of Debian, with the programs that are needed
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "mount": "mount",
}
FILE_SYSTEMS = {"ext4": EXT4, "xfs": XFS, "btrfs": BTRFS}


class NoPowerCuts(Exception):
    """They cannot be had on this machine; says why."""


def _run(*command: str) -> None:
    if system_programs.program(command[0], PACKAGES[command[0]]) is None:
        raise NoPowerCuts(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoPowerCuts(f"{' '.join(command)}: {done.stderr.strip()}")


def _make_image(image: str, system: FileSystem) -> None:
    with open(image, "wb") as file:
        file.truncate(system.image_bytes)
    _run(*system.make, image)


@contextmanager
def _mounted(image: str, place: str, options: str) -> Iterator[None]:
    _run("mount", "-o", f"loop,{options}", image, place)
    try:
        yield
    finally:
        _end_users(place)
        subprocess.run(["umount", place], check=True, capture_output=True)


def _listen(writer: Process, said: list[str], begun: threading.Event) -> None:
    assert writer.stdout is not None
    with writer.stdout:
        for line in writer.stdout:
            said.append(line.strip())
            begun.set()
    begun.set()  # it may have died before it could write


def power_cut_round(
    work: str,
    seconds: float,
    options: str = "",
    program: str = WRITER,
    examine: Callable[[str], tuple[set[str], list[str]]] | None = None,
    system: FileSystem = EXT4,
) -> Outcome:
    """Three writers on a new disk; the power goes; what is there after it is back.

    `examine`: the keys in a directory, and what is not in order; by default those of a shelf.
    """
    options = options or system.options[0]
    place = os.path.join(work, "disk")
    os.makedirs(place, exist_ok=True)
    with ExitStack() as stack:
        images = work if system.has_shutdown else _mount_for_clones(work, stack)
        image = os.path.join(images, "disk.img")
        _make_image(image, system)
        with _mounted(image, place, options):
            acknowledged, image = _write_and_cut(image, place, seconds, program, system)
        threading.Event().wait(BOOT_SECONDS)
        with _mounted(image, place, options):
            kept, problems = (examine or _found)(os.path.join(place, "store"))
    return Outcome(acknowledged, acknowledged - kept, problems)


def _mount_for_clones(work: str, stack: ExitStack) -> str:
    """A directory in which files can be cloned, until the stack is closed."""
    image, place = os.path.join(work, "host.img"), os.path.join(work, "host")
    os.makedirs(place, exist_ok=True)
    _make_image(image, XFS._replace(image_bytes=1 << 30))
    stack.enter_context(_mounted(image, place, "noatime"))
    return place


def _write_and_cut(
    image: str, place: str, seconds: float, program: str, system: FileSystem
) -> tuple[set[str], str]:
    """What was acknowledged before the power went, and the image of the disk that is left."""
    writers = [
        start_writer(
            os.path.join(place, "store"), f"w{n}", 10**6, *manners, program=program, quiet=True
        )
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
    # What is said after this moment proves nothing: an fsync that the shutdown interrupts may
    # return 0 (a loop of plain appends and fsyncs loses its last line now and then, too).
    acknowledged = set(said)
    try:
        return acknowledged, _shut_down(place, image) if system.has_shutdown else _clone(image)
    except OSError as problem:
        raise NoPowerCuts(f"{system.make[0]}: {problem}") from problem
    finally:
        for writer, listener in zip(writers, listeners, strict=True):
            with writer:
                writer.kill()
                listener.join()


def _end_users(place: str) -> None:
    """End refreshers, which outlive whoever wrote; one may just have begun to start."""
    while users := [process for process in map(int, _processes()) if _uses(process, place)]:
        kill_all(users)


def _processes() -> Iterator[str]:
    return filter(str.isdecimal, os.listdir("/proc"))


def _uses(process: int, place: str) -> bool:
    """Does the process have a file there open?"""
    folder, files = f"/proc/{process}/fd", []
    with suppress(OSError):  # it has ended
        for number in os.listdir(folder):
            with suppress(FileNotFoundError):  # it has closed that one
                files.append(os.readlink(f"{folder}/{number}"))
    return process != os.getpid() and any(file.startswith(place) for file in files)


def _shut_down(place: str, image: str) -> str:
    descriptor = os.open(place, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
    finally:
        os.close(descriptor)
    return image


def _clone(image: str) -> str:
    """The device at one moment, with what the file system has written to it."""
    clone = f"{image}.cut"
    with open(image, "rb") as source, open(clone, "wb") as target:
        fcntl.ioctl(target.fileno(), _CLONE, source.fileno())
    return clone


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
