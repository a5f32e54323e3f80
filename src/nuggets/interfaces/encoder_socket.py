"""A private socket on which a living process compares a text with notes by meaning, so that a hook
need not load the encoder, which takes it 0.2 seconds of processor time.

The socket lies in the shelf's directory of hooks, which only its owner can enter. One text in, the
nearest notes with their cosines out; no text of a note ever passes. Where the path is longer than
the 107 bytes that a socket's address may have, hooks load the encoder themselves.
"""

import json
import os
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets.encoder.vector_index import NearestNotes
from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import private_directory
from nuggets.filesystem.hook_files import hook_path

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

NAME = "encoder.socket"
NEAREST_NOTES = 200  # in an answer: three times what a hook looks at
MOST_BYTES = 64 * 1024  # of a question, or an answer of 200 ids and numbers
READ_SECONDS = 1.0  # that a living process waits for a question, or for another's answer


class EncoderSocket:
    """Answers the hooks of this user until it is closed. Of several processes on one shelf the
    first answers; `open` takes over from one that has ended."""

    def __init__(self, shelf: "NuggetShelf") -> None:
        self._shelf = shelf
        self._path = hook_path(shelf.settings["dir"], NAME)
        self._listening: socket.socket | None = None

    def open(self) -> None:
        """Listen, unless there is no encoder, or this or another process listens already."""
        if self._listening is not None or not self._path or not self._shelf.has_encoder:
            return
        with suppress(OSError, StoreError):  # hooks then load the encoder themselves
            private_directory(os.path.dirname(self._path))
            if not _is_answered(self._path):
                self._listening = _listen(self._path)
                threading.Thread(target=self._answer_all, name=NAME, daemon=True).start()

    def close(self) -> None:
        """Stop listening; a question that is being answered is answered."""
        listening, self._listening = self._listening, None
        if listening is not None:
            with suppress(OSError):
                os.unlink(self._path)
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)  # ends the wait for the next question
            listening.close()

    def _answer_all(self) -> None:
        while (listening := self._listening) is not None:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, suppress(Exception):  # whoever asked goes without
                connection.settimeout(READ_SECONDS)
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        question = json.loads(_read_all(connection))["text"]
        nearest = self._shelf.encoder.find_nearest(question, NEAREST_NOTES)
        answer: dict[str, Any] = {}
        if nearest is not None:
            cosines = {note: round(cosine, 4) for note, cosine in nearest.cosines.items()}
            answer = {**nearest._asdict(), "cosines": cosines}
        connection.sendall(json.dumps(answer).encode())


def ask_living_process(location: str, text: str, seconds: float) -> NearestNotes | None:
    """What a living process on this shelf answers; None if there is none, or not within some
    seconds."""
    path = hook_path(location, NAME)
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        with _new_socket() as connection:
            connection.settimeout(seconds)
            connection.connect(path)
            connection.sendall(json.dumps({"text": text}).encode())
            connection.shutdown(socket.SHUT_WR)
            answer = json.loads(_read_all(connection))
        cosines = {str(note): float(cosine) for note, cosine in answer["cosines"].items()}
        return NearestNotes(cosines, int(answer["compared"]), float(answer["common"]))
    return None


def _listen(path: str) -> socket.socket:
    with suppress(FileNotFoundError):
        os.unlink(path)  # its process has ended
    listening = _new_socket()
    try:
        listening.bind(path)
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def _is_answered(path: str) -> bool:
    with _new_socket() as connection:
        connection.settimeout(READ_SECONDS)
        try:
            connection.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
    return True


def _new_socket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)


def _read_all(connection: socket.socket) -> bytes:
    """All that the other end sends; an error if that is too much or takes too long."""
    pieces = bytearray()
    while piece := connection.recv(MOST_BYTES):
        pieces += piece
        if len(pieces) > MOST_BYTES:
            raise ValueError("too long")
    return bytes(pieces)
