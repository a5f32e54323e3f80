"""`RemoteShelf`: a shelf that a server keeps, with the public API of every other shelf.

The methods in `remote/callable_methods.py` are called on the server. All others run here: they
concern files of this machine, or follow from answers.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Self

from nuggets.domain import times
from nuggets.domain.records import WrittenNote
from nuggets.engine.argument_checks import StrPath, path_text
from nuggets.engine.shelf_base import random_hex
from nuggets.errors import InvalidInput, NuggetsError, StoreError
from nuggets.filesystem.atomic_files import private_directory, read_if_plain, replace_file
from nuggets.filesystem.current_project import (
    checkout_root,
    current_project,
    find_project,
    is_repository,
)
from nuggets.filesystem.server_url import parse_server_url
from nuggets.graph.metadata_inference import plain_keywords
from nuggets.operations.client_permissions import Client
from nuggets.operations.idempotent_calls import Call, Caller, Place
from nuggets.operations.project_identity import Location, Recognition
from nuggets.operations.read_before_edit import ReadingRecord
from nuggets.remote.callable_methods import CALL_PATH, METHODS, REFUSED, Kind
from nuggets.remote.client_location import find_place
from nuggets.remote.http_connection import CONNECT_SECONDS, HOOK_CONNECT_SECONDS, Unreachable
from nuggets.remote.local_copy import LocalCopy
from nuggets.remote.offline_queue import CallQueue, WaitingCall
from nuggets.remote.server_requests import ServerCalls
from nuggets.remote.shelf_without_files import ShelfWithoutFiles
from nuggets.remote.wire_format import NuggetName, decode_answer, encode
from nuggets.settings import Settings, load
from nuggets.shelf import NuggetShelf

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from nuggets.domain.typed_kwargs import NoteMeta
    from nuggets.meaning.nearest import NearestNotes
    from nuggets.promotion.memory_file_edits import FileEdits

MOST_NOTICES = 20  # that a process has told, the last ones
_DIGITS = 3  # drawn for a call: it makes one note, and an id may be taken
_NEEDS_SERVER = ("change_counter", "copy_index", "members", "is_team")
_TEXT_OF = {"remember": (2, 1), "create_note": (2, 1)}  # where the text and its title stand


class RemoteShelf(ShelfWithoutFiles):
    """A shelf that a `nuggets serve` keeps."""

    def __init__(
        self,
        save_dir: StrPath | None = None,
        auto_save: bool = True,
        *,
        settings: Settings | None = None,
        short_lived: bool = False,
        project: str | None = None,
        folder: str | None = None,
        records_location: bool = False,
        at_work: bool = False,
        client: str | Client = "python",
        uses_meaning: bool = True,
        clock: Callable[[], str] = times.now,
        draw: Callable[[], str] = random_hex,
        **others: Any,
    ) -> None:
        """As of every shelf; the server decides about meaning and about recording locations."""
        if others or not auto_save:
            names = ", ".join(others) or "auto_save=False"
            raise InvalidInput(f"a shelf at a server has no {names}")
        url = path_text(save_dir)
        self.settings = settings or load(os.environ, {"dir": url})
        self._url: str = self.settings["dir"] if url is None else url
        self._project = (self.settings["project"] or None) if project is None else project
        self._named_project = self._project
        self._folder = folder
        self._recognition: Recognition | None = None
        self._client = client if isinstance(client, Client) else Client(client, at_work=at_work)
        self._readings: ReadingRecord | None = ReadingRecord()
        self._clock = clock
        self._draw = draw
        is_hook = short_lived and self._client.is_unattended
        self._calls = ServerCalls(
            parse_server_url(self._url),
            connect_seconds=HOOK_CONNECT_SECONDS if is_hook else CONNECT_SECONDS,
        )
        self._queue = CallQueue(self._calls.url.directory)
        self._notices: list[str] = []  # views share it
        self._seen_moment = ""
        self._places: dict[str, Place | None] = {}
        self._own_revisions: list[int] = [0]  # the last one; views share it

    # --- calling ----------------------------------------------------------------------------

    def _call(self, name: str, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        message = {
            "method": name,
            "args": encode(tuple(args)),
            "options": encode(dict(options)),
            "caller": encode(self._caller_for(name, args, options)),
        }
        try:
            if not self._queue.is_empty:
                self._try_to_send()
            if METHODS[name] == "write" and not self._queue.is_empty:
                raise Unreachable(f"{self.server} has not accepted the queued changes yet")
            return self._take_answer(name, self._send(METHODS[name], message))
        except Unreachable as problem:
            return self._call_without_server(name, args, options, message, problem)

    def _send(self, kind: Kind, message: Mapping[str, Any]) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self._calls.post(CALL_PATH, message, may_repeat=kind != "act")
        self._note_moment(str(answer.get("now", "")))
        return answer

    # --- without the server -------------------------------------------------------------------

    def _call_without_server(
        self,
        name: str,
        args: Sequence[Any],
        options: Mapping[str, Any],
        message: dict[str, Any],
        problem: Unreachable,
    ) -> Any:
        kind = METHODS[name]
        if kind == "act":
            outcome = (
                "it may have been done: see `nuggets history` when the server answers again"
                if problem.was_sent
                else "nothing was changed"
            )
            raise StoreError(f"{problem}; {name} needs the server, and {outcome}") from None
        if not self.settings["offline_notes"] or name in _NEEDS_SERVER:
            raise problem
        copy = self._copy.for_caller(self._caller_for(name, args, options, message))
        if kind == "write" and not options.get("dry_run"):
            return self._write_without_server(copy, name, args, options, message, problem)
        if not self._copy.copied_at:
            raise StoreError(f"{problem}; there is no copy of it on this machine yet") from None
        result = self._run_on_copy(copy, name, args, options)
        self._tell(f"{problem}. This is from the local copy, which is {self._age_of_copy()} old")
        return result

    def _write_without_server(
        self,
        copy: LocalCopy,
        name: str,
        args: Sequence[Any],
        options: Mapping[str, Any],
        message: dict[str, Any],
        problem: Unreachable,
    ) -> Any:
        """Check it on the copy, queue it, then make it there: a call that is refused is not queued,
        and one that is told as queued is durable."""
        with copy.batch():
            result = self._run_on_copy(copy, name, args, options)
            caller = message["caller"]
            caller["call"] = {**caller["call"], "seen": self._last_moment()}
            call_id = str(caller["call"]["id"])
            self._queue.add(WaitingCall(call_id, self._clock(), message))
        self._tell(f"{problem}. This is queued, and sent when the server answers again")
        return result

    def _run_on_copy(
        self, copy: LocalCopy, name: str, args: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        if self._project is None:
            self._project = copy.project
        if METHODS[name] == "attribute":
            return getattr(copy, name)
        result = getattr(copy, name)(*args, **options)
        return self._view(result.name) if type(result).__name__ == "Nugget" else result

    def send_waiting(self) -> int:
        """Send what waits, in order; how many calls the server took. `Unreachable` ends it."""
        taken = 0
        for call, problem in self._queue.send(lambda message: self._send("write", message)):
            if problem is None:
                taken += 1
                continue
            self._tell(
                f"{self.server} rejected a queued change ({call.summary:.80}): {problem}. "
                "It is kept: see `nuggets queue`"
            )
        if taken:
            self._tell(f"{self.server} accepted {taken} of your queued changes")
        return taken

    def _try_to_send(self) -> None:
        """Send queued changes before another call; a failure becomes a notice, not an error."""
        try:
            self.send_waiting()
        except Unreachable:
            raise
        except NuggetsError as problem:
            self._tell(f"queued changes were not sent: {problem}")

    def refresh_copy(self) -> int:
        """Send what waits, and bring the copy up to date; how many notes it holds."""
        most = self.settings["offline_notes"]
        if not self._queue.is_empty:
            self.send_waiting()
        if not most or not self._queue.is_empty:
            return 0
        return self._copy.refresh(self, most, self.known_location(), self._tell)

    @property
    def queue(self) -> CallQueue:
        return self._queue

    @cached_property
    def _copy(self) -> LocalCopy:
        return LocalCopy(self._calls.url.directory, short_lived=True, project="")

    def _age_of_copy(self) -> str:
        import time

        seconds = max(0.0, time.time() - self._copy.copied_at)
        for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
            if seconds >= length:
                number = int(seconds // length)
                return f"{number} {unit}{'' if number == 1 else 's'}"
        return "less than a minute"

    def _tell(self, text: str) -> None:
        if text not in self._notices:
            self._notices.append(text)
            del self._notices[:-MOST_NOTICES]

    def _note_moment(self, moment: str) -> None:
        """Until when this machine has seen what others did, by the clock of the server."""
        if moment and moment[:16] != self._seen_moment[:16]:  # written once a minute
            with suppress(OSError, StoreError):
                private_directory(self._calls.url.directory)
                replace_file(self._moment_path, [moment.encode()], durable=False)
        self._seen_moment = moment or self._seen_moment

    def _last_moment(self) -> str:
        if not self._seen_moment:
            self._seen_moment = read_if_plain(self._moment_path)[:40].decode("ascii", "ignore")
        return self._seen_moment

    @property
    def _moment_path(self) -> str:
        return os.path.join(self._calls.url.directory, "seen")

    def _take_answer(self, name: str, answer: Mapping[str, Any]) -> Any:
        if self._project is None:
            self._project = str(answer.get("project", ""))
        try:
            question = decode_answer(answer.get("question"), Location | None, "the question")
            result = decode_answer(
                answer.get("result"), _answer_type(name), f"its answer to {name}"
            )
        except InvalidInput as problem:
            raise StoreError(
                f"what answers at {self.server} is no Nuggets server, or another version: its "
                f"answer to {name} makes no sense ({problem}). Check the address"
            ) from None
        self._recognition = Recognition(question) if question else None
        revision = answer.get("revision")
        if isinstance(revision, int) and revision:
            self._own_revisions[0] = revision
        return self._view(result) if isinstance(result, NuggetName) else result

    def _caller_for(
        self,
        name: str,
        args: Sequence[Any],
        options: Mapping[str, Any],
        sent: Mapping[str, Any] | None = None,
    ) -> Caller:
        """`sent`: the message in which it was sent before; the ids of new notes are the same."""
        text, title = _text_and_title(name, args, options)
        if sent is not None:
            caller: Caller = decode_answer(sent["caller"], Caller, "the caller")
            return caller._replace(call=None)
        is_write = METHODS[name] == "write"
        return Caller(
            self._client._replace(reads_first=False),  # that is checked here, see `edit_note`
            self._named_project,
            None if self._named_project is not None else self._place,
            self._anchors(text, title) if text else (),
            tuple(self._draw() for _ in range(_DIGITS)) if is_write else (),
            Call(*self._queue.number_call(), os.urandom(8).hex()) if is_write else None,
        )

    @property
    def _place(self) -> Place | None:
        folder = self.working_folder
        if folder not in self._places:
            self._places[folder] = self._find_place(folder)
        return self._places[folder]

    def _find_place(self, folder: str) -> Place | None:
        found = find_place(folder, self._url)
        if found is None:
            return None
        here = Location(found.path, *found[:5])
        return Place(here, found.folders)

    # --- what follows from answers ------------------------------------------------------------

    @property
    def server(self) -> str:
        return self._calls.url.text

    @property
    def project(self) -> str:
        if self._project is None:
            self._project = str(self._call("project", (), {}))
        return self._project

    @project.setter
    def project(self, project: str) -> None:
        self._project = self._named_project = project
        self._recognition = None

    @property
    def recognition(self) -> Recognition | None:
        return self._recognition

    @property
    def own_revision(self) -> int:
        return self._own_revisions[0]

    def for_client(self, client: str | Client, *, at_work: bool = False) -> Self:
        view = object.__new__(type(self))
        given = client if isinstance(client, Client) else Client(client, at_work=at_work)
        vars(view).update(vars(self), _client=given)
        return view

    def for_project(self, name: str) -> Self:
        view = object.__new__(type(self))
        vars(view).update(vars(self), _recognition=None, _project="", _named_project="")
        if os.path.isabs(name) and os.path.isdir(name):
            vars(view).update(_project=None, _named_project=None, _folder=name)
        elif name:
            known = [status.project for status in self.projects()]
            view.project = name if name in known else find_project(name, known)
        return view

    def project_of(self, folder: str) -> str:
        if self.settings["project"]:
            return str(self.settings["project"])
        return self.for_project(os.path.abspath(folder)).project

    def join_project(self, name: StrPath, *, dry_run: bool = False) -> Any:
        done = self._call("join_project", (path_text(name),), {"dry_run": dry_run})
        if not dry_run:
            self.forget_recognition()
        return done

    def leave_project(self) -> str:
        own = str(self._call("leave_project", (), {}))
        self.forget_recognition()
        return own

    def move_project(
        self, old: StrPath, new: StrPath | None = None, *, dry_run: bool = False
    ) -> Any:
        if new is not None:
            return self.for_project(os.path.abspath(str(path_text(new)))).move_project(
                old, dry_run=dry_run
            )
        return self._call("move_project", (path_text(old),), {"dry_run": dry_run})

    def forget_recognition(self) -> None:
        self._project, self._recognition = self._named_project, None

    def record_location(self) -> None:
        if self._recognition is not None:
            self._call("record_location", (), {})
            self._recognition = None

    def known_location(self) -> Location | None:
        place = self._place
        return place.location._replace(project=self.project) if place else None

    def edit_note(
        self,
        name: str,
        content: str | None = None,
        title: str | None = None,
        tags: Iterable[str] | None = None,
        hidden: bool | None = None,
        *,
        nugget: str | None = None,
        expected: "str | datetime | None" = None,
        **meta: "Unpack[NoteMeta]",
    ) -> WrittenNote:
        """As of every shelf. A client that must have read what it replaces is checked here, and the
        server then refuses if the note was changed since."""
        if content is not None and self._client.reads_first and self._readings is not None:
            note = self.get_note(name, nugget, None)
            self._readings.check(self._client.session, note)
            name, expected = note.id, expected or note.updated_at
        given = {"content": content, "title": title, "tags": tags, "hidden": hidden}
        options = {"nugget": nugget, "expected": expected, **given, **plain_keywords(meta)}
        written: WrittenNote = self._call("edit_note", (name,), _present(options))
        if content is not None:
            self.record_reading(written)
        elif written.replaced is not None and self._readings is not None:
            self._readings.carry_over(self._client.session, written.replaced, written)
        return written

    def remember(
        self, nugget: str, key: str, value: str, **meta: "Unpack[NoteMeta]"
    ) -> WrittenNote:
        fact: WrittenNote = self._call(
            "remember", (nugget, key, value), _present(plain_keywords(meta))
        )
        self.record_reading(fact)
        return fact

    def create_note(
        self,
        nugget: str,
        title: str,
        content: str,
        tags: Iterable[str] = (),
        created_at: "str | datetime | None" = None,
        **meta: "Unpack[NoteMeta]",
    ) -> WrittenNote:
        options = _present({"created_at": created_at, **plain_keywords(meta)})
        note: WrittenNote = self._call("create_note", (nugget, title, content, tags), options)
        self.record_reading(note)
        return note

    def import_memories(
        self, source: "NuggetShelf | Iterable[Mapping[str, Any]]", *, dry_run: bool = False
    ) -> Any:
        if isinstance(source, NuggetShelf):
            import json

            lines: list[bytes] = []
            source.export_lines(lines.append)
            source = [json.loads(line) for line in lines]
        return self._call("import_memories", (list(source),), {"dry_run": dry_run})

    # --- what concerns this machine -----------------------------------------------------------

    @property
    def location(self) -> str:
        if self._named_project is not None:
            return self._named_project
        return current_project(self._folder)

    @property
    def checkout(self) -> str:
        if self._named_project is not None or not is_repository(self.location):
            return ""
        return checkout_root(self.working_folder)

    def close(self) -> None:
        self._calls.close()
        if "_copy" in vars(self):
            self._copy.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Every call is answered of one moment; several calls are not."""
        yield

    def load_all(self) -> None:
        self._call("revision", (), {})

    def save_all(self) -> None:
        """Every call is saved when it returns."""

    def discard_unsaved(self, name: str | None = None) -> None:
        """There is nothing unsaved."""

    def batch(self) -> AbstractContextManager[None]:
        raise InvalidInput(REFUSED["batch"])

    @property
    def warnings(self) -> Sequence[str]:
        """What a person should know: that the server is away, what is queued, what it refused."""
        return tuple(self._notices)

    def export_lines(self, write: Callable[[bytes], Any]) -> None:
        from nuggets.maintenance.export import note_lines

        for line in note_lines(self.list_notes(include_hidden=True)):
            write(line)

    def memory_text(self, path: StrPath | None = None) -> str:
        from nuggets.promotion import memory_file_access

        return memory_file_access.read(self.memory_path(path))

    def import_file_edits(self) -> "Sequence[FileEdits]":
        return ()

    def is_promoted(self, note_id: str) -> bool:
        return False

    def encode_waiting(self, seconds: float) -> None:
        """The server does that."""

    @property
    def has_encoder(self) -> bool:
        return False

    def nearest_by_meaning(self, text: str, count: int) -> "NearestNotes | None":
        return None

    @property
    def _defers_writes(self) -> bool:
        return False

    def _recorded_moves(self, note_id: str) -> Mapping[str, str]:
        return {}


def _present(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _answer_type(name: str) -> Any:
    """What a method of the shelf returns, or what an attribute of it is."""
    attribute: Any = getattr(NuggetShelf, name)
    return getattr(attribute, "fget", attribute).__annotations__.get("return", Any)


def _text_and_title(name: str, args: Sequence[Any], options: Mapping[str, Any]) -> tuple[str, str]:
    """The text that a call writes, and its title; "" if it writes none."""
    if name == "edit_note":
        return str(options.get("content") or ""), str(options.get("title") or "")
    if name not in _TEXT_OF:
        return "", ""
    text, title = (args[index] for index in _TEXT_OF[name])
    return (text, title) if isinstance(text, str) and isinstance(title, str) else ("", "")


def _remote(name: str) -> Any:
    @wraps(getattr(NuggetShelf, name))
    def call(self: RemoteShelf, *args: Any, **options: Any) -> Any:
        return self._call(name, args, options)

    return call


def _refuse(name: str, reason: str) -> Any:
    @wraps(getattr(NuggetShelf, name))
    def refuse(self: RemoteShelf, *args: Any, **options: Any) -> Any:
        raise InvalidInput(f"{name} is not for a shelf at a server: {reason}")

    return refuse


for _name, _kind in METHODS.items():
    if _name not in vars(RemoteShelf):
        _method = _remote(_name)
        setattr(RemoteShelf, _name, property(_method) if _kind == "attribute" else _method)
for _name, _reason in REFUSED.items():
    if _name not in vars(RemoteShelf):
        setattr(RemoteShelf, _name, _refuse(_name, _reason))
