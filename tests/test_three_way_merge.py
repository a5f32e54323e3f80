"""What the author of an edited copy changed, and where others changed the same since."""

from nuggets.domain.three_way_merge import find_removed, merge_items, merge_record


def test_only_what_the_author_changed_is_a_change() -> None:
    merge = merge_record({"a": 1, "b": 1}, {"a": 1, "b": 2, "c": 3}, {"a": 9, "b": 1})

    assert merge == ({"b": 2, "c": 3}, ())


def test_a_field_that_is_left_out_is_no_change() -> None:
    assert merge_record({"a": 1, "b": 1}, {"a": 1}, {"a": 1, "b": 1}).changed == {}


def test_what_both_changed_is_a_conflict_unless_they_agree() -> None:
    base, theirs = {"a": 1, "b": 1}, {"a": 2, "b": 2}

    assert merge_record(base, theirs, {"a": 3, "b": 2}).conflicts == ("a",)


def test_a_removed_record_that_someone_has_changed_since_stays() -> None:
    base = {"a": 1, "b": 1, "c": 1, "d": 1}
    ours = {"a": 1, "b": 2, "d": 1}

    assert find_removed(base, {"d"}, ours, int.__eq__) == ["a"]


def test_a_list_keeps_what_others_added_and_loses_what_the_author_removed() -> None:
    merged = merge_items(["a", "b"], ["b", "new"], ["a", "b", "ours"], str)

    assert merged == ["b", "ours", "new"]
