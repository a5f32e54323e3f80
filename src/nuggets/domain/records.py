"""The records that move between rooms. All frozen; none knows a file, a clock or another room.

NamedTuples rather than dataclasses: a cold command builds them in a third of the time.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NoReturn, Self, get_args

from nuggets.domain.limits import Address, Count, Limit, Moment, Share
from nuggets.language.text import first_words, words
from nuggets.named_tuple import NamedTuple

MemoryScope = Literal["self", "user", "shared", "project", "session"]
MemoryType = Literal[
    "fact", "note", "preference", "reflection", "self_model", "project", "relationship", "style"
]
MemorySource = Literal[
    "explicit_user", "agent_reflection", "tool_observation", "inferred", "system"
]
MemoryStability = Literal["temporary", "durable"]
NoteKind = Literal["fact", "note"]
MatchKind = Literal["exact", "substring", "fuzzy"]
HitKind = Literal["", "recalled", "opened", "injected", "cited", "answered"]
ReflectionKind = Literal["rewrite", "merge", "hide", "tag", "link"]
Role = Literal["reader", "writer", "owner"]  # of a member of a team

# In the order in which the database numbers them: new ones come last.
SCOPES: tuple[MemoryScope, ...] = get_args(MemoryScope)
TYPES: tuple[MemoryType, ...] = get_args(MemoryType)
SOURCES: tuple[MemorySource, ...] = get_args(MemorySource)
STABILITIES: tuple[MemoryStability, ...] = get_args(MemoryStability)
KINDS: tuple[NoteKind, ...] = get_args(NoteKind)
ROLES: tuple[Role, ...] = get_args(Role)  # from least to most

# Marks of fields, beside their types: how the documented JSON has them.
SPARSE = "left out if there is none"
INTERNAL = "never in it"

# Sessions that must have recalled a memory before it is promoted, unless the setting
# `promote_after` says otherwise: once is chance, twice is coincidence.
PROMOTE_THRESHOLD = 3


class _Nothing(dict[str, Any]):
    """A dict that stays empty: one object stands in every record, of every thread and shelf."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("records are frozen; make another one with _replace")

    __setitem__ = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> str:
        return "NO_EXTRA"  # copied and pickled as the one that it is


NO_EXTRA: Mapping[str, Any] = _Nothing()


OptionalText = Annotated[str | None, SPARSE]
Extra = Annotated[Mapping[str, Any], INTERNAL]


class NuggetConfig(NamedTuple):
    """How one nugget's fact memory is built; what its file says wins."""

    name: str
    # between which bounds its fact memory can be built
    dims: Annotated[int, Limit(2, 1 << 20)] = 16384
    banks: Annotated[int, Limit(1, 256)] = 4
    ensembles: Annotated[int, Limit(1, 64)] = 1
    max_facts: Annotated[int, Limit(0, 1 << 53)] = 0  # 0: no limit
    sharpen_p: Annotated[float, Limit(0, 8)] = 1.0  # sharper, and a full page decodes wrongly
    corvacs_a: Annotated[float, Limit(0, 1_000_000)] = 0.0
    temperature: Annotated[float, Limit(0, 1_000_000)] = 0.9
    ortho_iters: Annotated[int, Limit(0, 32)] = 1
    fuzzy_threshold: Share = 0.55
    extra: Mapping[str, Any] = NO_EXTRA  # unknown fields of its file, kept


# Reasons of links.
DEFAULT_REASON = "related"
SUPERSEDES = "supersedes"  # to what a memory took the place of
CONTRADICTS = "contradicts"  # between two memories that cannot both hold


class NoteLink(NamedTuple):
    """One direction of a link; the other end holds the same reason and time."""

    to: str
    reason: str = ""
    created_at: str = ""


class NoteVectorSpec(NamedTuple):
    """The recipe from which a note's vector grows again."""

    seed: int  # length of the joined basis: informational
    basis: tuple[str, ...]  # at most 20 strings such as "title:auth"


class NoteMetadata(NamedTuple):
    """What a memory is about and how far to trust it."""

    subject: str
    scope: MemoryScope
    type: MemoryType
    source: MemorySource
    confidence: float  # in [0, 1]
    stability: MemoryStability


class Anchor(NamedTuple):
    """A place in a repository that a memory is about, as it was when the memory was kept."""

    path: Address  # from the root of the checkout; "": it is about a branch
    line: Annotated[Count, SPARSE] = 0  # 0: no line is named
    lines: Annotated[tuple[str, ...], SPARSE] = ()  # fingerprints
    symbols: Annotated[tuple[str, ...], SPARSE] = ()  # names that stand in the file
    size: Annotated[Count, SPARSE] = 0
    modified: Annotated[Count, SPARSE] = 0  # nanoseconds
    commit: Annotated[Address, SPARSE] = ""  # that was checked out
    branch: Annotated[Address, SPARSE] = ""


class MemoryNote(NamedTuple):
    """One memory: a fact (title = key, content = value) or a free-form note."""

    id: str
    nugget_name: str
    title: str
    content: str
    kind: NoteKind
    subject: str
    scope: MemoryScope
    type: MemoryType
    source: MemorySource
    confidence: float
    stability: MemoryStability
    created_at: str
    updated_at: str
    last_accessed_at: str
    tags: tuple[str, ...] = ()
    links: tuple[NoteLink, ...] = ()
    hidden: bool = False
    source_key: OptionalText = None
    hits: Count = 0  # distinct sessions that recalled it
    last_hit_session: str = ""
    hit_sessions: tuple[str, ...] = ()  # the last 64 of them
    last_rewritten_at: OptionalText = None
    archived_at: OptionalText = None
    last_inspected_at: OptionalText = None
    project: str = ""  # "": everywhere
    extra: Extra = NO_EXTRA  # unknown fields of its file, kept
    valid_from: OptionalText = None  # when what it says became true; None: when it was written
    valid_until: OptionalText = None  # when it ceases, or ceased, to be true
    supersedes: Annotated[tuple[str, ...], SPARSE] = ()  # ids of notes that it took the place of
    anchors: Annotated[tuple[Anchor, ...], SPARSE] = ()  # what it names of its repository
    # someone said how durable it is; else it follows from the key
    stability_given: Annotated[bool, SPARSE] = False

    @property
    def key(self) -> str:
        """What a fact is recalled by."""
        return self.title

    @property
    def value(self) -> str:
        """What a fact answers."""
        return self.content

    @property
    def metadata(self) -> NoteMetadata:
        return NoteMetadata(
            self.subject, self.scope, self.type, self.source, self.confidence, self.stability
        )

    @property
    def vector(self) -> NoteVectorSpec:
        """Derived from the note whenever it is asked for, so it never falls out of step."""
        return vector_spec(self)


class GraphNoteMetaInput(NamedTuple):
    """Metadata given explicitly; what stays None is inferred."""

    subject: str | None = None
    scope: MemoryScope | None = None
    type: MemoryType | None = None
    source: MemorySource | None = None
    confidence: Share | None = None
    stability: MemoryStability | None = None
    project: Address | None = None
    valid_from: Moment | None = None  # "" takes it away, as for valid_until
    valid_until: Moment | None = None
    supersedes: str | None = None  # id or title of the memory that this one takes the place of


class NoteFilterOptions(NamedTuple):
    """Filters for notes: each compares exactly, all must hold, None is no filter."""

    include_hidden: bool = False
    subject: str | None = None
    scope: MemoryScope | None = None
    type: MemoryType | None = None
    nugget: str | None = None
    tag: str | None = None
    kind: NoteKind | None = None


class WrittenNote(MemoryNote):
    """A note as an operation left it, and what it took the place of."""

    is_new: bool = False
    replaced: MemoryNote | None = None  # its version before; None if nothing changed
    contradicts: tuple[MemoryNote, ...] = ()  # other memories, of which both cannot hold

    @classmethod
    def from_note(
        cls, note: MemoryNote, *, is_new: bool = False, replaced: MemoryNote | None = None
    ) -> Self:
        written = cls._make(note)
        written.is_new = is_new
        written.replaced = None if replaced == note else replaced
        return written

    @property
    def replaced_content(self) -> str | None:
        """What it said before, if that was something else."""
        before = self.replaced
        return None if before is None or before.content == self.content else before.content


class Touch(NamedTuple):
    """A memory was shown to someone; a session not yet counted for it makes this a hit."""

    note_id: str
    session: str  # "" moves the time of last access and counts nothing
    at: str
    kind: HitKind = ""  # how the memory answered; "" if that is not known


class Changes(NamedTuple):
    """The one currency between rooms: what becomes different, and what it was before.

    Stores read and write it, indexes apply it, history and undo are made of it.
    """

    put: tuple[MemoryNote, ...] = ()
    drop: tuple[str, ...] = ()  # note ids
    put_nuggets: tuple[NuggetConfig, ...] = ()
    drop_nuggets: tuple[str, ...] = ()  # names; their notes are dropped by id as well
    touches: tuple[Touch, ...] = ()
    marks: Mapping[str, Any] = NO_EXTRA  # small named JSON values; None takes one away
    action: str = ""  # the verb that made it, for the history
    client: str = ""  # the door it came through


NO_CHANGES = Changes()


class ReflectionChange(NamedTuple):
    """One thing a pass did, in words."""

    type: ReflectionKind
    nugget_name: str
    note_id: str
    detail: str
    # the other notes that this is only true together with
    partners: Annotated[tuple[str, ...], INTERNAL] = ()


class ReflectionResult(NamedTuple):
    """Everything one clean-up pass changed."""

    ran_at: str
    inspected: int = 0
    rewritten: int = 0
    merged: int = 0
    hidden: int = 0
    tagged: int = 0
    linked: int = 0
    changes: tuple[ReflectionChange, ...] = ()


class DailyRun(NamedTuple):
    """One daily clean-up: a calendar day has one, whoever was up."""

    date: str  # local, such as 2026-01-31
    result: ReflectionResult
    promoted: int = 0  # new lines in memory files


class LeftNote(NamedTuple):
    """A note that the undo of a clean-up left as it is."""

    note_id: str
    title: str
    reason: str
    revision: int = 0  # of the last change since; 0 if there is none


class Commit(NamedTuple):
    """One step of a shelf's history."""

    revision: int
    at: str
    changes: Changes
    before: Changes = Changes()  # what leads back; left out where nobody wants to go back
    left: tuple[LeftNote, ...] = ()  # of an undone commit: what is not taken back, and not in it


class EarlierImage(NamedTuple):
    """A note before a commit changed it."""

    note: MemoryNote | None  # None: it was not there
    until: str | None  # when it was changed; None: never


class MemoryVersion(NamedTuple):
    """What a memory said for a time."""

    note: MemoryNote  # as it was then
    valid_from: str
    valid_until: str | None  # None: to this day


class CommitSummary(NamedTuple):
    """A step of the history without what it changed: who did what, and when."""

    revision: int
    at: str
    action: str
    client: str
    notes: int  # how many it put or dropped
    changes_nuggets: bool
    touches: tuple[Touch, ...]


class ExternalEdit(NamedTuple):
    """A documented file as a person or another program left it: of the graph, or of a nugget. Or
    some notes of a copy that has each by itself."""

    revision: int  # that it showed before it was edited; 0: not known
    notes: tuple[dict[str, Any], ...] = ()
    removed: tuple[str, ...] | None = None  # of some notes: ids; None: all that the file lacks
    nugget: NuggetConfig | None = None  # None: the graph's file
    facts: tuple[dict[str, Any], ...] = ()  # key, value, hits, last_hit_session and what else


class Defect(NamedTuple):
    """One thing in a shelf's files or tables that is not as it should be."""

    kind: str
    path: str
    problem: str
    remedy: str  # what a repair does about it; "" if it leaves that to a person
    harmful: bool  # the shelf does not work, or something was lost
    mended: bool = False


class ExportsStatus(NamedTuple):
    """How far the documented files are."""

    revision: int  # that they show; 0: there are none yet
    behind: int  # changes since then; hits are as of that revision
    saved_at: str  # moment of that revision


class NuggetStatus(NamedTuple):
    """How full a nugget is."""

    name: str
    fact_count: int
    note_count: int  # visible notes, without facts
    dimension: int
    banks: int
    ensembles: int
    capacity: int  # facts that one superposition of its banks holds
    capacity_used_pct: float  # one decimal
    capacity_warning: str  # "" below 80 %
    max_facts: int


class CopyIndex(NamedTuple):
    """What a copy on another machine should hold, to be compared with what it holds."""

    notes: Mapping[str, str]  # their digests by id, the one used last first
    nuggets: tuple[NuggetConfig, ...]


class ProjectStatus(NamedTuple):
    """What belongs to one repository."""

    project: str
    fact_count: int  # visible ones, like the notes
    note_count: int
    locations: tuple[str, ...] = ()  # where it was seen last, as far as that is recorded


class ProjectMove(NamedTuple):
    """What belonged to one repository and belongs to another now."""

    old: str
    new: str
    moved: tuple[MemoryNote, ...]
    left: tuple[MemoryNote, ...]  # facts by keys that the other one has facts of its own for


class Member(NamedTuple):
    """Someone who talks to the server of a team."""

    name: str
    role: Role


class MemberStatus(NamedTuple):
    """A member as the list of members shows them."""

    name: str
    role: Role
    since: str  # when the present token was made
    revoked_at: str = ""


class Intake(NamedTuple):
    """What another memory brought when it was taken in."""

    added: tuple[MemoryNote, ...]
    updated: tuple[MemoryNote, ...]  # as they are now: what they said there was newer
    linked: int  # notes that were here and got links
    same: int  # known here
    older: int  # changed here since they were there
    deleted: int  # taken away here since they were changed there
    refused: tuple[str, ...] = ()  # records that no shelf could have written, and what is wrong


# Fewer than 1 of 200 unrelated questions reach it: `python -m benchmarks.recall`.
RECALL_MIN_PROBABILITY = 0.4
# From here an answer counts as a hit: 0.92 is the only key that has the word that was asked for.
CLEAR_PROBABILITY = 0.85


class RecallResult(NamedTuple):
    """What a recall found; a miss is an answer, not an error, and falsy."""

    answer: str = ""
    confidence: Share = 0.0  # in [0, 1]: how surely the value was decoded
    margin: Share = 0.0  # in [0, 1]: distance to the second candidate
    found: bool = False
    key: str = ""
    nugget: str = ""
    match: MatchKind | None = None  # how the query fits the key
    ratio: Share = 0.0  # in [0, 1]; 1 for an exact match
    note_id: str = ""
    project: Annotated[str, SPARSE] = ""  # that the fact belongs to; "": everywhere
    # ids of other facts that the query fits as well, a few of them
    also: Annotated[tuple[str, ...], INTERNAL] = ()
    probability: Share = 0.0  # in [0, 1]: that the answer is what was meant
    # words of the query that the key does not have
    missing: Annotated[tuple[str, ...], SPARSE] = ()
    doubt: Annotated[str, SPARSE] = ""  # why it may not be what was meant
    valid_from: OptionalText = None  # since when it is true, if that is known
    valid_until: OptionalText = None  # until when

    def __bool__(self) -> bool:
        return self.found

    @property
    def is_clear(self) -> bool:
        """Whether it counts as recalled: surely meant, and nothing speaks against it."""
        return self.probability >= CLEAR_PROBABILITY and not self.doubt


class SearchNotesResult(NamedTuple):
    """One note that a search found; all scores lie in [0, 1]."""

    note: MemoryNote
    score: Share  # share among the best twenty of this search (softmax); no probability
    vector_score: Share
    text_score: Share
    relevance: Share  # comparable between queries
    # share of the question that the note states in its own words
    stated: Annotated[float, INTERNAL] = 0.0
    clear_answer: bool = False  # whether it answers the question, rather than being near it
    # what a sentence encoder adds to the relevance, if one is installed
    meaning: Annotated[float, SPARSE] = 0.0
    # whether notes know little of the question, and then those of its words that some note has; and
    # always those that none has
    little_found: Annotated[bool, SPARSE] = False
    known_words: Annotated[tuple[str, ...], SPARSE] = ()
    unknown_words: Annotated[tuple[str, ...], SPARSE] = ()


BASIS_LENGTH = 20  # strings in a stored recipe, as documented
BASIS_SHARE = 5  # of them the title, the tags and the links have at most: each kind is documented


def vector_spec(note: MemoryNote) -> NoteVectorSpec:
    """Title, tags, metadata, links and as much content as fits, each marked with its field."""
    basis = dict.fromkeys(
        [
            *[f"title:{word}" for word in words(note.title)[:BASIS_SHARE]],
            *[f"tag:{tag}" for tag in note.tags if ":" not in tag][:BASIS_SHARE],
            f"kind:{note.kind}",
            f"scope:{note.scope}",
            f"type:{note.type}",
            *[f"link:{link.to}" for link in note.links[:BASIS_SHARE]],
        ]
    )
    room = BASIS_LENGTH - len(basis)
    chosen = (*basis, *(f"content:{word}" for word in first_words(note.content, room)))
    return NoteVectorSpec(seed=len("|".join(chosen)), basis=chosen)
