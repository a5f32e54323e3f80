from typing import Any

import pytest

from graph_samples import sample
from nuggets.domain.records import NoteFilterOptions
from nuggets.domain.visibility import checked_filters, matches
from nuggets.errors import InvalidInput

NOTE = sample(title="server port", nugget="Café", tags=["Two words"])


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        ({}, None),
        ({"subject": "shared:project"}, {"subject": "shared"}),
        ({"scope": "shared"}, {"scope": "project"}),
        ({"type": "note"}, {"type": "fact"}),
        ({"kind": "note"}, {"kind": "fact"}),
        ({"nugget": "CAFE\u0301"}, {"nugget": "Caf"}),
        ({"tag": "two-words"}, {"tag": "two"}),
        ({"tag": "scope:shared", "kind": "note"}, {"tag": "scope:shared", "kind": "fact"}),
    ],
)
def test_a_note_matches_when_all_that_is_asked_holds(
    asked: dict[str, Any], refused: dict[str, Any] | None
) -> None:
    assert matches(NOTE, NoteFilterOptions(**asked))
    assert refused is None or not matches(NOTE, NoteFilterOptions(**refused))


def test_an_archived_note_matches_only_when_asked_for() -> None:
    hidden = NOTE._replace(hidden=True)

    assert not matches(hidden, NoteFilterOptions())
    assert matches(hidden, NoteFilterOptions(include_hidden=True))


@pytest.mark.parametrize("field", ["scope", "type", "kind"])
def test_a_misspelt_filter_is_refused(field: str) -> None:
    wrong: dict[str, Any] = {field: "nots"}

    assert checked_filters(NoteFilterOptions()) == NoteFilterOptions()
    with pytest.raises(InvalidInput, match=f"{field} must be one of"):
        checked_filters(NoteFilterOptions(**wrong))


def test_a_tag_is_asked_for_however_it_is_written() -> None:
    assert checked_filters(NoteFilterOptions(tag="Two  WORDS")).tag == "two-words"
    assert checked_filters(NoteFilterOptions(tag="cafe\u0301")).tag == "café"


@pytest.mark.parametrize("wrong", [{"include_hidden": "no"}, {"tag": 7}])
def test_a_filter_of_the_wrong_kind_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        checked_filters(NoteFilterOptions(**wrong))
