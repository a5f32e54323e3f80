"""`RemoteShelf`: a shelf that a server keeps, with the public API of every other shelf.

`operations/operation_table.py` says which operations are called on the server, which are refused,
and which have one fixed answer. Those written out here concern files of this machine, or follow
from answers.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nuggets.domain.times import duration
from nuggets.errors import InvalidInput, NuggetsError, StoreError
from nuggets.filesystem.atomic_files import private_directory, read_if_plain, replace_file
from nuggets.filesystem.current_project import (
    checkout_root,
    current_project,
    is_repository,
)
from nuggets.filesystem.shelf_location import parse_server_url
from nuggets.operations.argument_checks import StrPath
from nuggets.operations.idempotent_calls import Call, Caller
from nuggets.operations.metadata_inference import plain_keywords
from nuggets.operations.operation_table import (
    OPERATIONS,
    Fixed,
    Kind,
    Operation,
    Refused,
    Request,
    method_of,
)
from nuggets.operations.project_identity import Location, Place, Recognition, find_place
from nuggets.remote import CALL_PATH, NuggetName, ServerCalls, decode_answer, encode
from nuggets.remote.http_connection import CONNECT_SECONDS, HOOK_CONNECT_SECONDS, Unreachable
from nuggets.remote.offline import CallQueue, LocalCopy, WaitingCall
from nuggets.shelf import NuggetShelf

if TYPE_CHECKING:
    from nuggets.stores.sql.store import Store

MOST_NOTICES = 20  # that a process has told, the last ones: it bounds the memory
_DIGITS = 3  # drawn for a call: it makes one note, and an id may be taken


class RemoteShelf(NuggetShelf):
    """A shelf that a `nuggets serve` keeps."""

    def _open(self, store: "Store | None", *, auto_save: bool, short_lived: bool) -> None:
        """The server decides about meaning and about recording locations."""
        given = {"store": store, "encoder": self._given_encoder, "auto_save=False": not auto_save}
        refused = [name for name, value in given.items() if value]
        if refused:
            raise InvalidInput(f"a shelf at a server has no {', '.join(refused)}")
        is_hook = short_lived and self._client.is_unattended
        self._calls = ServerCalls(
            parse_server_url(self._url),
            connect_seconds=HOOK_CONNECT_SECONDS if is_hook else CONNECT_SECONDS,
        )
        self.queue = CallQueue(self._calls.url.directory)
        self._notices: list[str] = []  # views share it
        self._seen_moment = ""
        self._places: dict[str, Place | None] = {}
        self._own_revisions: list[int] = [0]  # the last one; views share it

    # --- calling ----------------------------------------------------------------------------

    def _answer(self, request: Request) -> Any:
        """The answer to an operation, as its row says."""
        name, how = request.row.name, request.row.remote
        if isinstance(how, Fixed):
            return how.answer
        if isinstance(how, Refused):
            raise InvalidInput(f"{name} is not for a shelf at a server: {how.reason}")
        if not request.row.text:
            return self._send(request)
        request = request._replace(options=_present(plain_keywords(request.options)))
        text = request.argument(request.row.text[0])
        if name == "edit_note" and text is not None:
            request = self._with_reading(request)
        written = self._send(request)
        if text is not None:
            self.record_reading(written)
        return written

    def _with_reading(self, edit: Request) -> Request:
        """A client that must have read what it replaces is checked here, and the server then
        refuses if the note was changed since."""
        if not self._client.reads_first or self._readings is None:
            return edit
        named, nugget, expected = map(edit.argument, ("name", "nugget", "expected"))
        note = self.get_note(named, nugget, None)
        self._readings.check(self._client.session, note)
        seen = expected or note.updated_at
        return edit.with_arguments(name=note.id, expected=seen)

    def _call(self, name: str, /, *args: Any, **options: Any) -> Any:
        return self._send(Request(OPERATIONS[name], args, options))

    def _send(self, request: Request) -> Any:
        message = {
            "method": request.row.name,
            "args": encode(request.args),
            "options": encode(dict(request.options)),
            "caller": encode(self._caller_for(request)),
        }
        try:
            if not self.queue.is_empty:
                self._try_to_send()
            if request.row.kind == "write" and not self.queue.is_empty:
                raise Unreachable(f"{self.server} has not accepted the queued changes yet")
            if request.row.kind == "act":  # it may change what is recognized here
                self._forget_recognition()
            return self._take_answer(request.row, self._post(request.row.kind, message))
        except Unreachable as problem:
            return self._answer_without_server(request, message, problem)

    def _post(self, kind: Kind, message: Mapping[str, Any]) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self._calls.post(CALL_PATH, message, may_repeat=kind != "act")
        self._note_moment(str(answer.get("now", "")))
        return answer

    # --- without the server -------------------------------------------------------------------

    def _answer_without_server(
        self, request: Request, message: dict[str, Any], problem: Unreachable
    ) -> Any:
        row = request.row
        if row.kind == "act":
            outcome = (
                "it may have been done: see `nuggets history` when the server answers again"
                if problem.was_sent
                else "nothing was changed"
            )
            raise StoreError(f"{problem}; {row.name} needs the server, and {outcome}") from None
        if not self.settings["offline_notes"] or row.needs_server:
            raise problem
        sent: Caller = decode_answer(message["caller"], Caller, "the caller")
        copy = self._copy.for_caller(sent._replace(call=None))  # new notes get the same ids
        if row.kind == "write" and not request.is_preview:
            return self._write_without_server(copy, request, message, problem)
        if not self._copy.copied_at:
            raise StoreError(f"{problem}; there is no copy of it on this machine yet") from None
        result = self._run_on_copy(copy, request)
        age = duration(time.time() - copy.copied_at) or "less than a minute"
        self._tell(f"{problem}. This is from the local copy, which is {age} old")
        return result

    def _write_without_server(
        self, copy: LocalCopy, request: Request, message: dict[str, Any], problem: Unreachable
    ) -> Any:
        """Check it on the copy, queue it, then make it there: a call that is refused is not queued,
        and one that is told as queued is durable."""
        with copy.batch():
            result = self._run_on_copy(copy, request)
            caller = message["caller"]
            caller["call"] = {**caller["call"], "seen": self._last_moment()}
            call_id = str(caller["call"]["id"])
            self.queue.add(WaitingCall(call_id, self._clock(), message))
        self._tell(f"{problem}. This is queued, and sent when the server answers again")
        return result

    def _run_on_copy(self, copy: LocalCopy, request: Request) -> Any:
        if self._project is None:
            self._project = copy.project
        result = request.run_on(copy)
        return self._view(result.name) if type(result).__name__ == "Nugget" else result

    def send_waiting(self) -> int:
        """Send what waits, in order; how many calls the server took. `Unreachable` ends it."""
        taken = 0
        for call, problem in self.queue.send(lambda message: self._post("write", message)):
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
        if not self.queue.is_empty:
            self.send_waiting()
        if not most or not self.queue.is_empty:
            return 0
        return self._copy.refresh(self, most, self._known_location(), self._tell)

    @cached_property
    def _copy(self) -> LocalCopy:
        return LocalCopy(self._calls.url.directory, short_lived=True, project="")

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

    def _take_answer(self, row: Operation, answer: Mapping[str, Any]) -> Any:
        if self._project is None:
            self._project = str(answer.get("project", ""))
        try:
            question = decode_answer(answer.get("question"), Location | None, "the question")
            result = decode_answer(
                answer.get("result"), _answer_type(row.name), f"its answer to {row.name}"
            )
        except InvalidInput as problem:
            raise StoreError(
                f"what answers at {self.server} is no Nuggets server, or another version: its "
                f"answer to {row.name} makes no sense ({problem}). Check the address"
            ) from None
        self._recognition = Recognition(question) if question else None
        revision = answer.get("revision")
        if isinstance(revision, int) and revision:
            self._own_revisions[0] = revision
        return self._view(result) if isinstance(result, NuggetName) else result

    def _caller_for(self, request: Request) -> Caller:
        row = request.row
        given = [request.argument(name) for name in row.text]
        text, title = given or ("", "")
        has_text = isinstance(text, str) and text and isinstance(title, str | None)
        is_write = row.kind == "write"
        return Caller(
            self._client._replace(reads_first=False),  # that is checked here, see `edit_note`
            self._named_project,
            None if self._named_project is not None else self._place,
            self._anchors(text, title or "") if has_text else (),
            tuple(self._draw() for _ in range(_DIGITS)) if is_write else (),
            Call(*self.queue.number_call(), os.urandom(8).hex()) if is_write else None,
        )

    @property
    def _place(self) -> Place | None:
        folder = self.working_folder
        if folder not in self._places:
            self._places[folder] = find_place(folder, self._url)
        return self._places[folder]

    # --- what follows from answers ------------------------------------------------------------

    @property
    def server(self) -> str:
        return self._calls.url.text

    project = NuggetShelf.project

    def _find_project(self) -> str:
        return str(self._call("project"))

    @property
    def own_revision(self) -> int:
        return self._own_revisions[0]

    def project_of(self, folder: str) -> str:
        if self.settings["project"]:
            return str(self.settings["project"])
        return self.for_project(os.path.abspath(folder)).project

    def move_project(
        self, old: StrPath, new: StrPath | None = None, *, dry_run: bool = False
    ) -> Any:
        here = self if new is None else self.for_project(os.path.abspath(new))
        return here._call("move_project", old, dry_run=dry_run)

    def _known_location(self) -> Location | None:
        place = self._place
        return place.location._replace(project=self.project) if place else None

    def import_memories(
        self, source: "NuggetShelf | Iterable[Mapping[str, Any]]", *, dry_run: bool = False
    ) -> Any:
        if isinstance(source, NuggetShelf):
            import json

            lines: list[bytes] = []
            source.export_lines(lines.append)
            source = [json.loads(line) for line in lines]
        return self._call("import_memories", list(source), dry_run=dry_run)

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
        self._call("revision")

    @property
    def warnings(self) -> Sequence[str]:
        """What a person should know: that the server is away, what is queued, what it refused."""
        return tuple(self._notices)

    def export_lines(self, write: Callable[[bytes], Any]) -> None:
        from nuggets.maintenance.export_and_backup import note_lines

        for line in note_lines(self.list_notes(include_hidden=True)):
            write(line)

    @property
    def _defers_writes(self) -> bool:
        return False


def _present(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _answer_type(name: str) -> Any:
    """What a method of the shelf returns, or what an attribute of it is."""
    attribute: Any = getattr(NuggetShelf, name)
    return getattr(attribute, "fget", attribute).__annotations__.get("return", Any)


for _row in OPERATIONS.values():
    if _row.remote != "here" and _row.name not in vars(RemoteShelf):
        setattr(RemoteShelf, _row.name, method_of(_row, getattr(NuggetShelf, _row.name)))
