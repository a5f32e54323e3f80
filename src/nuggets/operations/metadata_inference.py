"""Infers the metadata of a memory that nobody gave. Knows only the words it is given.

A given value wins over the current one, the current one over an inferred one. Only whole words
count ("profile" is not "file"). The content is weak evidence: it can make a note a preference or a
reflection, but never move it to another scope.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from nuggets.domain.limits import check_choice, checked_name, storable
from nuggets.domain.names_and_tags import own_tags
from nuggets.domain.records import (
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    GraphNoteMetaInput,
    MemoryNote,
    MemoryScope,
    MemorySource,
    MemoryStability,
    MemoryType,
    NoteKind,
    NoteMetadata,
)
from nuggets.domain.times import day_boundary
from nuggets.errors import InvalidInput
from nuggets.language.text import fold_case, is_unspaced, tokens
from nuggets.language.word_lists import order_phrases
from nuggets.named_tuple import NamedTuple

SUBJECTS: Mapping[MemoryScope, str] = {
    "self": "assistant:self",
    "user": "user:primary",
    "session": "session:current",
    "shared": "shared:project",
    "project": "shared:project",
}
# Ours; documented is only that what is inferred is less sure.
CONFIDENCES: Mapping[MemorySource, float] = {
    "explicit_user": 0.9,
    "tool_observation": 0.98,
    "agent_reflection": 0.75,
    "inferred": 0.6,
    "system": 0.9,
}
PREFERENCE_NUGGETS = ("prefs", "preferences")

_SCOPE_NAMED: Mapping[str, MemoryScope] = {scope: scope for scope in SCOPES}
_EVERYWHERE: tuple[MemoryScope, ...] = ("user", "self")  # a person is the same in every project
_SELF = {"assistant", "persona", "identity", "self"}
_PLACES = {"server", "project", "workspace", "repo", "system", "path", "file", "shared"}
_WORK = _PLACES | {"tool", "command", "cmd", "task", "edited"}
_REFLECTIVE: tuple[MemoryType, ...] = ("reflection", "self_model", "style")
_PREFERENCE = {"preference", "preferences"}
_PREFERRING = {"prefer", *_PREFERENCE}
_TAGGED_TYPES: tuple[MemoryType, ...] = ("style", "relationship")
# Who "prefers" something when it is the user: what a colleague prefers is no preference to follow.
_USER_WORDS = {"i", "we", "you", "he", "she", "they", "user"}
# Nuggets and tags of memories about a person, who is the same in every project.
_PERSONAL = {*PREFERENCE_NUGGETS, "user", "self"}
_NOTHING_GIVEN = GraphNoteMetaInput()
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


def infer_metadata(
    key_or_title: str,
    content: str,
    tags: Iterable[str],
    nugget: str,
    kind: NoteKind,
    given: GraphNoteMetaInput,
    current: NoteMetadata | None,
    default_scope: MemoryScope = "user",
    renamed: str | None = None,
) -> NoteMetadata:
    """All metadata of a memory; `given` must have passed `check_metadata`.

    `default_scope`: the scope of what nothing says to be anybody's: the user's, or the project's
    for what is learnt at work in it. `renamed`: the new key or title of one that has `current`.
    """
    own = frozenset(own_tags(tags, nugget))

    def clues_of(name: str) -> _Clues:
        prefix, bare = scope_and_rest(name)
        return _Clues(prefix, bare, _tokens(name), own, fold_case(nugget), kind, content)

    clues = clues_of(key_or_title)
    if current is not None:
        now = clues if renamed is None else clues_of(renamed)
        scope = given.scope or current.scope
        if given.scope is None and now.scope != clues.scope:
            scope = _scope(now, default_scope)
        kept = _follow(current, clues, now, scope)
        explicit = {field: getattr(given, field) for field in NoteMetadata._fields}
        return kept._replace(**{f: value for f, value in explicit.items() if value is not None})
    scope = given.scope or _scope(clues, default_scope)
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


def _follow(current: NoteMetadata, before: _Clues, now: _Clues, scope: MemoryScope) -> NoteMetadata:
    """What the old scope and name implied is now what the new ones imply: else what is moved to a
    session would be promoted, and what is no longer called "tmp" archived."""
    old = current.scope
    if (scope, now) == (old, before):
        return current
    is_implied = current.subject == SUBJECTS[old]
    return current._replace(
        subject=SUBJECTS[scope] if is_implied else current.subject,
        scope=scope,
        type=_type(now, scope) if current.type == _type(before, old) else current.type,
        stability=_stability(now, scope)
        if current.stability == _stability(before, old)
        else current.stability,
    )


def metadata_from_kwargs(words: Mapping[str, Any]) -> GraphNoteMetaInput:
    """Metadata by its names, checked; a misspelt name is refused, not ignored."""
    if not words:
        return _NOTHING_GIVEN
    words = plain_keywords(words)
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
    return check_metadata(GraphNoteMetaInput(**plain))


def plain_keywords(words: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata by name, also of a record or mapping that is given as `meta`; single names win."""
    record = words.get("meta") or {}
    if isinstance(record, GraphNoteMetaInput | NoteMetadata):
        record = record._asdict()
    if not isinstance(record, Mapping):
        raise InvalidInput(f"meta must be a GraphNoteMetaInput or a mapping; not {record!r:.80}")
    single = {name: value for name, value in words.items() if name != "meta"}
    given = {name: value for name, value in record.items() if single.get(name) is None}
    return {**single, **given}


def check_metadata(given: GraphNoteMetaInput) -> GraphNoteMetaInput:
    """The same, with its confidence in [0, 1]; a word outside its enumeration is refused."""
    if given == _NOTHING_GIVEN:
        return given
    check_choice("scope", given.scope, SCOPES)
    check_choice("type", given.type, TYPES)
    check_choice("source", given.source, SOURCES)
    check_choice("stability", given.stability, STABILITIES)
    return given._replace(
        subject=None if given.subject is None else checked_name(given.subject, "a subject"),
        confidence=None if given.confidence is None else _clamp(given.confidence),
        project=None if given.project is None else storable(given.project, "project").strip(),
        **_check_validity(given),
    )


def _check_validity(given: GraphNoteMetaInput) -> dict[str, Any]:
    """When it is valid, in the written form; "" stays, because it takes a time away."""
    if given.valid_from is None and given.valid_until is None:
        return {}
    start = given.valid_from and day_boundary(given.valid_from, end=False, field="valid_from")
    end = given.valid_until and day_boundary(given.valid_until, end=True, field="valid_until")
    if start and end and end <= start:
        raise InvalidInput(f"valid_until ({end}) must be after valid_from ({start})")
    return {"valid_from": start, "valid_until": end}


def default_project(scope: MemoryScope, current: str) -> str:
    """Where a memory belongs when nobody says: "" is everywhere."""
    return "" if scope in _EVERYWHERE else current


def scope_and_rest(key: str) -> tuple[MemoryScope | None, str]:
    """The scope that a key begins with, and the folded rest of it."""
    whole = fold_case(key)
    head, colon, rest = whole.partition(":")
    scope = _SCOPE_NAMED.get(head.rstrip()) if colon else None
    return (None, whole) if scope is None else (scope, rest.strip())


WORTHLESS_CHARACTERS = 2  # a note this short that was never recalled is archived, as documented
_PASSING = re.compile(r"(tmp|temp|scratch)\d*(?![^\W_])")  # words: Template is none of them


def passes_unless_recalled(note: MemoryNote) -> bool:
    """Whether the next clean-up archives it, because its title says that it is temporary: it was
    never recalled, and nobody said that it is durable."""
    is_kept = note.stability == "durable" and note.stability_given
    return not note.hits and not is_kept and bool(_PASSING.match(scope_and_rest(note.title)[1]))


def content_tags(content: str) -> tuple[str, ...]:
    """What the content itself says it is: files, preferences, reflection."""
    lower = content.lower()
    if "/" not in lower and "prefer" not in lower and "reflection" not in lower:
        return ()  # most texts
    conditions = {
        "files": any(_is_path(word) for word in _bare_words(content) if "/" in word),
        "preferences": "prefer" in lower and _states_preference(content),
        # only as an opening: many a note mentions reflection, as of light or of classes
        "reflection": "reflection" in lower
        and bool(re.match(r"[#*\s]*reflections?\**\s*(:|on\b)", content, re.IGNORECASE)),
    }
    return tuple(tag for tag, holds in conditions.items() if holds)


def _states_preference(content: str) -> bool:
    """Whether it says what the user prefers; what "Dana prefers" is not to be followed.

    Hyphenated words stay whole, so prefers-color-scheme is nobody's preference.
    """
    for sentence in re.split(r"[.!?;\n]\s", content):
        owner, names_user, is_first = "", False, True
        for word in map(str.lower, _bare_words(sentence)):
            if word == "prefers" and (is_first or names_user):
                return True
            if word in _PREFERRING and (owner == "user's" or not owner.endswith("'s")):
                return True
            owner, is_first = word.replace("’", "'"), False
            names_user = names_user or word in _USER_WORDS
    return False


def _bare_words(content: str) -> Iterator[str]:
    """Its words without the punctuation around them."""
    return (word.strip(_PUNCTUATION) for word in content.split())


def _scope(clues: _Clues, default: MemoryScope) -> MemoryScope:
    tagged = _SCOPE_NAMED["session"] if "session" in clues.tags else None
    named = clues.scope or tagged or _SCOPE_NAMED.get(clues.nugget)
    if named:
        return named
    if clues.bare.startswith("_"):
        return "shared"
    tokens = clues.said | _tag_tokens(clues.tags)
    if not _SELF.isdisjoint(tokens):
        return "self"
    if not _WORK.isdisjoint(tokens):
        return "project" if "project" in tokens else "shared"
    return "user" if _is_personal(clues) else default


def _is_personal(clues: _Clues) -> bool:
    """Whether its key, a tag or its nugget says that it is about the user."""
    named = clues.nugget in _PERSONAL or not _PERSONAL.isdisjoint(clues.tags)
    return named or _is_preference(clues)


def _is_preference(clues: _Clues) -> bool:
    named = clues.bare.startswith("pref:") or clues.nugget in PREFERENCE_NUGGETS
    return named or not _PREFERENCE.isdisjoint(clues.said | clues.tags)


def _type(clues: _Clues, scope: MemoryScope) -> MemoryType:
    if _is_preference(clues):
        return "preference"
    tagged = next((type_ for type_ in _TAGGED_TYPES if type_ in clues.tags), None)
    if tagged:
        return tagged
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
    passing = clues.bare.startswith(("_", "tmp", "scratch"))
    return "temporary" if scope == "session" or passing else "durable"


def _tokens(text: str) -> frozenset[str]:
    # a self-hosted runner and a self-signed certificate are not about the assistant
    plain = fold_case(text)
    if "self-" in plain:
        plain = re.sub(r"\bself-(?=[^\W_])(?!model\b)", "", plain)
    return frozenset(re.findall(r"[^\W_]+", plain))


@lru_cache(maxsize=256)  # few tags, of many notes
def _tag_tokens(tags: frozenset[str]) -> frozenset[str]:
    return _tokens(" ".join(tags))


def _is_path(word: str) -> bool:
    """src/keys.pem and ./app.py:47 are; and/or, 1/2.5, https://a/b.html, me@a:b/c.git are not."""
    name = word.rpartition("/")[2].partition(":")[0]
    ending = name.rpartition(".")[2] if "." in name else ""
    named = ending[:1].isalpha() and ending.isalnum()
    host, colon, _ = word.partition("/")[0].partition(":")
    elsewhere = "://" in word or (bool(colon) and "@" in host[1:-1])
    return named and not elsewhere


def _clamp(confidence: object) -> float:
    refused = isinstance(confidence, bool) or confidence != confidence  # NaN alone differs so
    if isinstance(confidence, int | float) and not refused:
        return float(min(max(confidence, 0), 1))
    raise InvalidInput(f"confidence must be a number from 0 to 1; not {confidence!r:.80}")


def is_personal(text: str) -> bool:
    """Does the person speak of themselves, and not of the project: "answer me in German"?

    The words of several languages are in `language/data/orders.txt`, under `person`.
    """
    folded = fold_case(text.replace("’", "'"))
    spoken = {part for token in folded.split() for part in (token, *tokens(token))}
    words = _personal_words()
    for we in filter(is_unspaced, map(fold_case, order_phrases()["we"])):
        folded = folded.replace(we, " ")  # "we" has the sign of "I" in it
    return not words.isdisjoint(spoken) or any(
        word in folded for word in words if is_unspaced(word)
    )


@cache
def _personal_words() -> frozenset[str]:
    return frozenset(map(fold_case, order_phrases()["person"]))
