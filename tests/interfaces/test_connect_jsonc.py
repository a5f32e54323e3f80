import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import example_count
from nuggets.interfaces.connect import EditError, jsonc

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)
LAYOUTS = st.sampled_from([None, 2, 4, "\t"])


@settings(max_examples=example_count(150), deadline=None)
@given(OBJECTS, LAYOUTS, VALUES)
def test_setting_changes_one_member_and_nothing_else(
    data: dict[str, Any], layout: Any, value: Any
) -> None:
    text = json.dumps(data, indent=layout)
    after = jsonc.set_member(text, ["nuggets"], value)

    assert json.loads(after) == {**data, "nuggets": value}


@settings(max_examples=example_count(150), deadline=None)
@given(OBJECTS, LAYOUTS, VALUES)
def test_cutting_out_what_was_put_in_restores_the_meaning(
    data: dict[str, Any], layout: Any, value: Any
) -> None:
    data.pop("nuggets", None)
    text = json.dumps(data, indent=layout)
    after = jsonc.remove(jsonc.set_member(text, ["nuggets"], value), ["nuggets"])

    assert json.loads(after) == data


@settings(max_examples=example_count(150), deadline=None)
@given(OBJECTS, VALUES, VALUES)
def test_what_was_written_tightly_can_be_set_more_than_once(
    data: dict[str, Any], value: Any, other: Any
) -> None:
    text = json.dumps({**data, "servers": {}}, separators=(",", ":"))
    after = jsonc.set_member(text, ["servers", "nuggets"], value)
    after = jsonc.set_member(after, ["hooks"], [other])
    after = jsonc.append_item(after, ["hooks"], value)
    wanted = {**data, "servers": {"nuggets": value}, "hooks": [other, value]}

    assert json.loads(after) == wanted
    assert json.loads(jsonc.remove(after, ["hooks"])) == {
        key: value for key, value in wanted.items() if key != "hooks"
    }


@settings(max_examples=example_count(100), deadline=None)
@given(st.lists(VALUES, max_size=4), LAYOUTS, st.data())
def test_any_item_of_a_list_can_be_cut_out(items: list[Any], layout: Any, data: Any) -> None:
    text = jsonc.append_item(json.dumps({"list": items}, indent=layout), ["list"], "ours")
    place = data.draw(st.integers(0, len(items)))
    after = jsonc.remove(text, ["list", place])

    assert json.loads(text) == {"list": [*items, "ours"]}
    assert json.loads(after) == {"list": [*items, "ours"][:place] + [*items, "ours"][place + 1 :]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "n": 1\n}\n'),
        ("// nothing yet\r\n", '// nothing yet\r\n{\r\n  "n": 1\r\n}\r\n'),
        ("{}", '{\n  "n": 1\n}'),
        ("{\n}\n", '{\n  "n": 1\n}\n'),
        ('{"a": 2}', '{"a": 2, "n": 1}'),
        ('{\n\t"a": 2\n}', '{\n\t"a": 2,\n\t"n": 1\n}'),
        ('{\n  "a": 2, // why\n}', '{\n  "a": 2, // why\n  "n": 1\n}'),
        ('{\n  "a": 2 // why\n}', '{\n  "a": 2, // why\n  "n": 1\n}'),
        ('{\n  "a": 2}', '{\n  "a": 2,\n  "n": 1}'),
        ('{\n  "a": [\n]}', '{\n  "a": [\n],\n  "n": 1}'),
        ("{\n  // nothing yet\n}", '{\n  // nothing yet\n  "n": 1\n}'),
    ],
)
def test_a_new_member_follows_the_style_of_the_file(before: str, after: str) -> None:
    assert jsonc.set_member(before, ["n"], 1) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"n": 1}', "{}"),
        ('{"a": 2, "n": 1}', '{"a": 2}'),
        ('{"n": 1, "a": 2}', '{ "a": 2}'),
        ('{\n  "a": 2, // keep\n  "n": 1\n}', '{\n  "a": 2 // keep\n}'),
        ('{\n  "n": 1, // gone or not\n  "a": 2\n}', '{ // gone or not\n  "a": 2\n}'),
        ('{\n  // first\n  "n": 1}', "{\n  // first\n}"),
    ],
)
def test_cutting_keeps_comments_and_stays_readable(before: str, after: str) -> None:
    assert jsonc.remove(before, ["n"]) == after
    assert "n" not in jsonc.parse(after).value


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[", '{"a"', '{"a":', '{"a": }', '{"a": 1,, }', '{"a": tru}', '"open'),
        *("{} {}", "[" * 5000, "{a: 1}", "{'a': 1}", '{"a": 1 "b": 2}'),
    ],
)
def test_what_is_no_json_is_refused_with_a_place(text: str) -> None:
    with pytest.raises(EditError):
        jsonc.parse(text)


def test_comments_and_trailing_commas_are_read() -> None:
    text = '\ufeff// top\n{"a": [1, /* two */ 2,], "b": "// no comment",}\n// end'

    assert jsonc.parse(text).value == {"a": [1, 2], "b": "// no comment"}


def test_two_slashes_in_a_string_are_no_comment() -> None:
    before = '{"url": "https://example.org"}'
    text = jsonc.set_member(before, ["nuggets"], 1)

    assert jsonc.remove(text, ["nuggets"]) == before
