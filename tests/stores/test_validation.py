"""Files as others may have written them: what is wrong in them is told by name."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import example_count
from nuggets.domain import codec
from nuggets.domain.records import NuggetConfig
from nuggets.errors import InvalidInput
from nuggets.stores import json_validation
from store_samples import note

configs = st.builds(
    lambda name, dims, temperature, extra: NuggetConfig(
        name, dims=dims, temperature=temperature, extra=extra
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.integers(2, 9),
    st.floats(0, 2),
    st.dictionaries(st.sampled_from(["colour", "x"]), st.none() | st.lists(st.booleans())),
)


@settings(max_examples=example_count(50))
@given(configs)
def test_a_nugget_comes_back_from_its_file(config: NuggetConfig) -> None:
    shape = json.loads(codec.dumps(codec.nugget_to_json(config, [note(1)])))
    made, facts = json_validation.nugget_from_json(shape, "x")

    assert made == config
    assert [fact["key"] for fact in facts] == ["key 1"]


def test_what_could_never_be_written_again_is_refused() -> None:
    deep: object = 1
    for _ in range(985):
        deep = [deep]
    hopeless: list[object] = [{"a": "\ud800"}, {"a": float("inf")}, {"\udfff": 1}, deep]
    for shape in hopeless:
        with pytest.raises(InvalidInput, match="here: "):
            json_validation.check_savable(shape, "here")
    json_validation.check_savable({"a": ["ok", 1.5, None, "🎉"]}, "here")


WRONG: dict[str, list[object]] = {
    "id": [1, "", "  ", "a\nb", "a" * 257],
    "title": [3, "\ud800"],
    "content": [["a"]],
    "tags": ["a", [1]],
    "links": [{}, [1], [{"to": 1}], [{}]],
    "hidden": [0, "yes"],
    "hits": [-1, 1.5, True, "1", 2**63],
    "confidence": ["high", True, 10**400],
    "kind": ["thing"],
    "scope": ["all"],
    "type": ["x"],
    "source": ["x"],
    "stability": ["x"],
    "createdAt": [5],
    "hitSessions": ["s", [1]],
    "linkFields": [5, {"a r": 5}],
}


@pytest.mark.parametrize("field, value", [(f, v) for f, values in WRONG.items() for v in values])
def test_a_field_of_the_wrong_type_is_refused_by_name(field: str, value: object) -> None:
    shape = {**codec.note_to_json(note(1)), field: value}

    with pytest.raises(InvalidInput, match=field):
        json_validation.check_note(shape, "note 7")


@pytest.mark.parametrize("field", ["id", "nuggetName", "title", "content", "kind", "archivedAt"])
def test_a_field_that_is_null_counts_as_missing(field: str) -> None:
    shape = {**codec.note_to_json(note(1)), field: None, "mood": None}

    assert field not in json_validation.check_note(shape, "note 7")
    assert json_validation.check_note(shape, "note 7")["mood"] is None
