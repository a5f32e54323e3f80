"""Every operation of a shelf, one row each: what it changes, what a client of a server does with
it, how the answer of a team's two shelves is made, and which role a member needs.

`RemoteShelf` and `MemberShelf` are made of this table. The protocol between a client and a server
is the public API of `NuggetShelf`; a test compares its names with the rows, so a new method fails
until someone writes its row.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from heapq import merge
from itertools import islice
from typing import Any, Literal, TypeVar

from nuggets.domain.records import (
    NO_EXTRA,
    Commit,
    CommitSummary,
    CopyIndex,
    MemoryNote,
    NuggetStatus,
    ProjectStatus,
    RecallResult,
    ReflectionResult,
    Role,
    SearchNotesResult,
)
from nuggets.domain.visibility import is_foreign
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple

# --- how the answers and the histories of a member's two shelves become one -----------------------
#
# The private shelf's answer comes first. A commit of the team keeps its number; that of a private
# shelf is multiplied by 10⁹. The position in both histories is the sum, and can be split again.


OTHER_FACTS = 5  # that a recall names: more say only that the question was too short
_PRIVATE = 1_000_000_000  # more commits than a team makes, and the product fits into 64 bits
_UNDO = "undo "  # and the number of the commit that was taken back

AnyCommit = TypeVar("AnyCommit", Commit, CommitSummary)


def nothing(answers: Sequence[None]) -> None:
    """Of what is done on both and has no answer."""


def first_there(answers: Sequence[Any]) -> Any:
    """The first that is not None."""
    return next((answer for answer in answers if answer is not None), None)


def all_in_turn(answers: Sequence[Sequence[Any]]) -> list[Any]:
    return [part for answer in answers for part in answer]


def oldest_first(answers: Sequence[Sequence[MemoryNote]]) -> list[MemoryNote]:
    return sorted(all_in_turn(answers), key=lambda note: note.created_at)


def best_recall(answers: Sequence[RecallResult]) -> RecallResult:
    """The most probable one; the member's own, which comes first, if both are as probable."""
    best = max(answers, key=lambda answer: (answer.found, answer.probability))
    others = [answer for answer in answers if answer.found and answer is not best]
    if not best.found or not others:
        return best
    also = (*best.also, *(i for other in others for i in (other.note_id, *other.also)))
    return best._replace(also=also[:OTHER_FACTS])


def add_status(statuses: Sequence[NuggetStatus]) -> NuggetStatus:
    """One status of a nugget that both shelves have; each of them has its own capacity."""
    fuller = max(statuses, key=lambda status: status.capacity_used_pct)
    return fuller._replace(
        fact_count=sum(status.fact_count for status in statuses),
        note_count=sum(status.note_count for status in statuses),
    )


def add_statuses(answers: Sequence[Sequence[NuggetStatus]]) -> tuple[NuggetStatus, ...]:
    by_name: dict[str, list[NuggetStatus]] = {}
    for status in all_in_turn(answers):
        by_name.setdefault(fold_case(status.name), []).append(status)
    return tuple(sorted(map(add_status, by_name.values()), key=lambda status: status.name))


def add_projects(answers: Sequence[Sequence[ProjectStatus]]) -> list[ProjectStatus]:
    """Without the places, which are on the machines of members."""
    by_id: dict[str, ProjectStatus] = {}
    for status in all_in_turn(answers):
        known = by_id.get(status.project, ProjectStatus(status.project, 0, 0))
        by_id[status.project] = known._replace(
            fact_count=known.fact_count + status.fact_count,
            note_count=known.note_count + status.note_count,
        )
    return [by_id[project] for project in sorted(by_id)]


def join_indexes(answers: Sequence[CopyIndex]) -> CopyIndex:
    """Of what both hold, the member's own counts as used last."""
    notes = {note_id: digest for index in answers for note_id, digest in index.notes.items()}
    nuggets = {fold_case(nugget.name): nugget for index in answers for nugget in index.nuggets}
    return CopyIndex(notes, tuple(nuggets.values()))


def add_reflections(results: Sequence[ReflectionResult]) -> ReflectionResult:
    counts = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")
    return results[0]._replace(
        **{name: sum(getattr(result, name) for result in results) for name in counts},
        changes=tuple(change for result in results for change in result.changes),
    )


def merge_results(
    found: Sequence[Sequence[SearchNotesResult]], most: int, project: str
) -> list[SearchNotesResult]:
    """Relevance can be compared between searches; the share cannot, and is shared anew."""

    def rank(result: SearchNotesResult) -> tuple[bool, float]:
        return is_foreign(result.note, project), -result.relevance

    merged = (
        result._replace(score=result.score / len(found)) for result in merge(*found, key=rank)
    )
    return list(islice(merged, most))


def join_revisions(private: int, team: int = 0) -> int:
    return private * _PRIVATE + team


def split_revision(revision: int) -> tuple[int, int]:
    """The revisions of the private shelf and of the team's; the first is 0 for a commit of the
    team."""
    return divmod(revision, _PRIVATE)


def hide_marks(commit: AnyCommit) -> AnyCommit:
    """A commit without marks: hashes of tokens and the calls of others are nobody's history."""
    if isinstance(commit, CommitSummary):
        return commit
    return commit._replace(
        changes=commit.changes._replace(marks={}), before=commit.before._replace(marks={})
    )


def number_commit(commit: AnyCommit) -> AnyCommit:
    """A commit of the private shelf, as the member calls it."""
    commit = commit._replace(revision=join_revisions(commit.revision))
    if isinstance(commit, CommitSummary):
        return commit._replace(action=_number_action(commit.action))
    action = _number_action(commit.changes.action)
    return commit._replace(
        changes=commit.changes._replace(action=action),
        left=tuple(n._replace(revision=join_revisions(n.revision)) for n in commit.left),
    )


def _number_action(action: str) -> str:
    number = action.removeprefix(_UNDO)
    if number == action or not number.isdigit():
        return action
    return f"{_UNDO}{join_revisions(int(number))}"


# --- the table ------------------------------------------------------------------------------------


# "read": changes nothing but the count of recalls. "write": one commit, with an id by which it is
# done once however often it is sent, so that it can wait in a queue. "act": anything else.
Kind = Literal["read", "write", "act"]


class Fixed(NamedTuple):
    """The answer is always this one, because the shelf has no files or no encoder of its own."""

    answer: Any


class Refused(NamedTuple):
    """It is not done, and what to do instead."""

    reason: str


class Both(NamedTuple):
    """Both shelves of a member are asked, and their answers become one. A shelf that does not know
    what is asked for has none; if neither knows, it is `NotFound`."""

    combine: Callable[[Sequence[Any]], Any]


class ByNotes(NamedTuple):
    """The shelf of the notes that are named by these arguments is asked."""

    names: tuple[str, ...]
    archived: bool = False  # of notes with one title, an archived one is meant


# "called": the server does it. "here": the client does, with its own files or with the answers of
# other calls.
Remote = Literal["called", "here"] | Fixed | Refused

# "first_found": the private shelf, else the team's. "by_scope": where a text belongs. "private",
# "team": that shelf alone. "own": written out in `MemberShelf`, or made of operations that are.
Team = (
    Literal["first_found", "by_scope", "private", "team", "own"] | ByNotes | Both | Fixed | Refused
)


class Operation(NamedTuple):
    """One row."""

    name: str
    kind: Kind
    remote: Remote
    team: Team
    role: Role = "reader"  # that a member needs; a preview (`dry_run`) needs none
    role_for_others: Role = "reader"  # where it is not the member's own
    for_others: str = ""  # what that is, in words
    needs_server: bool = False  # a client's local copy cannot answer it
    text: tuple[str, ...] = ()  # the arguments with a text that is written, and its title


class Request(NamedTuple):
    """An operation that is asked for, with its arguments."""

    row: Operation
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = NO_EXTRA
    names: tuple[str, ...] = ()  # of the arguments that the method has, beside self

    @property
    def is_preview(self) -> bool:
        return bool(self.options.get("dry_run"))

    def run_on(self, shelf: Any) -> Any:
        """The answer of a shelf; of an attribute, what it is there."""
        found = getattr(shelf, self.row.name)
        return found(*self.args, **self.options) if callable(found) else found

    def argument(self, name: str) -> Any:
        """What is given for an argument; None if nothing is, or there is no such one."""
        given = dict(zip(self.names, self.args, strict=False))
        return given.get(name, self.options.get(name) if name in self.names else None)

    def metadata(self) -> dict[str, Any]:
        """What is given beyond the arguments that the method names."""
        return {name: value for name, value in self.options.items() if name not in self.names}

    def with_arguments(self, **changed: Any) -> "Request":
        args = tuple(
            changed.pop(name, value) for name, value in zip(self.names, self.args, strict=False)
        )
        return self._replace(args=args, options={**self.options, **changed})


def method_of(row: Operation, on_shelf: Any) -> Any:
    """A method that lets `_answer` of its shelf answer, with the signature that it has on every
    shelf; an attribute, if that is what it is there."""
    if isinstance(on_shelf, property):
        return property(lambda self: self._answer(Request(row)))
    code = on_shelf.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]

    @wraps(on_shelf)
    def run(self: Any, *args: Any, **options: Any) -> Any:
        return self._answer(Request(row, args, options, names))

    return run


NOT_SERVED = Refused("run it where the shelf is kept")  # it concerns the server or all shelves
ON_SERVER = Refused("do this on the machine of the server, with its own --dir")
OF_FILES = Refused("this needs a shelf on this machine; the memory is at the server")
ONE_AT_A_TIME = Refused("a server takes one operation at a time; call them one after the other")
NOTHING, NO, NONE = Fixed(()), Fixed(False), Fixed(None)
LISTS = Both(all_in_turn)
NOTES = Both(oldest_first)
DONE = Both(nothing)
NAMED = ByNotes(("name",))

_ROWS = (
    # --- opening, and for whom ---------------------------------------------------------------
    Operation("open", "read", "here", "own"),
    Operation("close", "act", "here", "own"),
    Operation("server", "read", "here", "team"),
    Operation("client_name", "read", "here", "team"),
    Operation("for_client", "read", "here", "own"),
    Operation("for_project", "read", "here", "own"),
    Operation("for_caller", "read", "here", "own"),
    Operation("snapshot", "read", "here", "own"),
    Operation("load_all", "read", "here", DONE),
    Operation("save_all", "act", NONE, DONE),
    Operation("discard_unsaved", "act", NONE, DONE),
    Operation("batch", "act", ONE_AT_A_TIME, "own", "writer"),
    Operation("needs_migration", "read", NO, "team"),
    Operation("warnings", "read", "here", "own"),
    # --- nuggets -----------------------------------------------------------------------------
    Operation("create", "write", "called", "own", "writer"),
    Operation("get", "read", "called", "first_found"),
    Operation("get_or_create", "write", "called", "own", "writer"),
    Operation("has", "read", "called", Both(any)),
    Operation("remove", "write", "called", Both(sum), "writer"),
    Operation("list", "read", "called", Both(add_statuses)),
    Operation("status", "read", "called", Both(add_status)),
    Operation("size", "read", "called", "own"),
    # --- facts -------------------------------------------------------------------------------
    Operation("remember", "write", "called", "by_scope", "writer", text=("value", "key")),
    Operation("recall", "read", "called", "own"),
    Operation("recall_or_search", "read", "called", "own"),
    Operation("forget", "write", "called", "own", "writer"),
    Operation("facts", "read", "called", NOTES),
    Operation("clear", "write", "called", Both(sum), "writer"),
    # --- notes -------------------------------------------------------------------------------
    Operation("create_note", "write", "called", "by_scope", "writer", text=("content", "title")),
    Operation("get_note", "read", "called", "first_found"),
    Operation("get_notes", "read", "called", "own"),
    Operation("count_hit", "read", "called", "own"),
    Operation("edit_note", "write", "called", NAMED, "writer", text=("content", "title")),
    Operation("record_reading", "read", "here", ByNotes(("note",))),
    Operation("delete_note", "write", "called", NAMED, "writer"),
    Operation("restore_note", "write", "called", NAMED._replace(archived=True), "writer"),
    Operation("add_link", "write", "called", ByNotes(("a", "b")), "writer"),
    Operation("remove_link", "write", "called", ByNotes(("a", "b")), "writer"),
    Operation("merge_notes", "write", "called", ByNotes(("target", "source")), "writer"),
    Operation("list_notes", "read", "called", NOTES),
    Operation("search_notes", "read", "called", "own"),
    Operation("explain", "read", "called", ByNotes(("note_id",))),
    Operation("notes_titled", "read", "called", NOTES),
    Operation("leading_notes", "read", "called", LISTS),
    Operation("caveats", "read", "here", "own"),
    Operation("invalidity", "read", "here", "own"),
    Operation("is_foreign", "read", "here", "own"),
    # --- sessions ----------------------------------------------------------------------------
    Operation("keep_session", "write", "called", "private", "writer"),
    Operation("sessions", "read", "called", "private"),
    Operation("get_session", "read", "called", "private"),
    Operation("search_sessions", "read", "called", "private"),
    # --- history -----------------------------------------------------------------------------
    Operation("revision", "read", "called", "own"),
    Operation("own_revision", "read", "here", "own"),
    Operation("commits", "read", "called", "own"),
    Operation("commit_summaries", "read", "called", "own"),
    Operation("history", "read", "called", "own"),
    Operation("versions", "read", "called", "first_found"),
    Operation("note_at", "read", "called", Both(first_there)),
    Operation("commit", "read", "called", "own"),
    Operation("changes_in_effect", "read", "called", "own"),
    Operation("undoable", "read", "called", "own"),
    Operation("undo", "act", "called", "own", "writer", "owner", "undoing what others did"),
    Operation(
        *("purge", "act", "called", "first_found", "writer"),
        *("owner", "purging what is the team's"),
    ),
    Operation(
        *("purge_fact", "act", "called", "first_found", "writer"),
        *("owner", "purging what is the team's"),
    ),
    Operation("copy_index", "read", "called", Both(join_indexes), needs_server=True),
    # --- looking after it --------------------------------------------------------------------
    Operation("reflect", "act", "called", Both(add_reflections), "writer"),
    Operation("run_daily", "act", "called", NOT_SERVED),
    Operation("last_run", "read", "called", "team"),
    Operation("next_run", "read", "called", "team"),
    Operation("audit", "read", "called", LISTS),
    Operation("checkup", "act", ON_SERVER, NOT_SERVED),
    Operation("import_memories", "act", "called", NOT_SERVED),
    Operation("export", "act", ON_SERVER, NOT_SERVED),
    Operation("export_lines", "read", "here", DONE),
    Operation("exports_status", "read", NONE, NONE),
    Operation("backup", "act", ON_SERVER, NOT_SERVED),
    Operation("restore", "act", ON_SERVER, NOT_SERVED),
    Operation("copy_from", "act", ON_SERVER, NOT_SERVED),
    # --- memory files ------------------------------------------------------------------------
    Operation("promote", "act", OF_FILES, "own", "owner"),
    Operation("promotion", "act", OF_FILES, "own"),
    Operation("pin", "act", OF_FILES, "own"),
    Operation("withdraw_promotion", "act", OF_FILES, NOT_SERVED),
    Operation("memory_path", "read", OF_FILES, "own"),
    Operation("read_memory_file", "read", OF_FILES, "own"),
    Operation("edited_memory_files", "read", NOTHING, NOTHING),
    Operation("import_file_edits", "act", NOTHING, NOTHING),
    Operation("memory_file_problems", "read", Fixed({}), Fixed({})),
    Operation("promoted_blocks", "read", NOTHING, NOTHING),
    Operation("is_promoted", "read", NO, "own"),
    # --- the repository someone works in -----------------------------------------------------
    Operation("project", "read", "called", "own"),
    Operation("location", "read", "here", "team"),
    Operation("checkout", "read", "here", "team"),
    Operation("working_folder", "read", "here", "team"),
    Operation("project_of", "read", "here", NOT_SERVED),
    Operation("recognition", "read", "here", "team"),
    Operation("record_location", "act", "called", NOT_SERVED),
    Operation("projects", "read", "called", Both(add_projects)),
    Operation("move_project", "act", "called", NOT_SERVED),
    Operation("join_project", "act", "called", NOT_SERVED),
    Operation("leave_project", "act", "called", NOT_SERVED),
    Operation("find_moved_files", "read", ON_SERVER, NOT_SERVED),
    Operation("sharing", "act", OF_FILES, NOT_SERVED),
    Operation("sync_shared", "act", NONE, NONE),
    Operation("needs_trust", "read", NO, NO),
    # --- other machines and editors ----------------------------------------------------------
    Operation("vault", "act", OF_FILES, NOT_SERVED),
    Operation("pair", "act", OF_FILES, NOT_SERVED),
    Operation("paired_folders", "read", NOTHING, NOTHING),
    Operation("unpair", "act", OF_FILES, NOT_SERVED),
    # --- members -----------------------------------------------------------------------------
    Operation("is_team", "read", "called", "team", needs_server=True),
    Operation("members", "read", "called", "team", needs_server=True),
    Operation("add_member", "act", "called", "team", "owner"),
    Operation("revoke_member", "act", "called", "team", "owner"),
    Operation("find_member", "read", ON_SERVER, NOT_SERVED),
    # --- encoder -----------------------------------------------------------------------------
    Operation("has_encoder", "read", NO, "team"),
    Operation("encoder", "act", ON_SERVER, NOT_SERVED),
)
OPERATIONS: Mapping[str, Operation] = {row.name: row for row in _ROWS}
CALLABLE = {row.name: row for row in _ROWS if row.remote == "called"}  # at a server, by a client
