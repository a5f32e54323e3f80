"""What is looked up about a text before its write is decided: what it contradicts, and which files
it names. The links that mark contradictions.

The lookups run outside of the transaction; cheap tests of the text tell whether they are worth it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from nuggets.domain.marks import RejectedChange, read_rejected
from nuggets.domain.records import CONTRADICTS, Anchor, MemoryNote
from nuggets.domain.state import State
from nuggets.domain.visibility import may_be_linked
from nuggets.errors import InvalidInput
from nuggets.named_tuple import NamedTuple
from nuggets.operations.notes_and_links import add_link, remove_link

if TYPE_CHECKING:
    from nuggets.language.equivalence_and_contradiction import Statement
    from nuggets.language.repository_references import References

MOST_CHARACTERS = 2000  # a longer text is an account, not a rule
PLAIN_CHARACTERS = 400  # of a text with a mere sign of a rule, which most accounts have as well
LEAST_WORDS = 3  # a verb, what it is about, and for or against: "never log bodies"

# Most facts are paths, commands and names, without any of these words.
_LISTED_SIGNS = """
accept accepts allow allowed always avoid before disable disabled disallow enable enabled exclude
excluded forbidden hide hidden include included instead keep must never no not off on over prefer
prefers rather reject rejected require required requires should show stop support use without
immer kein keine nicht nie niemals statt  jamais toujours  nunca siempre
"""
_SIGNS = frozenset(_LISTED_SIGNS.split())
_NEGATED = ("n't", "n’t")
_PLACE_WORDS = frozenset(["make", "just", "npm", "pnpm", "yarn", "bun", "branch"])


class WritingContext(NamedTuple):
    """What a shelf looked up for a text that is about to be written."""

    rivals: Sequence[str] = ()  # ids of notes that it may contradict
    anchors: tuple[Anchor, ...] = ()  # what it names of the repository someone works in


NO_CONTEXT = WritingContext()
_PLACE = Anchor._fields.index("size")  # the fields before it say what is named


def may_state_rule(text: str, title: str, *, plain: bool) -> bool:
    """Whether it is worth a search for what it may contradict.

    `plain`: only if a word of a short text says so; else any text that is no account.
    """
    if not isinstance(text, str) or len(text) > (PLAIN_CHARACTERS if plain else MOST_CHARACTERS):
        return False
    words = f"{title} {text}".casefold().split()
    if len(words) < LEAST_WORDS:
        return False
    return (
        not plain or not _SIGNS.isdisjoint(words) or any(word.endswith(_NEGATED) for word in words)
    )


def may_name_place(text: str) -> bool:
    """Whether a text may name a file, a symbol, a command, a version or a branch."""
    text = text[:MOST_CHARACTERS]
    return any(sign in text for sign in "/._`(0123456789") or not _PLACE_WORDS.isdisjoint(
        text.casefold().split()
    )


def same_places(anchors: Sequence[Anchor], others: Sequence[Anchor]) -> bool:
    """Whether they name the same; when, and at which commit, aside."""
    return [anchor[:_PLACE] for anchor in anchors] == [anchor[:_PLACE] for anchor in others]


# What a text names of the files of a note's project, as far as they are at hand.
FindAnchors = Callable[[State, MemoryNote, str], tuple[Anchor, ...]]


def find_no_anchors(state: State, note: MemoryNote, text: str) -> tuple[Anchor, ...]:
    """`FindAnchors` where no files are at hand."""
    return ()


def anchor_edit(
    find: FindAnchors, state: State, before: MemoryNote, after: MemoryNote
) -> MemoryNote:
    """The note after someone edited a file, with the anchors of what it says now: what it names of
    its project, and what it still names that is not there, or not at hand."""
    old, new = (f"{note.title} {note.content}" for note in (before, after))
    if old == new or not (after.anchors or may_name_place(new)):
        return after
    anchors = merge_anchors(find(state, after, new), named_anchors(after.anchors, old, new))
    return after if same_places(anchors, after.anchors) else after._replace(anchors=anchors)


def merge_anchors(anchors: Sequence[Anchor], others: Sequence[Anchor]) -> tuple[Anchor, ...]:
    """The anchors, and the others of places that these do not have."""
    places = {_place_of(anchor) for anchor in anchors}
    return (*anchors, *(anchor for anchor in others if _place_of(anchor) not in places))


def _place_of(anchor: Anchor) -> tuple[str, str]:
    return anchor.path, "" if anchor.path else anchor.branch


def named_anchors(anchors: Sequence[Anchor], before: str, after: str) -> tuple[Anchor, ...]:
    """The anchors that were made of a text and that its new version still names."""
    if not anchors:
        return ()
    from nuggets.language.repository_references import read_references  # few texts have anchors

    old, new = read_references(before), read_references(after)
    return tuple(anchor for anchor in anchors if _is_named(anchor, old, new))


def _is_named(anchor: Anchor, old: "References", new: "References") -> bool:
    if not anchor.path:
        return anchor.branch in new.branches
    was, now = (
        {line for path, line in text.files if f"/{path}".endswith(f"/{anchor.path}")}
        for text in (old, new)
    )
    if not was:  # a command or a version is named, and the file defines it
        return (old.targets, old.versions) == (new.targets, new.versions)
    # without a line of its own its fingerprints are of lines with the numbers of the text
    states_same = bool(anchor.line) or not anchor.lines or old.numbers == new.numbers
    return anchor.line in now and states_same and set(anchor.symbols) <= set(new.symbols)


# --- contradictions ---------------------------------------------------------------------------

# The same key of the same nugget is no contradiction: the new value supersedes the old one.
Pair = tuple[MemoryNote, MemoryNote]


def mark_contradictions(
    state: State,
    put: Iterable[MemoryNote],
    note: MemoryNote,
    candidates: Mapping[str, MemoryNote],
    now: str,
) -> tuple[dict[str, MemoryNote], list[MemoryNote]]:
    """The notes to put with the marks of what one of them contradicts, by id; and what that is.

    What a person unlinked is not marked again.
    """
    before, after = note, {other.id: other for other in put}
    linked = state.notes.many(link.to for link in note.links if link.reason == CONTRADICTS)
    others = {**linked, **candidates}
    others.update((i, after[i]) for i in others.keys() & after.keys())
    refused = read_rejected(state)
    opposed = {
        other.id: other
        for other in contradicting_notes(note, others.values())
        if RejectedChange.of_pair("link", note.id, other.id) not in refused
    }
    pairs = [remove_link(note, o, CONTRADICTS) for i, o in linked.items() if i not in opposed]
    for pair in filter(None, pairs):
        note = pair[0]
        after[pair[1].id] = pair[1]
    for other in opposed.values():
        with suppress(InvalidInput):  # it has as many links as there may be
            marked = add_link(note, other, CONTRADICTS, now)
            if marked is not None:
                note = marked[0]
                after[other.id] = marked[1]
    if note != before:
        after[note.id] = note
    return after, [after.get(i, other) for i, other in opposed.items()]


def contradicting_notes(note: MemoryNote, others: Iterable[MemoryNote]) -> list[MemoryNote]:
    """Those of the others that contradict the note."""
    from nuggets.language.equivalence_and_contradiction import contradict  # few writes ask

    own = _statements_of(note)
    if not own:
        return []
    return [
        other
        for other in others
        if other.id != note.id
        and not other.hidden
        and may_be_linked(note, other)
        and any(contradict(a, b) for a in own for b in _statements_of(other))
    ]


def contradicting_pairs(notes: Sequence[MemoryNote]) -> list[Pair]:
    """All pairs of visible notes that contradict each other, each with the earlier one first."""
    by_topic: dict[frozenset[str], list[MemoryNote]] = {}
    found: dict[tuple[str, str], Pair] = {}
    for note in sorted(notes, key=lambda note: note.updated_at):
        topics = {topic for statement in _statements_of(note) for topic in statement.topics}
        earlier = {other.id: other for topic in topics for other in by_topic.get(topic, ())}
        for other in contradicting_notes(note, earlier.values()):
            found[other.id, note.id] = (other, note)
        for topic in topics:
            by_topic.setdefault(topic, []).append(note)
    return list(found.values())


def _statements_of(note: MemoryNote) -> "tuple[Statement, ...]":
    """What a memory states; the value of a fact also together with its key ("telemetry: off")."""
    from nuggets.language.equivalence_and_contradiction import statements

    between = " " if note.kind == "fact" else "\n"
    whole = statements(f"{note.title}{between}{note.content}")
    return (*whole, *statements(note.content)) if note.kind == "fact" else whole
