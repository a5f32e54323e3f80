import math
from collections.abc import Sequence
from typing import Any

import pytest

from nuggets.domain.records import SCOPES, GraphNoteMetaInput, MemoryScope, NoteKind, NoteMetadata
from nuggets.errors import InvalidInput
from nuggets.operations.metadata_inference import (
    check_metadata,
    content_tags,
    default_project,
    infer_metadata,
    scope_and_rest,
)
from nuggets.shelf import NuggetShelf


def infer(
    key: str,
    content: str = "x",
    tags: Sequence[str] = (),
    nugget: str = "learnings",
    kind: NoteKind = "fact",
    current: NoteMetadata | None = None,
    **said: Any,
) -> NoteMetadata:
    return infer_metadata(key, content, tags, nugget, kind, GraphNoteMetaInput(**said), current)


@pytest.mark.parametrize(
    ("key", "scope"),
    [
        ("user: editor", "user"),
        ("self: name", "self"),
        ("shared: plan", "shared"),
        ("project: test cmd", "project"),
        ("session: branch", "session"),
        ("SESSION:branch", "session"),
        ("Project : build", "project"),
        ("_cache", "shared"),
        ("_self", "shared"),
        ("assistant name", "self"),
        ("the assistant's voice", "self"),
        ("persona", "self"),
        ("identity", "self"),
        ("self_model", "self"),
        ("self-model", "self"),
        ("assistant server", "self"),
        ("server port", "shared"),
        ("project owner", "project"),
        ("project file", "project"),
        ("workspace", "shared"),
        ("repo url", "shared"),
        ("system clock", "shared"),
        ("tool", "shared"),
        ("command", "shared"),
        ("test cmd", "shared"),
        ("path/to", "shared"),
        ("file:main.py", "shared"),
        ("edited", "shared"),
        ("task_list", "shared"),
        ("shared calendar", "shared"),
        ("favourite colour", "user"),
    ],
)
def test_the_key_decides_the_scope(key: str, scope: str) -> None:
    assert infer(key).scope == scope


@pytest.mark.parametrize(
    "key",
    [
        "profile",
        "filed under",
        "toolkit",
        "commander",
        "pathology",
        "repository",
        "projection",
        "multitasking",
        "selfish gene",
        "themself",
        "identityless",
        "sharedness",
        "self-hosted runner",
        "self-signed certificate",
        "users: many",
        "projects: many",
        "session",
        "note about _cache",
    ],
)
def test_a_part_of_a_word_decides_nothing(key: str) -> None:
    assert infer(key).scope == "user"


@pytest.mark.parametrize("scope", SCOPES)
def test_a_nugget_named_like_a_scope_gives_it(scope: MemoryScope) -> None:
    assert infer("editor", nugget=scope.title()).scope == scope


def test_the_prefix_of_a_key_wins_over_the_name_of_its_nugget() -> None:
    assert infer("user: editor", nugget="project").scope == "user"


def test_the_nugget_wins_over_the_words_of_the_key() -> None:
    assert infer("server port", nugget="user").scope == "user"
    assert infer("_port", nugget="project").scope == "project"


def test_a_nugget_that_only_contains_the_name_of_a_scope_gives_none() -> None:
    assert infer("editor", nugget="my project").scope == "user"


@pytest.mark.parametrize(
    ("tags", "scope"),
    [
        (["server"], "shared"),
        (["Test cmd"], "shared"),
        (["project"], "project"),
        (["persona"], "self"),
        (["profile"], "user"),
        (["session"], "session"),
        (["Session"], "session"),
        (["session-cookie"], "user"),
        (["scope:project"], "user"),
        (["type:project"], "user"),
    ],
)
def test_tags_decide_the_scope_like_the_words_of_the_key(tags: list[str], scope: str) -> None:
    assert infer("editor", tags=tags).scope == scope


def test_the_tag_of_its_own_nugget_says_nothing_about_a_note() -> None:
    assert infer("editor", nugget="tool", tags=["tool"]).scope == "user"


@pytest.mark.parametrize(
    "content",
    ["I shared my talk", "the assistant runs on a server", "project: x", "_x", "session: y"],
)
def test_content_never_decides_the_scope(content: str) -> None:
    assert infer("talk", content).scope == "user"


@pytest.mark.parametrize(
    ("scope", "subject"),
    [
        ("self", "assistant:self"),
        ("user", "user:primary"),
        ("session", "session:current"),
        ("shared", "shared:project"),
        ("project", "shared:project"),
    ],
)
def test_the_scope_decides_the_subject(scope: str, subject: str) -> None:
    assert infer("x", scope=scope).subject == subject


@pytest.mark.parametrize(
    ("key", "tags", "nugget", "kind", "type_"),
    [
        ("pref: editor", [], "learnings", "fact", "preference"),
        ("self: pref: tone", [], "learnings", "fact", "preference"),
        ("editor", ["Preferences"], "learnings", "note", "preference"),
        ("editor", [], "prefs", "fact", "preference"),
        ("editor", [], "Preferences", "fact", "preference"),
        ("preference: indent", [], "learnings", "fact", "preference"),
        ("user preference", [], "learnings", "note", "preference"),
        ("Preferences of the team", [], "learnings", "note", "preference"),
        ("project preference", [], "learnings", "note", "preference"),
        ("editor", ["preference"], "learnings", "note", "preference"),
        ("indent", ["style"], "learnings", "note", "style"),
        ("Ada and Grace", ["Relationship"], "learnings", "note", "relationship"),
        ("pref: indent", ["style"], "learnings", "note", "preference"),
        ("reflect: indent", ["style"], "learnings", "note", "style"),
        ("indent", ["lifestyle"], "learnings", "note", "note"),
        ("reflect: the day", [], "learnings", "note", "reflection"),
        ("the day", ["reflection"], "learnings", "note", "reflection"),
        ("pref: x", ["reflection"], "learnings", "note", "preference"),
        ("self: style of answers", [], "learnings", "fact", "style"),
        ("self: name", [], "learnings", "fact", "self_model"),
        ("self: stylesheet", [], "learnings", "fact", "self_model"),
        ("style", [], "learnings", "fact", "fact"),
        ("editor", [], "project", "note", "project"),
        ("editor", [], "learnings", "fact", "fact"),
        ("editor", [], "learnings", "note", "note"),
        ("prefix: x", [], "learnings", "fact", "fact"),
        ("reflective", ["preferred"], "learnings", "fact", "fact"),
        ("server", [], "learnings", "fact", "fact"),
    ],
)
def test_key_tags_nugget_and_scope_decide_the_type(
    key: str, tags: list[str], nugget: str, kind: NoteKind, type_: str
) -> None:
    assert infer(key, tags=tags, nugget=nugget, kind=kind).type == type_


@pytest.mark.parametrize(
    ("content", "type_"),
    [
        ("She prefers tabs.", "preference"),
        ("The user really prefers tabs.", "preference"),
        ("Prefers tabs over spaces", "preference"),
        ("The user's preference is tabs", "preference"),
        ("Dana prefers small pull requests.", "note"),
        ("The client's preference is e-mail", "note"),
        ("Preference: dark mode", "preference"),
        ("Reflection: too many meetings", "reflection"),
        ("## Reflections on the week", "reflection"),
        ("@media (prefers-color-scheme: dark)", "note"),
        ("classes are found by reflection", "note"),
        ("Reflection is slow in Java", "note"),
    ],
)
def test_content_decides_the_type_where_nothing_else_does(content: str, type_: str) -> None:
    assert infer("x", content, kind="note").type == type_


def test_the_scope_decides_the_type_before_the_content() -> None:
    assert infer("x", "we prefer tabs", nugget="project").type == "project"
    assert infer("self: x", "I prefer short answers").type == "self_model"


@pytest.mark.parametrize(
    ("key", "source", "confidence"),
    [
        ("file: src/app.py", "tool_observation", 0.98),
        ("project: edited:src/app.py", "tool_observation", 0.98),
        ("files: many", "explicit_user", 0.9),
        ("self: name", "agent_reflection", 0.75),
        ("self: style", "agent_reflection", 0.75),
        ("self: reflect: day", "agent_reflection", 0.75),
        ("reflect: day", "inferred", 0.6),
        ("self: pref: tone", "explicit_user", 0.9),
        ("editor", "explicit_user", 0.9),
    ],
)
def test_key_and_type_decide_source_and_confidence(
    key: str, source: str, confidence: float
) -> None:
    found = infer(key)

    assert (found.source, found.confidence) == (source, confidence)


def test_a_given_source_decides_the_confidence() -> None:
    assert infer("x", source="system").confidence == 0.9
    assert infer("x", source="inferred").confidence == 0.6


@pytest.mark.parametrize(
    ("key", "stability"),
    [
        ("session: branch", "temporary"),
        ("_cache", "temporary"),
        ("user: _cache", "temporary"),
        ("tmp", "temporary"),
        ("TMP dir", "temporary"),
        ("tmp_dir", "temporary"),
        ("project:tmp2", "temporary"),
        ("scratch: idea", "temporary"),
        ("template", "durable"),
        ("tmpfile", "temporary"),
        ("Scratchpad", "temporary"),
        ("user: tmpfile", "temporary"),
        ("my tmp", "durable"),
        ("editor", "durable"),
    ],
)
def test_scope_and_beginning_of_the_key_decide_the_stability(key: str, stability: str) -> None:
    assert infer(key).stability == stability


def test_what_is_given_wins_over_what_is_current_and_that_over_what_is_inferred() -> None:
    current = NoteMetadata("team:ops", "session", "style", "system", 0.0, "temporary")

    found = infer(
        "project: file", current=current, type="note", confidence=0.0, project="elsewhere"
    )

    assert found == current._replace(type="note", confidence=0.0)


def test_every_field_may_be_given() -> None:
    said: dict[str, Any] = {
        "subject": "team:ops",
        "scope": "shared",
        "type": "relationship",
        "source": "system",
        "confidence": 0.0,
        "stability": "temporary",
    }

    assert infer("editor", **said) == NoteMetadata(**said)


@pytest.mark.parametrize(
    ("field", "allowed"),
    [
        ("scope", "self, user, shared, project, session"),
        ("type", "self_model, project, relationship, style"),
        ("source", "explicit_user, agent_reflection, tool_observation, inferred, system"),
        ("stability", "temporary, durable"),
    ],
)
def test_a_word_outside_its_enumeration_is_refused_with_the_allowed_ones(
    field: str, allowed: str
) -> None:
    said: dict[str, Any] = {field: "nonsense"}

    with pytest.raises(InvalidInput, match=f"{field} .*{allowed}.*nonsense"):
        check_metadata(GraphNoteMetaInput(**said))


@pytest.mark.parametrize(
    ("given", "kept"), [(-1, 0.0), (0.5, 0.5), (7, 1.0), (math.inf, 1.0), (10**400, 1.0)]
)
def test_confidence_is_clamped(given: float, kept: float) -> None:
    assert check_metadata(GraphNoteMetaInput(confidence=given)).confidence == kept


@pytest.mark.parametrize("given", [math.nan, "0.5", True])
def test_confidence_that_is_no_number_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="confidence"):
        check_metadata(GraphNoteMetaInput(confidence=given))


def test_nothing_given_passes_the_check_unchanged() -> None:
    assert check_metadata(GraphNoteMetaInput()) == GraphNoteMetaInput()


def test_a_blank_subject_is_refused_and_a_blank_project_is_everywhere() -> None:
    assert check_metadata(GraphNoteMetaInput(project=" ")).project == ""
    with pytest.raises(InvalidInput, match="subject"):
        check_metadata(GraphNoteMetaInput(subject=" "))


@pytest.mark.parametrize(
    ("scope", "project"),
    [("user", ""), ("self", ""), ("shared", "here"), ("project", "here"), ("session", "here")],
)
def test_people_belong_everywhere_and_work_to_its_project(scope: MemoryScope, project: str) -> None:
    assert default_project(scope, "here") == project


def test_a_scope_prefix_parts_from_the_rest_of_the_key() -> None:
    assert scope_and_rest("User:  Tmp Dir ") == ("user", "tmp dir")
    assert scope_and_rest("http: status") == (None, "http: status")
    assert scope_and_rest("user") == (None, "user")


@pytest.mark.parametrize(
    "content",
    ["see src/auth/keys.pem.", "`./app.py:47`", "(/etc/ssh/sshd.conf)", "~/notes/a.md, b"],
)
def test_content_that_names_a_path_is_about_files(content: str) -> None:
    assert content_tags(content) == ("files",)


@pytest.mark.parametrize(
    "content",
    [
        *("and/or", "1/2.5", "https://example.org/page.html", "e.g. this", "a / b.c", ""),
        "git@example.com:acme/x.git",
    ],
)
def test_content_that_names_no_path_is_not_about_files(content: str) -> None:
    assert content_tags(content) == ()


def test_what_a_scope_implied_follows_a_new_scope() -> None:
    durable = infer("branch", kind="note")

    moved = infer("branch", kind="note", current=durable, scope="session")

    assert (moved.scope, moved.subject, moved.stability) == (
        "session",
        "session:current",
        "temporary",
    )


@pytest.mark.parametrize(
    ("old", "new", "scope", "stability"),
    [
        ("tmp deploy host", "deploy host", "user", "durable"),
        ("deploy host", "scratch deploy host", "user", "temporary"),
        ("session: db name", "db name", "user", "durable"),
        ("db name", "session: db name", "session", "temporary"),
        ("project: api base", "user: api base", "user", "durable"),
        ("api base", "api base url", "user", "durable"),
    ],
)
def test_what_a_name_implied_follows_a_new_name(
    shelf: NuggetShelf, old: str, new: str, scope: str, stability: str
) -> None:
    fact = shelf.remember("facts", old, "10.0.0.7")

    renamed = shelf.edit_note(fact.id, title=new)

    assert (renamed.scope, renamed.stability) == (scope, stability)
    assert f"scope:{scope}" in renamed.tags


def test_a_tag_of_the_system_says_what_it_names(shelf: NuggetShelf) -> None:
    tagged = shelf.create_note("notes", "Tone", "Be brief.", ["scope:self", "type:preference"])
    given = shelf.create_note("notes", "Tone 2", "Be brief.", ["scope:self"], scope="user")

    assert (tagged.scope, tagged.subject, tagged.type) == ("self", "assistant:self", "preference")
    assert given.scope == "user"


def test_what_was_said_of_a_memory_stays_when_it_is_renamed(shelf: NuggetShelf) -> None:
    fact = shelf.remember("facts", "host", "10.0.0.7", stability="temporary", type="style")

    renamed = shelf.edit_note(fact.id, title="deploy host")

    assert (renamed.stability, renamed.type) == ("temporary", "style")


def test_what_was_said_otherwise_stays_when_the_scope_changes() -> None:
    own = infer("branch", kind="note", subject="team:web", type="style")

    moved = infer("branch", kind="note", current=own, scope="session")

    assert (moved.subject, moved.type) == ("team:web", "style")
