from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from example_counts import example_count
from nuggets.domain.names_and_tags import normal_tags, system_tags


def test_tags_are_written_lower_case_with_hyphens_once_and_with_those_of_the_system() -> None:
    tags = normal_tags(
        ["Two  Words", "auth", "AUTH", " ", "My Nugget"], "My Nugget", "user", "note"
    )

    assert tags == ("two-words", "auth", "my-nugget", "scope:user", "type:note")
    assert system_tags("My Nugget", "user", "note") == tags[2:]


def test_old_scope_and_type_tags_are_replaced() -> None:
    tags = normal_tags(["scope:user", "x", "Type:Note", "type:bug"], "n", "self", "style")

    assert tags == ("x", "type:bug", "n", "scope:self", "type:style")


@settings(max_examples=example_count(200))
@examples(st.lists(st.text(max_size=8), max_size=6), st.text(min_size=1, max_size=8))
def test_normalising_tags_twice_changes_nothing(tags: list[str], nugget: str) -> None:
    once = normal_tags(tags, nugget, "user", "note")

    assert normal_tags(once, nugget, "user", "note") == once
    assert len(set(once)) == len(once)
