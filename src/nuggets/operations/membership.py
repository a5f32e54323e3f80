"""The members of a team's shelf, kept in its marks. Pure: the caller draws the token.

A token names its member (`alice.…`). Only its hash is kept: the token has 256 random bits, so a
plain SHA-256 is enough.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from nuggets.domain.records import Changes, MemoryNote
from nuggets.domain.roles import Member, MemberStatus, Role, checked_member_name, parse_role
from nuggets.domain.visibility import is_private
from nuggets.errors import Conflict, InvalidInput, NotFound

TEAM = "team"  # the mark of a shelf that has, or had, members
_MEMBER = "member:"  # and the name


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


def refuse_private(is_team: Callable[[], bool], notes: Iterable[MemoryNote]) -> None:
    """What is private to one person must not get onto a team's shelf, by whatever door."""
    private = next((note for note in notes if is_private(note)), None)
    if private is not None and is_team():
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
