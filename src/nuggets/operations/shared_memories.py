"""Memories that a repository carries: their file format, and how files and shelf are merged.

Pure. A file's author saw the memory as it was when both sides last agreed (`base`, a digest per
id); only what changed since then is taken over, and what the person changed stays theirs.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nuggets.domain import codec
from nuggets.domain.credentials import credential_kinds, memory_credential_kinds
from nuggets.domain.host_markup import carries_mark
from nuggets.domain.names_and_tags import identity_of
from nuggets.domain.records import Changes, MemoryNote, NuggetConfig
from nuggets.domain.state import State
from nuggets.domain.three_way_merge import are_too_many
from nuggets.domain.visibility import is_observed
from nuggets.errors import InvalidInput
from nuggets.language.text import fold_case, visible
from nuggets.named_tuple import NamedTuple
from nuggets.operations.external_edits import NuggetSpellings
from nuggets.operations.lookups_before_write import FindAnchors, anchor_edit
from nuggets.operations.metadata_inference import is_personal
from nuggets.operations.session_notes import is_session_note

SHARED_SCOPES = ("project", "shared")  # never what is about a person
_NAME = re.compile(r"[^\W_][\w-]{0,127}")
_FIELDS = (
    *("id", "kind", "nuggetName", "title", "content", "tags", "subject", "scope", "type"),
    *("stability", "stabilityGiven", "confidence", "validFrom", "validUntil"),
    *("createdAt", "updatedAt"),
)
_STATEMENT = (  # a change of anything else is no news: the clean-up adds tags on each side
    *("kind", "nugget_name", "title", "content", "subject", "scope", "type", "stability"),
    *("valid_from", "valid_until"),
)

# no file has them
_KEPT = ("kind", "links", "hits", "last_hit_session", "hit_sessions", "created_at", "anchors")

Base = Mapping[str, str]


class SyncResult(NamedTuple):
    """What came in and what went out."""

    added: tuple[MemoryNote, ...] = ()
    updated: tuple[MemoryNote, ...] = ()
    retired: tuple[MemoryNote, ...] = ()
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class SharingPlan(NamedTuple):
    """What taking in a repository's memories changes here, and what both sides agree on then."""

    changes: Changes
    base: dict[str, str]
    came: SyncResult


def is_sharable(note: MemoryNote, project: str) -> bool:
    """May it go into the repository? Never what is a person's, secret, passing or archived."""
    belongs = bool(project) and note.project == project and note.scope in SHARED_SCOPES
    lasts = note.stability == "durable" and not note.hidden and not is_observed(note)
    is_wish = note.source == "explicit_user" and is_personal(f"{note.title}\n{note.content}")
    return belongs and lasts and not is_wish and not is_session_note(note) and not unfitness(note)


def unfitness(note: MemoryNote) -> str:
    """Why a memory may not pass between repository and shelf; "" if it may."""
    if not _NAME.fullmatch(note.id):
        return "its id is no name for a file"
    if note.scope not in SHARED_SCOPES:
        return f"scope {note.scope} is never shared"
    texts = (note.title, note.content, *note.tags)
    if memory_credential_kinds(visible(note.title), visible(note.content)):
        return "it looks like a credential"
    if any(credential_kinds(visible(text)) for text in texts):
        return "it looks like a credential"
    return "it is what memory showed an agent" if any(map(carries_mark, texts)) else ""


def statement_digest(note: MemoryNote) -> str:
    """Equal for two versions that state the same."""
    spelled_alike = note._replace(nugget_name=fold_case(note.nugget_name))
    statement = [getattr(spelled_alike, field) for field in _STATEMENT]
    return hashlib.sha256(codec.dumps(statement).encode(errors="replace")).hexdigest()[:16]


def file_text(note: MemoryNote) -> str:
    """A memory for git: fields in a fixed order, each line of the content on one of its own."""
    shape = codec.note_to_json(note, vector=False)
    fields = {name: shape[name] for name in _FIELDS if shape.get(name) not in (None, [])}
    fields["content"] = note.content.split("\n")
    return json.dumps(fields, ensure_ascii=False, indent=1) + "\n"


def parse_file(name: str, raw: bytes, project: str, now: str) -> MemoryNote:
    """The memory in a file that anyone may have written; `InvalidInput` says what is wrong.

    It belongs to this project and is nobody's word: no hits, links or source come from the file.
    """
    from nuggets.operations.note_completion import complete_note, name_note
    from nuggets.operations.notes_and_links import check_note_limits
    from nuggets.stores.json_validation import check_note, check_savable

    where = f"{name!r:.80}"
    shape = codec.loads(raw, where)
    if not isinstance(shape, dict) or shape.get("id") != name:
        raise InvalidInput(f"{where}: 'id' is not the name of the file")
    fields: dict[str, Any] = {field: shape[field] for field in _FIELDS if field in shape}
    if isinstance(fields.get("content"), list):
        fields["content"] = "\n".join(map(str, fields["content"]))
    fields |= {"project": project, "source": "inferred"}
    check_savable(fields, where)
    note = complete_note(name_note(check_note(fields, where), where), now)
    check_note_limits(note)
    reason = unfitness(note) or ("" if note.stability == "durable" else "it does not last")
    if reason:
        raise InvalidInput(f"{where}: {reason}")
    return note


class RepositoryIntake:
    """Takes over what a repository's memories say since both sides last agreed: one pass."""

    def __init__(
        self, state: State, project: str, base: Base, now: str, find_anchors: FindAnchors
    ) -> None:
        self._find_anchors = find_anchors
        self._state = state
        self._project = project
        self._now = now
        self._base_before = base
        self._base = dict(base)
        facts = state.notes.find(project=project, kind="fact")
        self._keys = {identity_of(fact): fact.id for fact in facts if not fact.hidden}
        self._names = NuggetSpellings(state)
        self._put: dict[str, MemoryNote] = {}
        self._added: list[MemoryNote] = []
        self._updated: list[MemoryNote] = []
        self._problems: list[str] = []

    def plan(self, notes: Sequence[MemoryNote], unread: Iterable[str]) -> SharingPlan:
        """`unread`: names of files that are there and could not be read."""
        for note in notes:
            self._take(note)
        retired = self._retire({*(note.id for note in notes), *unread})
        new_nuggets = tuple(map(NuggetConfig, self._names.new))
        changes = Changes(put=tuple(self._put.values()), put_nuggets=new_nuggets)
        came = SyncResult(tuple(self._added), tuple(self._updated), tuple(retired))
        return SharingPlan(changes, self._base, came._replace(problems=tuple(self._problems)))

    def _take(self, note: MemoryNote) -> None:
        digest, ours = statement_digest(note), self._state.notes.get(note.id)
        agreed = self._base_before.get(note.id)
        if ours is None:
            if agreed is None and self._is_key_free(note):  # else the person deleted it, or has own
                self._accept(note, digest)
                self._added.append(note)
        elif ours.project != self._project or ours.scope not in SHARED_SCOPES:
            self._problems.append(f"{note.id!r:.80}: another memory of yours has this id")
        elif statement_digest(ours) == digest:
            self._base[note.id] = digest
            if agreed is None and ours.hidden:  # retired before, and back
                self._put[note.id] = ours._replace(hidden=False, archived_at=None)
        elif agreed == statement_digest(ours) and self._is_key_free(note) and not ours.hidden:
            merged = note._replace(**{field: getattr(ours, field) for field in _KEPT})
            merged = anchor_edit(self._find_anchors, self._state, ours, merged)
            self._accept(merged._replace(updated_at=self._now), digest)
            self._updated.append(merged)

    def _is_key_free(self, note: MemoryNote) -> bool:
        return note.kind != "fact" or self._keys.get(identity_of(note), note.id) == note.id

    def _accept(self, note: MemoryNote, digest: str) -> None:
        self._put[note.id] = note = self._names.apply(note)
        self._base[note.id] = digest
        if note.kind == "fact":
            self._keys[identity_of(note)] = note.id

    def _retire(self, present: set[str]) -> list[MemoryNote]:
        """Archive memories whose files are gone, unless so many are gone that nobody meant it."""
        gone = [note_id for note_id in self._base_before if note_id not in present]
        if are_too_many(len(gone), len(self._base_before)):
            self._problems.append(
                f"{len(gone)} of {len(self._base_before)} shared memories are gone at once, as "
                "after a switch of branches: none was archived"
            )
            return []
        retired = []
        for note_id in gone:
            ours = self._state.notes.get(note_id)
            del self._base[note_id]
            if ours is None or ours.hidden:
                continue
            if statement_digest(ours) == self._base_before[note_id]:
                archived = ours._replace(hidden=True, archived_at=self._now)
                self._put[note_id] = archived
                retired.append(archived)
        return retired


class ExportPlan(NamedTuple):
    """The files to write, by name, those to remove, and what both sides agree on then."""

    texts: dict[str, str]
    removed: list[str]
    base: dict[str, str]


def plan_export(state: State, project: str, notes: Iterable[MemoryNote], base: Base) -> ExportPlan:
    """Bring the files up to what is here. `notes`: what the files say now."""
    in_files = {note.id: statement_digest(note) for note in notes}
    sharable = {
        note.id: note for note in state.notes.find(project=project) if is_sharable(note, project)
    }
    texts = {
        note_id: file_text(note)
        for note_id, note in sorted(sharable.items())
        if in_files.get(note_id) != statement_digest(note)
    }
    removed = [
        note_id
        for note_id, digest in base.items()
        if note_id not in sharable and in_files.get(note_id) == digest
    ]
    agreed = {note_id: statement_digest(note) for note_id, note in sharable.items()}
    others = {i: d for i, d in base.items() if i not in sharable and i not in removed}
    return ExportPlan(texts, removed, {**others, **agreed})
