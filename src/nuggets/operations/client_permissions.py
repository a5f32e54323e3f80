"""The clients of a shelf, and what each may write.

Every door names its client (`COMMAND`, `PAGE`, `AGENT`, `HOOK`); the rules are here and in
`decisions`, never in a door.
"""

from typing import Annotated

from nuggets.domain.limits import Limit, Session
from nuggets.domain.records import GraphNoteMetaInput, MemoryNote, MemorySource
from nuggets.language.text import visible
from nuggets.named_tuple import NamedTuple

AGENT_CHARACTERS = 40  # of an agent's name in the history
CLIENT_CHARACTERS = AGENT_CHARACTERS + 20  # with the name of the door


class Client(NamedTuple):
    """What one door may write. The default is a Python program, which has no restrictions."""

    name: Annotated[str, Limit(1, CLIENT_CHARACTERS)]  # for the history
    at_work: bool = False  # in the project, so what it learns is the project's
    source: MemorySource | None = None  # whose word its texts are, unless it says otherwise
    is_unattended: bool = False  # no person looks: no credentials, nothing that memory showed
    keeps_one_copy: bool = False  # a note that says just the same is not made again
    reads_first: bool = False  # replaces only texts that it has read
    compares_all: bool = False  # each text with what it may contradict, not plain rules alone
    is_remote: bool = False  # its files are on another machine
    session: Session = ""  # the conversation, for a door that serves several


COMMAND = Client("cli", at_work=True, keeps_one_copy=True)
PAGE = Client("page", keeps_one_copy=True, compares_all=True)
HOOK = Client("hook", at_work=True, is_unattended=True)
AGENT = Client(
    "mcp",
    at_work=True,
    source="agent_reflection",
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
    from nuggets.graph.metadata_inference import CONFIDENCES

    confidence = CONFIDENCES[source] if given.confidence is None else given.confidence
    return given._replace(source=source, confidence=confidence)


def move_with_scope(
    note: MemoryNote, given: GraphNoteMetaInput, project: str
) -> GraphNoteMetaInput:
    """A memory that is said to be about a person is so everywhere, and the other way round."""
    if given.scope is None or given.project is not None:
        return given
    from nuggets.graph.metadata_inference import default_project

    home = default_project(given.scope, project)
    return given if bool(home) == bool(note.project) else given._replace(project=home)
