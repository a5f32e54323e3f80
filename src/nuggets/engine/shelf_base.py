"""Opening, saving and closing a shelf, and the transaction that every operation is.

Every operation reads, decides and writes (`engine/transactions.py`); what it changes is decided
purely (`operations/decisions.py`).
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from nuggets.domain import times
from nuggets.domain.limits import check_flag
from nuggets.domain.records import Changes, ExternalEdit
from nuggets.domain.state import State
from nuggets.engine.argument_checks import StrPath, path_text
from nuggets.engine.indexes import KINDS
from nuggets.engine.project_registry import (
    is_recorded,
    needs_recording,
    recognize_place,
    recognize_project,
    with_evidence,
)
from nuggets.engine.transactions import Decision, Transactions, View
from nuggets.errors import StoreError
from nuggets.filesystem.current_project import (
    checkout_root,
    current_project,
    find_project,
    is_repository,
)
from nuggets.filesystem.shelf_location import ENCODER_FILE
from nuggets.operations.client_permissions import Client
from nuggets.operations.project_identity import Location, Recognition
from nuggets.settings import Settings, load
from nuggets.stores import open_store

if TYPE_CHECKING:
    from nuggets.engine.shelf_encoder import ShelfEncoder
    from nuggets.meaning.encoder import Encoder
    from nuggets.meaning.nearest import NearestNotes
    from nuggets.operations.decisions import Decisions
    from nuggets.operations.idempotent_calls import Caller
    from nuggets.operations.read_before_edit import ReadingRecord
    from nuggets.search.scoring.meaning_fusion import Meaning
    from nuggets.stores.base import Store

T = TypeVar("T")


def random_hex() -> str:
    """Eight digits for an id."""
    return os.urandom(4).hex()


def secret_text() -> str:
    """256 random bits for a token, as text."""
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode()


class ShelfBase:
    """A shelf that can be opened, saved and closed, and the transaction of every operation."""

    _caller: "Caller | None" = None  # who calls over the network, for whom this is a view

    def __init__(
        self,
        save_dir: StrPath | None = None,
        auto_save: bool = True,
        *,
        store: "Store | None" = None,
        settings: Settings | None = None,
        short_lived: bool = False,
        project: str | None = None,
        folder: str | None = None,
        records_location: bool = False,
        at_work: bool = False,
        client: str | Client = "python",
        encoder: "Encoder | Callable[[Sequence[str]], Any] | None" = None,
        uses_meaning: bool = True,
        clock: Callable[[], str] = times.now,
        draw: Callable[[], str] = random_hex,
    ) -> None:
        """`save_dir`: a directory, or ``memory:``; by default NUGGETS_DIR, or else ~/.nuggets.

        `auto_save=False` keeps all changes unsaved until `save_all`.
        `settings`: by default those of the environment and of the directory's config.toml.
        `project`: the id of the project that new memories belong to; by default it is recognized
        by `folder`, the directory someone works in (by default the current one).
        `records_location`: with a memory of the project, write down what recognizes it elsewhere.
        `at_work`: whoever writes is at work in it, so what they learn is the project's, unless it
        is about a person; otherwise a memory's words decide.
        `short_lived`: nothing is left for later, because there will be none.
        `client`: who writes, by name for the history, or with rules of its own.
        `encoder`: turns texts into vectors, in place of an installed one (`install_meaning`).
        `uses_meaning`: False if searches should not load an encoder, which takes a tenth of a
        second.
        """
        url = path_text(save_dir)
        self.settings = settings or load(os.environ, {"dir": url})
        self._project = (self.settings["project"] or None) if project is None else project
        self._folder = folder
        self._records_location = records_location
        self._recognition: Recognition | None = None
        self._client = _client(client, at_work)
        self._readings = _reading_record() if self._client.reads_first else None
        self._clock = clock
        self._draw = draw
        self._url: str = self.settings["dir"] if url is None else url
        if store is None:
            store = open_store(self._url, KINDS, self._import_edit, short_lived=short_lived)
        self._given_encoder = encoder
        self._encoder_path = store.directory and os.path.join(store.directory, ENCODER_FILE)
        self._uses_meaning = uses_meaning
        self._transactions = Transactions(
            store, auto_save=auto_save, finish_purge=self._finish_purge
        )

    @classmethod
    def open(cls, url: StrPath, **options: Any) -> Self:
        """Open the shelf at a URL: a directory, or ``memory:``."""
        return cls(url, **options)

    @property
    def project(self) -> str:
        """The id of the project that new memories belong to; "" for none."""
        if self._project is None:
            try:
                self._recognition = self._recognize(self._folder)
            except StoreError:  # the operation itself reports it
                if self._caller is not None:
                    raise
                return current_project(self._folder)
            self._project = self._recognition.location.project if self._recognition else ""
        return self._project

    @project.setter
    def project(self, project: str) -> None:
        self._project, self._recognition = project, None

    @property
    def location(self) -> str:
        """Where that project lies: its git directory, or a plain folder; "" if it has no place."""
        project = self.project
        return self._recognition.location.path if self._recognition else project

    @property
    def checkout(self) -> str:
        """The folder of the repository's files that someone works in; "" outside of any."""
        project = self.project
        if not project or self._recognition is None or not is_repository(self.location):
            return ""
        return checkout_root(self.working_folder)

    @property
    def working_folder(self) -> str:
        """The directory that someone works in; "/" if it was removed."""
        try:
            return self._folder or ("/" if self._caller else os.getcwd())
        except OSError:
            return "/"

    def project_of(self, folder: str) -> str:
        """The id of the project around a folder; "" if there is none."""
        if self.settings["project"]:
            return str(self.settings["project"])
        recognition = self._recognize(folder)
        return recognition.location.project if recognition else ""

    def for_project(self, name: str) -> Self:
        """The same shelf for someone who works in another project: its folder, its id, the name of
        its folder, or "" for none."""
        view = object.__new__(type(self))
        vars(view).update(vars(self), _recognition=None, _project="")
        if os.path.isabs(name) and os.path.isdir(name):
            view._project, view._folder = None, name
        elif name:
            with self._transactions.reading() as current:
                owners = [project for project in current.state.notes.projects() if project]
            view._project = name if name in owners else find_project(name, owners)
        return view

    @property
    def recognition(self) -> "Recognition | None":
        """How the project was recognized, if a person should hear of it."""
        known = self._recognition
        return known if known and (known.moved_from or known.question) else None

    def record_location(self) -> None:
        """Record where the project lies now, so that the person is told and asked only once."""
        if self._recognition is not None:
            here = self._recognition.location._replace(is_asked=True)
            self._recognition = Recognition(here)
            self._transactions.update(
                "recognize_project",
                self._client.name,
                lambda: (Changes(marks={here.mark: here.to_json()}), None),
            )

    def known_location(self) -> "Location | None":
        """What is known of the place that the project was recognized by."""
        if not self.project or self._recognition is None:
            return None
        if self._caller is not None:
            return self._recognition.location
        return with_evidence(self._recognition.location, self._url)

    def forget_recognition(self) -> None:
        """Recognize the project again when it is next asked for, because its record has changed."""
        self._project, self._recognition = None, None

    def _recognize(self, folder: str | None) -> "Recognition | None":
        with self._transactions.reading() as view:
            notes = view.state.notes
            if self._caller is not None:
                place = self._caller.place
                return place and recognize_place(place, view.state.marks, notes.projects)
            return recognize_project(folder, view.state.marks, notes.projects, self._url)

    def _unrecorded_location(self) -> "Location | None":
        """Where the project lies, if that has to be written down with its next memory."""
        if not self._records_location or not self.project or self._recognition is None:
            return None
        here = self._recognition.location
        with self._transactions.reading() as view:
            if self._caller is not None:
                return None if is_recorded(here, view.state.marks) else here
            self._records_location = needs_recording(here, view.state.marks)
        return with_evidence(here, self._url) if self._records_location else None

    def for_client(self, client: str | Client, *, at_work: bool = False) -> Self:
        """The same shelf for another client of this process, on the same store."""
        client = _client(client, at_work)
        if client.reads_first and self._readings is None:
            self._readings = _reading_record()
        view = object.__new__(type(self))
        vars(view).update(vars(self), _client=client)
        return view

    def for_caller(self, caller: "Caller") -> Self:
        """The same shelf for a client on another machine. No file is read at its word."""
        view = self.for_client(caller.client)
        vars(view).update(
            _caller=caller,
            _project=caller.project,
            _recognition=None,
            _folder=None,
            _records_location=True,
        )
        return view

    @property
    def client_name(self) -> str:
        """The name of this client in the history."""
        return self._client.name

    def close(self) -> None:
        """Save unsaved changes and close the files. Using the shelf again reopens it.

        `Conflict` names changes that do not fit what others wrote meanwhile; only these are left
        unsaved.
        """
        self._transactions.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside comes from one revision, and a repeated query is parsed once.
        Write nothing inside."""
        with self._transactions.reading_indexes():
            yield

    def needs_migration(self) -> bool:
        """Will the first operation migrate tables or index all notes, which may take long?"""
        return self._transactions.store.needs_migration()

    def change_counter(self) -> int:
        """A number that changes when anyone may have written; cheap to ask for often."""
        return self._transactions.store.change_counter()

    def load_all(self) -> None:
        """Read the current state. Every call does so anyway."""
        with self._transactions.reading():
            pass

    def save_all(self) -> None:
        """Write all unsaved changes as one commit, or none.

        If someone else meanwhile changed the same memory, `Conflict` names it, nothing is written,
        and everything stays unsaved: `discard_unsaved` drops what should not be saved. The
        documented files of a small shelf are current after it.
        """
        self._transactions.save()
        self._transactions.store.follow_exports()

    def discard_unsaved(self, name: str | None = None) -> None:
        """Drop all changes that `save_all` would write, or only those of what a `Conflict` names
        (the id of a note, a nugget) and those that build on them."""
        self._transactions.discard(name)

    def batch(self) -> AbstractContextManager[None]:
        """Write all changes inside as one commit at the end; after an error inside, none of them.

        A batch belongs to the thread, or asyncio task, that opened it. Others can read meanwhile;
        their writes wait for its end, and fail with `StoreBusy` if that takes too long. So inside a
        batch, `await` nothing, and wait for no other thread that writes.
        """
        return self._transactions.batch()

    @property
    def _defers_writes(self) -> bool:
        """Is this a batch, or are operations written later?"""
        return self._transactions.defers_writes

    def _update(
        self, action: str, decide: "Callable[[Decisions], Decision[T]]", *, dry_run: bool = False
    ) -> T:
        check_flag(dry_run, "dry_run")
        if dry_run:
            with self._transactions.reading():
                return decide(self._decisions())[1]
        here = self._unrecorded_location()  # git may be asked, so not while others wait
        call = self._caller and self._caller.call

        def decide_now() -> "Decision[T]":  # quoted: it would be computed at every update
            if call:
                from nuggets.operations.idempotent_calls import check_call, record_call

                check_call(call, self._transactions.state.marks)
            now = self._clock()
            changes, result = decide(self._decisions(now))
            if call:
                changes = record_call(call, changes, self._transactions.state, now)
            if here and any(note.project == here.project for note in changes.put):
                changes = changes._replace(marks={**changes.marks, here.mark: here.to_json()})
            return changes, result

        return self._transactions.update(action, self._client.name, decide_now)

    @cached_property
    def _encoder(self) -> "ShelfEncoder":
        from nuggets.engine.shelf_encoder import ShelfEncoder

        return ShelfEncoder(self._encoder_path, self._given_encoder)

    @property
    def has_encoder(self) -> bool:
        """Is there a sentence encoder, installed or given?"""
        return self._given_encoder is not None or os.path.exists(self._encoder_path)

    def _meaning(self, view: View) -> "Meaning | None":
        """How to compare a question with notes by meaning; None if nothing is installed."""
        if not self._uses_meaning or not self.has_encoder:
            return None
        from nuggets.engine.shelf_encoder import INDEX

        if not self._transactions.store.has_index(INDEX):
            return None
        return self._encoder.compare_with(view)

    def nearest_by_meaning(self, text: str, count: int) -> "NearestNotes | None":
        """The notes nearest to a text, with their cosines; None if no note has a vector, or no
        encoder is installed. Loads the encoder even where searches do without it."""
        from nuggets.engine.shelf_encoder import INDEX

        if not self.has_encoder:
            return None
        with self._transactions.reading_indexes() as view:
            if not self._transactions.store.has_index(INDEX):
                return None
            return self._encoder.find_nearest(view, text, count)

    def _decisions(self, now: str | None = None) -> "Decisions":
        from nuggets.operations.decisions import Decisions  # reading needs none of it

        return Decisions(
            self._transactions.state,
            project=self.project,
            client=self._client,
            readings=self._readings,
            now=now or self._clock(),
            draw=self._draw_digits(),
        )

    def _draw_digits(self) -> Callable[[], str]:
        """Draws the digits of new ids: first those that a client on another machine promised."""
        promised = iter(self._caller.digits if self._caller else ())
        return lambda: next(promised, "") or self._draw()

    def _finish_purge(self) -> None:
        """Go on with a purge that was interrupted (`maintenance/maintained_shelf.py`)."""

    def _import_edit(
        self, state: State, base: State | None, edit: ExternalEdit, now: str
    ) -> Changes:
        from nuggets.graph.external_edits import import_edit

        return import_edit(self._draw, state, base, edit, now)


def _client(client: str | Client, at_work: bool) -> Client:
    if isinstance(client, Client):
        return client
    return Client(client, at_work=at_work)


def _reading_record() -> "ReadingRecord":
    from nuggets.operations.read_before_edit import ReadingRecord

    return ReadingRecord()
