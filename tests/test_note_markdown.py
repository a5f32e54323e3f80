"""A note as a Markdown file: what is written is YAML, and what is read back is the same note."""

import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from graph_samples import sample
from nuggets import MemoryNote, NoteLink
from nuggets.domain.note_markdown import LinkStyle, parse_note, render_note
from nuggets.domain.records import Anchor
from nuggets.language.markdown import front_matter, split_front_matter
from nuggets.operations.note_completion import notes_from_json

SIGNS = st.characters(codec="utf-8", exclude_characters="\0")
TEXTS = st.text(SIGNS | st.sampled_from("\n\t,\"'#-[]|:{}&*!%@` "), max_size=30)
LINES = TEXTS.map(lambda text: " ".join(text.split()))
PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | TEXTS
VALUES = st.recursive(
    PLAIN | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
NAMES = st.from_regex(r"[a-zA-Z][a-zA-Z_]{0,8}", fullmatch=True)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_fields_come_back_and_are_yaml_for_everyone(fields: dict[str, Any]) -> None:
    text = front_matter({f"x{name}": value for name, value in fields.items()})

    assert split_front_matter(f"{text}body") == ({f"x{n}": v for n, v in fields.items()}, "body")
    loaded = yaml.load(text.removesuffix("---\n"), Loader=yaml.BaseLoader)
    assert (loaded or {}).keys() == {f"x{name}" for name in fields}


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: text\nc: [x, 'it''s', \"q\", 3]\nd: {e: f, g: [h], i: }",
        "tags:\n  - one\n  - two words\nmore:\n- at the same depth\n- b",
        "anchors:\n  - path: x.py\n    line: 3\n    lines:\n      - ab\n      - cd\n  - path: y",
        "a:\n  b:\n    c: deep\n  d: 'x: y'\n# a comment\ne: end # another",
        "text: |-\n  # no comment\n\n  two\nfolded: >-\n  one\n  line\n\n  two\nend: x",
        'long: begins\n  and goes on\nquoted: "a b"\nurl: https://example.org/#top',
        "empty:\nnothing: null\nyes_no: true\nnegative: -3.5\nbig: 12345678901234567890",
    ],
)
def test_front_matter_of_others_is_read_as_yaml_says(text: str) -> None:
    fields, body = split_front_matter(f"---\n{text}\n---\nBody\n")

    assert body == "Body\n"
    assert fields == yaml.safe_load(text)


@pytest.mark.parametrize("value", ["&a x", "*a", "!!set {a}", "[1, 2", '"open', "{a: [}", "`x`"])
def test_what_is_not_understood_is_kept_as_text(value: str) -> None:
    assert split_front_matter(f"---\nfield: {value}\nnext: 1\n---\n") == (
        {"field": value, "next": 1},
        "",
    )


@pytest.mark.parametrize(
    "text", ["a: " + "[" * 100_000, "a:\n" + "\n".join(" " * i + "- " for i in range(900))]
)
def test_deep_front_matter_is_text_too(text: str) -> None:
    fields, _ = split_front_matter(f"---\n{text}\n---\n")
    assert isinstance(fields["a"], str)


def test_a_text_without_front_matter_is_all_text() -> None:
    for text in ("", "---", "---\nno end\n", "--- \na: 1\n", "text\n---\n", "----\na: 1\n---\n"):
        assert split_front_matter(text) == ({}, text)
    assert split_front_matter("---\r\na: 1\r\n---\r\nb\r\n") == ({"a": 1}, "b\n")


# --- notes ----------------------------------------------------------------------------------------


def read_back(text: str, name: str, names: dict[str, str]) -> MemoryNote:
    ids = {name: note_id for note_id, name in names.items()}
    shape = parse_note(text, name).to_json(lambda target: ids.get(target, target))
    notes, problems = notes_from_json([shape], "2026-01-01T00:00:00.000Z", lambda: "0")
    assert problems == ()
    return notes[0]


@pytest.mark.parametrize("style", ["wikilink", "markdown"])
@given(
    title=LINES.filter(str.strip),
    content=TEXTS,
    reasons=st.lists(TEXTS.map(lambda text: " ".join(text.split())).filter(bool), max_size=3),
    unknown=st.dictionaries(TEXTS.filter(bool), VALUES, max_size=2),
)
def test_a_note_comes_back_with_all_that_it_has(
    style: LinkStyle, title: str, content: str, reasons: list[str], unknown: dict[str, Any]
) -> None:
    at = "2026-02-03T04:05:06.007Z"
    links = [NoteLink(f"note-b-{i}", reason, at) for i, reason in enumerate(reasons)]
    given_note = sample(1, nugget="a", title=title, content=content or title)._replace(
        links=tuple(links),
        extra={f"x{name}": unknown[name] for name in unknown},
        anchors=(Anchor("src/x.py", 3, ("ab",)),),
        confidence=0.0,
        hits=3,
        project="/home/me/x y",
        hidden=True,
        archived_at=at,
        valid_until=at,
        supersedes=("note-a-0",),
        hit_sessions=("s1", "s2"),
        last_hit_session="s2",
        tags=("one", "two:three"),
        stability_given=True,
    )
    shape = parse_note(render_note(given_note, {})).to_json(str)
    [note], problems = notes_from_json([shape], at, lambda: "0")
    assert problems == ()
    names = {
        "note-a-00000001": "a/A (b) c",
        **{link.to: f"b/Ünï {i}" for i, link in enumerate(links)},
    }
    text = render_note(note, names, link_style=style)

    assert note.links == given_note.links and note.extra == given_note.extra
    assert note.title == given_note.title and note.anchors == given_note.anchors
    assert read_back(text, "a/A (b) c", names) == note
    assert re.match(r"---\ntitle: ", text)


@pytest.mark.parametrize(
    "content",
    [
        "## Links",
        "text\n\n## Links\n\n- [[other]]: no link of ours",
        "---\nid: 1\n---\n\n## Links\n\n- [a](b.md)",
        "```\n## Links\n- [[x]]",
        " indented\nsecond",
    ],
)
@pytest.mark.parametrize("links", [(), (NoteLink("note-b-1", "why", ""),)])
def test_a_content_that_looks_like_a_file_of_ours_comes_back(
    content: str, links: tuple[NoteLink, ...]
) -> None:
    note = sample(content=content)._replace(links=links)
    file = parse_note(render_note(note, {}))

    assert file.content == content
    assert [link.target for link in file.links] == [link.to for link in links]


def test_a_person_may_write_links_fields_and_text_by_hand() -> None:
    file = parse_note(
        "---\ntitle: Tea\nmood: [calm]\n---\nGreen.\n\n## Links\n\n- [[Cups#handle|the cup]]\n"
        "- [Water](../b/Hot%20water.md): needs it\n",
        "a/Tea",
    )
    assert file.fields == {"title": "Tea", "mood": ["calm"]}
    assert file.content == "Green."
    assert [(link.target, link.reason) for link in file.links] == [
        ("Cups", ""),
        ("b/Hot water", "needs it"),
    ]


def test_a_section_with_other_text_is_content() -> None:
    text = "Green.\n\n## Links\n\n- [[Cups]]\nand a sentence.\n"
    assert parse_note(text).content == text.removesuffix("\n")
    assert parse_note(text).links == ()
