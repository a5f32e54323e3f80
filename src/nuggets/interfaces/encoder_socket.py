"""A private socket on which a living process compares a text with notes by meaning, so that a hook
need not load the encoder.

The socket lies in the shelf's directory of hooks, for its owner only, and both ends check that the
other is a process of the same user. One text in, the nearest notes with their cosines out; no text
of a note ever passes. Systems that do not tell who is at the other end have no such socket.
"""

import json
import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from nuggets.encoder.text_encoder import NearestNotes
from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import private_directory
from nuggets.filesystem.hook_files import hook_path

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

NAME = "encoder.socket"
NEAREST_NOTES = 200  # notes in an answer
MOST_BYTES = 64 * 1024  # of a question or an answer
READ_SECONDS = 1.0  # that a living process waits for a question, or for another's answer
_CREDENTIALS = struct.Struct("3i")  # process, user, group


class EncoderSocket:
    """Answers the hooks of this user until it is closed. Of several processes on one shelf the
    first answers; `open` takes over from one that has ended."""

    def __init__(self, shelf: "NuggetShelf") -> None:
        self._shelf = shelf
        self._listening: socket.socket | None = None
        self._identity: tuple[int, int] | None = None  # of the file that this process made
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Listen, unless there is no encoder, or this or another process listens already."""
        if self._listening is not None or not self._shelf.has_encoder or not _tells_peers():
            return
        folder = hook_path(self._shelf.settings["dir"])
        if not folder:
            return
        with suppress(OSError, StoreError):  # hooks then load the encoder themselves
            private_directory(folder)
            with _address(folder) as address:
                self._listening = _listen(address)
                if self._listening is None:
                    return
                status = os.stat(address)
            self._identity = (status.st_dev, status.st_ino)
            self._thread = threading.Thread(
                target=self._answer_all, args=(self._listening,), name=NAME, daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Stop listening; a question that is being answered is answered."""
        listening, self._listening = self._listening, None
        if listening is None:
            return
        path = hook_path(self._shelf.settings["dir"], NAME)
        with suppress(OSError):
            status = os.lstat(path)
            if (status.st_dev, status.st_ino) == self._identity:
                os.unlink(path)
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)  # ends the wait for the next question
        listening.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(READ_SECONDS)

    def _answer_all(self, listening: socket.socket) -> None:
        while self._listening is listening:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, suppress(Exception):  # whoever asked goes without
                connection.settimeout(READ_SECONDS)
                if _is_own(connection):
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        question = json.loads(_read_all(connection))["text"]
        if not isinstance(question, str):
            return
        nearest = self._shelf.nearest_by_encoder(question, NEAREST_NOTES)
        answer: dict[str, Any] = {}
        if nearest is not None:
            cosines = {note: round(cosine, 4) for note, cosine in nearest.cosines.items()}
            answer = {**nearest._asdict(), "cosines": cosines}
        connection.sendall(json.dumps(answer).encode())


def ask_living_process(location: str, text: str, seconds: float) -> NearestNotes | None:
    """What a living process on this shelf answers; None if there is none, or not within some
    seconds."""
    folder = hook_path(location)
    if not folder or not _tells_peers() or not os.path.exists(os.path.join(folder, NAME)):
        return None
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        with _address(folder) as address, _new_socket() as connection:
            connection.settimeout(seconds)
            connection.connect(address)
            if not _is_own(connection):
                return None
            connection.sendall(json.dumps({"text": text}).encode())
            connection.shutdown(socket.SHUT_WR)
            answer = json.loads(_read_all(connection))
        cosines = {str(note): float(cosine) for note, cosine in answer["cosines"].items()}
        return NearestNotes(cosines, int(answer["compared"]), float(answer["common"]))
    return None


def _listen(address: str) -> socket.socket | None:
    """A socket at this address; None if another process answers there."""
    listening = _new_socket()
    try:
        os.fchmod(listening.fileno(), 0o600)
        try:
            listening.bind(address)
        except OSError:
            if _is_answered(address):
                listening.close()
                return None
            os.unlink(address)  # its process has ended
            listening.bind(address)
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def _is_answered(address: str) -> bool:
    with _new_socket() as connection:
        connection.settimeout(READ_SECONDS)
        try:
            connection.connect(address)
        except ConnectionRefusedError:
            return False
    return True


@contextmanager
def _address(folder: str) -> Iterator[str]:
    """The address of the socket, which may have 107 bytes, however long the folder's path is."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{NAME}"
    finally:
        os.close(descriptor)


def _new_socket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)


def _tells_peers() -> bool:
    return hasattr(socket, "SO_PEERCRED")


def _is_own(connection: socket.socket) -> bool:
    """Is the process at the other end one of this user?"""
    sent = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(sent)[1] == os.geteuid())


def _read_all(connection: socket.socket) -> bytes:
    """All that the other end sends; an error if that is too much or takes too long."""
    pieces = bytearray()
    while piece := connection.recv(MOST_BYTES):
        pieces += piece
        if len(pieces) > MOST_BYTES:
            raise ValueError("too long")
    return bytes(pieces)
