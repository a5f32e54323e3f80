"""Records to plain JSON and back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import example_count
from nuggets.domain import codec
from nuggets.domain.records import Anchor, MemoryNote, NoteLink, NuggetConfig
from nuggets.errors import InvalidInput
from store_samples import NOW, note

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
known = set(
    codec.note_to_json(note(1, archived_at=NOW, last_rewritten_at=NOW, last_inspected_at=NOW))
)
extras = st.dictionaries(words.filter(lambda w: w not in {*known, "linkFields"}), plain, max_size=2)
links = st.builds(NoteLink, words, words, st.just(NOW))
notes = st.builds(
    lambda number, content, tags, links, extra, hidden, kind: note(
        number,
        kind=kind,
        content=content,
        tags=tuple(tags),
        links=tuple(links),
        extra=extra,
        hidden=hidden,
        archived_at=NOW if hidden else None,
    ),
    st.integers(1, 9),
    words,
    st.lists(words, max_size=2),
    st.lists(links, max_size=2),
    extras,
    st.booleans(),
    st.sampled_from(["fact", "note"]),
)


configs = st.builds(
    lambda name, dims, temperature, extra: NuggetConfig(
        name, dims=dims, temperature=temperature, extra=extra
    ),
    words,
    st.integers(0, 9),
    st.floats(0, 2),
    st.dictionaries(st.sampled_from(["colour", "x"]), plain, max_size=2),
)


@settings(max_examples=example_count(150))
@given(notes, st.booleans())
def test_a_note_comes_back_from_its_json(made: MemoryNote, vector: bool) -> None:
    text = codec.dumps(codec.note_to_json(made, vector=vector))

    assert "\n" not in text
    assert codec.note_from_json(json.loads(text)) == made


def test_the_json_that_is_read_stays_as_it_is() -> None:
    made = note(1, links=(NoteLink("a", "r", NOW),), anchors=(Anchor("lib/x.py", 3, ("ab",)),))
    shape = codec.note_to_json(made)
    before = codec.dumps(shape)

    assert codec.note_from_json(shape) == made
    assert codec.dumps(shape) == before


def test_fields_that_others_wrote_into_links_stay_with_their_links() -> None:
    shape = codec.note_to_json(note(1))
    shape["links"] = [
        {"to": "a", "reason": "r", "createdAt": NOW, "weight": 3},
        {"to": "b", "reason": "r", "createdAt": NOW},
    ]
    made = codec.note_from_json(json.loads(json.dumps(shape)))

    assert made.links == (NoteLink("a", "r", NOW), NoteLink("b", "r", NOW))
    assert codec.note_to_json(made)["links"] == shape["links"]
    assert "linkFields" not in codec.note_to_json(made)
    assert "weight" not in str(codec.note_to_json(made._replace(links=made.links[1:])))


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":1,"a":2}',
        b"[" * 100_000,
        b'{"a":' + b"9" * 5000 + b"}",
        b"\xff",
        b'"\xed\xa0\x80"',
        '{"a":1}'.encode("utf-16"),
        b"",
        b"{",
    ],
)
def test_json_that_means_nothing_or_two_things_is_refused(text: bytes) -> None:
    with pytest.raises(InvalidInput, match="here: "):
        codec.loads(text, "here")
