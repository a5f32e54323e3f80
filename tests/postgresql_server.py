"""A real PostgreSQL server for tests: the system's own programs in a temporary directory."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import pytest

from system_programs import program

USER = "nuggets"
PASSWORD = "correct-horse"


def tools() -> str:
    """The directory of the newest `initdb` and `pg_ctl`, which Debian keeps off the PATH."""
    found = _installed()
    if not found:
        program("no such program", "postgresql")
        found = _installed()
    if not found:
        pytest.skip(
            "there is no PostgreSQL here and it cannot be installed: apt install postgresql"
        )
    return found


def _installed() -> str:
    folders = glob.glob("/usr/lib/postgresql/*/bin") + glob.glob("/usr/pgsql-*/bin")
    on_path = shutil.which("initdb")
    if on_path and os.path.exists(os.path.join(os.path.dirname(on_path), "pg_ctl")):
        folders.append(os.path.dirname(on_path))
    with_server = [folder for folder in folders if os.path.exists(f"{folder}/pg_ctl")]
    return max(with_server, key=lambda folder: [int(n) for n in _numbers(folder)], default="")


def _numbers(text: str) -> list[str]:
    return "".join(c if c.isdigit() else " " for c in text).split() or ["0"]


class Server:
    """One server on a socket in a directory of its own; stopped and deleted by `remove`."""

    def __init__(
        self,
        *,
        relaxed: bool = True,
        settings: str = "",
        passwords: bool = False,
        primary: "Server | None" = None,
    ) -> None:
        """`relaxed`: a crash of the server may lose commits; never for tests that kill it.
        `primary`: the server that this one follows as a standby.
        """
        self.tools = tools()
        self.directory = tempfile.mkdtemp(prefix="nugpg-", dir="/tmp")
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:  # the server refuses to run as root
            nobody = pwd.getpwnam("nobody")
            os.chown(self.directory, nobody.pw_uid, nobody.pw_gid)
            self._user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self._options = (
            f"-k {self.directory} -c listen_addresses='' -c shared_buffers=16MB"
            f" -c dynamic_shared_memory_type=mmap {settings}"
        )
        if relaxed:
            self._options += " -c fsync=off -c synchronous_commit=off -c full_page_writes=off"
        if primary is None:
            self._initialize(passwords)
        else:
            source = ("-h", primary.directory, "-U", USER)
            self.run("pg_basebackup", *source, "-R", "-c", "fast", "-X", "stream")
        self.start()

    def _initialize(self, passwords: bool) -> None:
        secret = os.path.join(self.directory, "secret")
        with open(secret, "w", encoding="ascii") as file:
            file.write(PASSWORD)
        os.chmod(secret, 0o644)
        method = "scram-sha-256" if passwords else "trust"
        self.run(
            "initdb",
            "-U",
            USER,
            "-A",
            method,
            f"--pwfile={secret}",
            "-E",
            "UTF8",
            "-N",
            "--no-instructions",
        )

    def run(self, tool: str, *arguments: str, data: str = "data") -> None:
        subprocess.run(
            [f"{self.tools}/{tool}", "-D", f"{self.directory}/{data}", *arguments],
            check=True,
            cwd=self.directory,
            stdout=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": self.directory, "LC_ALL": "C.UTF-8"},
            **self._user,
        )

    def start(self) -> None:
        self.run("pg_ctl", "-w", "-l", f"{self.directory}/log", "-o", self._options, "start")

    def kill(self) -> None:
        """As a power cut would: no process of the server can finish anything."""
        with open(f"{self.directory}/data/postmaster.pid", encoding="ascii") as file:
            postmaster = int(file.readline())
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(postmaster)],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.split()
        for process in (postmaster, *map(int, children)):
            with suppress(ProcessLookupError):  # it ended just now
                os.kill(process, signal.SIGKILL)

    def promote(self) -> None:
        """Make a standby the primary."""
        self.run("pg_ctl", "-w", "promote")

    def stop(self) -> None:
        self.run("pg_ctl", "-w", "-m", "immediate", "stop")

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):  # a test has killed it
            self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def url(self, shelf: str, database: str = "postgres", *others: "Server") -> str:
        hosts = ",".join(server.directory for server in (self, *others))
        return f"postgresql://{USER}@/{database}?host={quote(hosts)}&shelf={quote(shelf)}"
