"""Who may write what: the clients of a shelf, and the members of a team.

Every door names its client (`COMMAND`, `PAGE`, `AGENT`, `HOOK`); the rules are here and in
`operation_changes`, never in a door.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from nuggets.domain import times
from nuggets.domain.limits import Limit, Session
from nuggets.domain.records import (
    ROLES,
    Changes,
    GraphNoteMetaInput,
    Member,
    MemberStatus,
    MemoryNote,
    MemorySource,
    Role,
)
from nuggets.domain.visibility import is_private
from nuggets.errors import Conflict, InvalidInput, NotFound, RefusedText
from nuggets.language.text import visible
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

AGENT_CHARACTERS = 40  # of an agent's name in the history, where it stands beside what was done
CLIENT_CHARACTERS = AGENT_CHARACTERS + 20  # with the name of the door


class Client(NamedTuple):
    """What one door may write. The default is a Python program, which has no restrictions."""

    name: Annotated[str, Limit(1, CLIENT_CHARACTERS)]  # for the history
    at_work: bool = False  # in the project, so what it learns is the project's
    source: MemorySource | None = None  # whose word its texts are, unless it says otherwise
    refuses_credentials: bool = False  # a person can insist, on the command line
    is_unattended: bool = False  # no person looks: nothing that memory itself showed
    keeps_one_copy: bool = False  # a note that says just the same is not made again
    reads_first: bool = False  # replaces only texts that it has read
    compares_all: bool = False  # each text with what it may contradict, not plain rules alone
    is_remote: bool = False  # its files are on another machine
    session: Session = ""  # the conversation, for a door that serves several


COMMAND = Client("cli", at_work=True, refuses_credentials=True, keeps_one_copy=True)
PAGE = Client("page", refuses_credentials=True, keeps_one_copy=True, compares_all=True)
HOOK = Client("hook", at_work=True, refuses_credentials=True, is_unattended=True)
AGENT = Client(
    "mcp",
    at_work=True,
    source="agent_reflection",
    refuses_credentials=True,
    is_unattended=True,
    keeps_one_copy=True,
    reads_first=True,
    compares_all=True,
)


def name_agent(client: Client, agent: str) -> Client:
    """The client in the name of an agent, as its host calls it; "" if nobody says."""
    name = " ".join(visible(agent).split())[:AGENT_CHARACTERS].rstrip()
    return (
        client._replace(name=f"{name} ({client.name})") if name not in ("", client.name) else client
    )


def name_member(client: Client, member: str) -> Client:
    """The client in the name of a member of a team: `alice (page)`, `alice: Claude Code (mcp)`."""
    names_agent = client.name.endswith(")")
    name = f"{member}: {client.name}" if names_agent else f"{member} ({client.name})"
    return client._replace(name=name, is_remote=True)


def is_of_member(client_name: str, member: str) -> bool:
    """Whether the history names this member as the one who wrote."""
    return client_name.startswith((f"{member}: ", f"{member} ("))


def attribute_text(
    client: Client, given: GraphNoteMetaInput, *, is_new: bool
) -> GraphNoteMetaInput:
    """Whose word a text is: an agent's guess must not read as the user's word, nor be trusted
    like it. A text that stays the same stays the word of whoever said it first."""
    if client.source is None or (given.source is None and not is_new):
        return given
    source = given.source or client.source
    from nuggets.operations.metadata_inference import CONFIDENCES

    confidence = CONFIDENCES[source] if given.confidence is None else given.confidence
    return given._replace(source=source, confidence=confidence)


def move_with_scope(
    note: MemoryNote, given: GraphNoteMetaInput, project: str
) -> GraphNoteMetaInput:
    """A memory that is said to be about a person is so everywhere, and the other way round."""
    if given.scope is None or given.project is not None:
        return given
    from nuggets.operations.metadata_inference import default_project

    home = default_project(given.scope, project)
    return given if bool(home) == bool(note.project) else given._replace(project=home)


# --- reading before editing -------------------------------------------------------------------

NOTES_KEPT = 1000  # what was read longer ago is forgotten, in a server that runs for months
AT_A_GLANCE = 160  # characters of a note that every index shows


class _Reading(NamedTuple):
    text: int  # the hash of the text that it is of
    until: int  # characters, from the start on without a gap


class ReadingRecord:
    """What each session has read of each note: only a text that was read may be replaced. The
    oldest entries are dropped first."""

    def __init__(self) -> None:
        self._readings: dict[tuple[str, str], _Reading] = {}

    def add(self, session: str, note: MemoryNote, start: int, end: int) -> None:
        """Record that the client was shown, or wrote, this part of the note's text."""
        before, text = self._readings.pop((session, note.id), None), hash(note.content)
        until = before.until if before and before.text == text else 0
        until = max(until, end) if start <= until else until
        self._readings[session, note.id] = _Reading(text, until)
        if len(self._readings) > NOTES_KEPT:
            del self._readings[next(iter(self._readings))]

    def check(self, session: str, note: MemoryNote) -> None:
        """Refuse to replace what was not read, or not as it is now."""
        text = hash(note.content)
        reading = self._readings.get((session, note.id), _Reading(text, AT_A_GLANCE))
        if reading.text != text:
            raise Conflict(
                f"{note.id} was changed at {note.updated_at}, after you read it; "
                "get_note again and repeat your edit on what it says now"
            )
        if reading.until < len(note.content):
            raise Conflict(
                f"{note.id} has {len(note.content)} characters, of which you know the first "
                f"{reading.until} at most: the rest would be lost. get_note it to the end first, "
                "or create_note what is new"
            )


def refuse_if_changed(note: MemoryNote, read_at: "str | datetime") -> None:
    """Raise `Conflict` if an edit is of an older note: `read_at` is its `updated_at` when read."""
    if note.updated_at != times.normalize_time(read_at):
        raise Conflict(
            f"{note.id} was changed at {note.updated_at}, after you read it; "
            "read it again and repeat your edit"
        )


# --- texts that a client may not store --------------------------------------------------------


def refuse_unfit(client: Client, *texts: str) -> None:
    """Refuse what the client may not store: text that memory itself has shown, credentials."""
    if client.is_unattended:
        from nuggets.domain.host_markup import carries_mark  # a person's command needs none of it

        if any(map(carries_mark, texts)):
            raise RefusedText(
                "this text was shown by memory and is stored already; "
                "store only what is new, or edit_note the note it came from"
            )
    refuse_credentials(client, *texts)


def refuse_credentials(client: Client, *texts: str) -> None:
    if not client.refuses_credentials:
        return
    from nuggets.domain.credentials import credential_kinds

    for text in texts:
        kinds = credential_kinds(visible(text))
        if kinds:
            raise RefusedText(
                f"this looks like a credential ({', '.join(sorted(set(kinds)))}) and is not kept; "
                "store where it is found instead. A person can insist on the command line "
                "(--allow-secret)"
            )


# --- members of a team ------------------------------------------------------------------------

# Kept in the marks of the team's shelf. A token names its member (`alice.…`). Only its hash is
# kept: the token has 256 random bits, so a plain SHA-256 is enough.
TEAM = "team"  # the mark of a shelf that has, or had, members
_MEMBER = "member:"  # and the name


MEMBER_NAME_CHARACTERS = 40  # it stands in paths, tokens and each line of the history
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


def new_secret() -> str:
    """256 random bits for a token, as text."""
    from secrets import token_urlsafe

    return token_urlsafe(32)


def allows(role: Role, needed: Role) -> bool:
    """Whether a member with `role` may do what needs the role `needed`."""
    return ROLES.index(role) >= ROLES.index(needed)


def parse_role(word: str) -> Role:
    for role in ROLES:
        if role == word:
            return role
    raise InvalidInput(f"there is no role {word!r:.80}: choose one of {', '.join(ROLES)}")


def checked_member_name(name: str) -> str:
    """The name, if it can stand in a path, in a token and in the history without doubt."""
    if not name or len(name) > MEMBER_NAME_CHARACTERS or not _LETTERS.issuperset(name):
        raise InvalidInput(
            f"the name of a member has 1 to {MEMBER_NAME_CHARACTERS} small letters (a to z), "
            f"digits, - and _; not {name!r:.80}"
        )
    return name


def is_team(marks: Mapping[str, Any]) -> bool:
    """Does the shelf belong to a team? Then nothing on it is private."""
    return bool(marks.get(TEAM))


def add_member(
    marks: Mapping[str, Any],
    name: str,
    role: Role,
    token: str,
    now: str,
    *,
    again: bool,
) -> Changes:
    """`again`: the same person gets a new token, and the old one ends."""
    mark = _MEMBER + checked_member_name(name)
    known = marks.get(mark)
    if known and not again:
        raise Conflict(
            f"{name} is or was a member, and has private memories. `--again` gives the same person "
            "a new token; another person needs another name"
        )
    record = {"role": parse_role(role), "token": _hash(token), "since": now}
    return Changes(marks={TEAM: marks.get(TEAM) or {"since": now}, mark: record})


def revoke_member(marks: Mapping[str, Any], name: str, now: str) -> Changes:
    record = marks.get(_MEMBER + name)
    if not record:
        raise NotFound(f"there is no member {name!r:.80}; see `nuggets member list`")
    if record.get("revoked"):
        return Changes()
    revoked = {"role": record["role"], "since": record["since"], "revoked": now}
    return Changes(marks={_MEMBER + name: revoked})


def find_member(marks: Mapping[str, Any], token: str) -> Member | None:
    """Whose token it is; None if it is nobody's, or no longer anybody's."""
    from hmac import compare_digest

    name = token.partition(".")[0]
    record = marks.get(_MEMBER + name) if name else None
    if not record or "token" not in record:
        return None
    if not compare_digest(record["token"], _hash(token)):
        return None
    return Member(name, record["role"])


def refuse_private_past(notes: Iterable[MemoryNote]) -> None:
    """Members read everything on the shelf and in its history: `notes`, all of these."""
    if any(map(is_private, notes)):
        raise Conflict(
            "this shelf has, or its history had, memories of scope user, self or session, "
            "which are private to one person. Make a new shelf for the team, add members to "
            "it, and import this one (`nuggets --dir NEW import OLD`): private memories stay "
            "here"
        )


def list_members(marks: Mapping[str, Any]) -> list[MemberStatus]:
    names = sorted(mark for mark in marks if mark.startswith(_MEMBER))
    records = [(mark.removeprefix(_MEMBER), marks[mark]) for mark in names]
    return [
        MemberStatus(name, record["role"], record["since"], record.get("revoked", ""))
        for name, record in records
    ]


def refuse_private(marks: Mapping[str, Any], notes: Iterable[MemoryNote]) -> None:
    """What is private to one person must not get onto a team's shelf, by whatever door."""
    private = next((note for note in notes if is_private(note)), None)
    if private is not None and is_team(marks):
        raise InvalidInput(
            f"all members of the team read this shelf, and a memory of scope {private.scope} is "
            "private to one person. Give it scope project or shared, or store it through the "
            "server as a member"
        )


def without_private(
    notes: Sequence[MemoryNote],
) -> tuple[tuple[MemoryNote, ...], tuple[str, ...]]:
    """The notes that a team may see, and what to say of each of the others."""
    refused = tuple(
        f"{note.id}: its scope {note.scope} is private to one person"
        for note in notes
        if is_private(note)
    )
    return tuple(note for note in notes if not is_private(note)), refused


def _hash(token: str) -> str:
    from hashlib import sha256

    return sha256(token.encode(errors="replace")).hexdigest()
