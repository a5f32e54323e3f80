"""What a memory is about, inferred where nobody said it. Knows only the words it is given.

An explicit value wins over the current one, the current one over what can be inferred.
Words count whole ("profile" is not "file"), and what a note talks about is weak evidence:
its content can make it a preference or a reflection, never move it to another scope.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from nuggets.errors import InvalidInput
from nuggets.graph.limits import check_choice, checked_subject, storable
from nuggets.records import (
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    GraphNoteMetaInput,
    MemoryScope,
    MemorySource,
    MemoryStability,
    MemoryType,
    NoteKind,
    NoteMetadata,
)
from nuggets.text import folded, normal_tag

SUBJECTS: Mapping[MemoryScope, str] = {
    "self": "assistant:self",
    "user": "user:primary",
    "session": "session:current",
    "shared": "shared:project",
    "project": "shared:project",
}
CONFIDENCES: Mapping[MemorySource, float] = {
    "explicit_user": 0.9,
    "tool_observation": 0.98,
    "agent_reflection": 0.75,
    "inferred": 0.6,
    "system": 0.9,
}
PREFERENCE_NUGGETS = ("prefs", "preferences")
CONFIRMED = "confirmed"  # the tag by which a person or agent vouches for what a tool saw
# Tags that decide something: a word of the text alone does not give them.
DECIDING_TAGS = (CONFIRMED, "learnings", "preferences", "reflection", "files")

_SCOPE_NAMED: Mapping[str, MemoryScope] = {scope: scope for scope in SCOPES}
_EVERYWHERE: tuple[MemoryScope, ...] = ("user", "self")  # a person is the same in every project
_SELF = {"assistant", "persona", "identity", "self"}
_PLACES = {"server", "project", "workspace", "repo", "system", "path", "file", "shared"}
_WORK = _PLACES | {"tool", "command", "cmd", "task", "edited"}
_REFLECTIVE: tuple[MemoryType, ...] = ("reflection", "self_model", "style")
_PREFERRING = {"prefer", "prefers", "preference", "preferences"}
_PUNCTUATION = "`'\"“”‘’()[]{}<>*,;:.!?"


class _Clues(NamedTuple):
    """What a new memory offers to infer from."""

    scope: MemoryScope | None  # by the key's prefix
    bare: str  # the key without that prefix, folded
    said: frozenset[str]  # tokens of the whole key
    tags: frozenset[str]  # the person's own, in written form
    nugget: str  # folded
    kind: NoteKind
    content: str


def inferred(
    key_or_title: str,
    content: str,
    tags: Iterable[str],
    nugget: str,
    kind: NoteKind,
    given: GraphNoteMetaInput,
    current: NoteMetadata | None,
) -> NoteMetadata:
    """All metadata of a memory; `given` must have passed `checked`."""
    if current is not None:
        told = {field: getattr(given, field) for field in NoteMetadata._fields}
        return current._replace(**{f: value for f, value in told.items() if value is not None})
    prefix, bare = scope_and_rest(key_or_title)
    own = frozenset(own_tags(tags, nugget))
    clues = _Clues(prefix, bare, _tokens(key_or_title), own, folded(nugget), kind, content)
    scope = given.scope or _scope(clues)
    type_ = given.type or _type(clues, scope)
    source = given.source or _source(clues, scope, type_)
    return NoteMetadata(
        subject=given.subject or SUBJECTS[scope],
        scope=scope,
        type=type_,
        source=source,
        confidence=CONFIDENCES[source] if given.confidence is None else given.confidence,
        stability=given.stability or _stability(clues, scope),
    )


def stated(words: Mapping[str, Any]) -> GraphNoteMetaInput:
    """Metadata by its names, checked; a misspelt name is refused, not ignored."""
    unknown = words.keys() - set(GraphNoteMetaInput._fields)
    if unknown:
        raise InvalidInput(
            f"there is no metadata called {', '.join(sorted(unknown))}; "
            f"there are: {', '.join(GraphNoteMetaInput._fields)}"
        )
    plain: dict[str, Any] = {
        name: storable(value, name) if isinstance(value, str) else value
        for name, value in words.items()
    }
    return checked(GraphNoteMetaInput(**plain))


def checked(given: GraphNoteMetaInput) -> GraphNoteMetaInput:
    """The same, with its confidence in [0, 1]; a word outside its enumeration is refused."""
    check_choice("scope", given.scope, SCOPES)
    check_choice("type", given.type, TYPES)
    check_choice("source", given.source, SOURCES)
    check_choice("stability", given.stability, STABILITIES)
    return given._replace(
        subject=None if given.subject is None else checked_subject(given.subject),
        confidence=None if given.confidence is None else _clamped(given.confidence),
        project=None if given.project is None else storable(given.project, "project").strip(),
    )


def default_project(scope: MemoryScope, current: str) -> str:
    """Where a memory belongs when nobody says: "" is everywhere."""
    return "" if scope in _EVERYWHERE else current


def scope_and_rest(key: str) -> tuple[MemoryScope | None, str]:
    """The scope that a key begins with, and the folded rest of it."""
    whole = folded(key)
    head, colon, rest = whole.partition(":")
    scope = _SCOPE_NAMED.get(head.rstrip()) if colon else None
    return (None, whole) if scope is None else (scope, rest.strip())


@lru_cache(maxsize=4096)  # few tags, of many notes
def system_tags(nugget: str, scope: MemoryScope, type: MemoryType) -> tuple[str, ...]:
    """The tags that every note carries."""
    return (normal_tag(nugget), f"scope:{scope}", f"type:{type}")


def own_tags(tags: Iterable[str], nugget: str) -> tuple[str, ...]:
    """The written form of what people and agents tagged, without what follows from metadata."""
    written = dict.fromkeys(normal_tag(tag) for tag in tags)
    return tuple(
        tag
        for tag in written
        if tag not in ("", normal_tag(nugget)) and not tag.startswith(("scope:", "type:"))
    )


def normal_tags(
    tags: Iterable[str], nugget: str, scope: MemoryScope, type: MemoryType
) -> tuple[str, ...]:
    """The written form of a note's tags: its own in their order, then those it always carries."""
    return (*own_tags(tags, nugget), *system_tags(nugget, scope, type))


def content_tags(content: str) -> tuple[str, ...]:
    """What the content itself says it is: files, preferences, reflection."""
    said = [word.strip(_PUNCTUATION) for word in content.split()]
    found = {
        "files": any(_is_path(word) for word in said if "/" in word),
        # hyphenated words stay whole, so prefers-color-scheme is nobody's preference
        "preferences": not _PREFERRING.isdisjoint([word.lower() for word in said]),
        # only as an opening: many a note mentions reflection, as of light or of classes
        "reflection": bool(re.match(r"[#*\s]*reflections?\**\s*(:|on\b)", content, re.IGNORECASE)),
    }
    return tuple(tag for tag, holds in found.items() if holds)


def _scope(clues: _Clues) -> MemoryScope:
    named = clues.scope or _SCOPE_NAMED.get(clues.nugget)
    if named:
        return named
    if clues.bare.startswith("_"):
        return "shared"
    tokens = clues.said | _tokens(" ".join(clues.tags))
    if tokens & _SELF:
        return "self"
    if tokens & _WORK:
        return "project" if "project" in tokens else "shared"
    return "user"


def _type(clues: _Clues, scope: MemoryScope) -> MemoryType:
    preferring = "preferences" in clues.tags or clues.nugget in PREFERENCE_NUGGETS
    if preferring or clues.bare.startswith("pref:"):
        return "preference"
    if "reflection" in clues.tags or clues.bare.startswith("reflect:"):
        return "reflection"
    if scope == "self":
        return "style" if "style" in clues.said else "self_model"
    if scope == "project":
        return "project"
    about = content_tags(clues.content)
    if "preferences" in about:
        return "preference"
    return "reflection" if "reflection" in about else clues.kind


def _source(clues: _Clues, scope: MemoryScope, type: MemoryType) -> MemorySource:
    if clues.bare.startswith(("file:", "edited:")):
        return "tool_observation"
    if type in _REFLECTIVE:
        return "agent_reflection" if scope == "self" else "inferred"
    return "explicit_user"


def _stability(clues: _Clues, scope: MemoryScope) -> MemoryStability:
    # the whole word, numbered or not: what is temporary by mistake is archived in a week
    passing = re.match(r"_|(tmp|scratch)\d*(?![^\W_])", clues.bare)
    return "temporary" if scope == "session" or passing else "durable"


def _tokens(text: str) -> frozenset[str]:
    # a self-hosted runner and a self-signed certificate are not about the assistant
    plain = re.sub(r"\bself-(?=[^\W_])(?!model\b)", "", folded(text))
    return frozenset(re.findall(r"[^\W_]+", plain))


def _is_path(word: str) -> bool:
    """src/keys.pem and ./app.py:47 are; and/or, 1/2.5, https://a/b.html, me@a:b/c.git are not."""
    name = word.rpartition("/")[2].partition(":")[0]
    ending = name.rpartition(".")[2] if "." in name else ""
    named = ending[:1].isalpha() and ending.isalnum() and len(ending) <= 8
    elsewhere = "://" in word or re.match(r"[^/:]+@[^/:]+:", word)
    return named and not elsewhere


def _clamped(confidence: object) -> float:
    refused = isinstance(confidence, bool) or confidence != confidence  # NaN alone differs so
    if isinstance(confidence, int | float) and not refused:
        return float(min(max(confidence, 0), 1))
    raise InvalidInput(f"confidence must be a number from 0 to 1; not {confidence!r:.80}")
