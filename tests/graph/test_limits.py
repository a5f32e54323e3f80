from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

from nuggets.domain.limits import (
    CONTENT_BYTES,
    checked_content,
    checked_name,
    checked_reason,
    checked_tags,
    checked_value,
)
from nuggets.errors import InvalidInput


def checked_key(text: str) -> str:
    return checked_name(text, "a key")


TEXTS: list[Callable[[str], object]] = [
    checked_key,
    checked_value,
    checked_content,
    lambda text: checked_reason(text, "related"),
    lambda text: checked_tags([text]),
]


@pytest.mark.parametrize("check", TEXTS)
@pytest.mark.parametrize(
    ("text", "complaint"),
    [("a\0b", "NUL"), ("a\ud800b", "surrogate.*position 1"), (7, "a text, not 7")],
)
def test_what_no_file_could_hold_is_refused_everywhere(
    check: Callable[[Any], object], text: Any, complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        check(text)


@pytest.mark.parametrize("check", TEXTS)
def test_other_control_characters_are_data(check: Callable[[str], object]) -> None:
    kept = check("a\x1b[31m\x07b")

    assert kept in ("a\x1b[31m\x07b", ("a\x1b[31m\x07b",))


def test_names_are_trimmed_and_end_at_512_characters() -> None:
    assert checked_key(f"  {'é' * 512}\n") == "é" * 512
    with pytest.raises(InvalidInput, match=r"at most 512 characters; this has 513"):
        checked_key("x" * 513)


@pytest.mark.parametrize("check", [checked_key, checked_value])
@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_name_or_value_is_refused(check: Callable[[str], str], text: str) -> None:
    with pytest.raises(InvalidInput, match="must not be empty"):
        check(text)


class Named(str, Enum):  # noqa: UP042
    """As many are made; the text of it is "Named.KEY"."""

    KEY = "the key"


@pytest.mark.parametrize("check", TEXTS)
def test_a_member_of_an_enum_is_the_text_it_stands_for(check: Callable[[str], object]) -> None:
    kept = check(Named.KEY)
    [plain] = kept if isinstance(kept, tuple) else [kept]

    assert (type(plain), plain) == (str, "the key")


def test_a_key_is_never_rewritten_inside() -> None:
    decomposed = "Cafe\u0301  AT\tnoon"

    assert checked_key(decomposed) == decomposed


@pytest.mark.parametrize("check", [checked_value, checked_content])
def test_content_ends_at_one_mebibyte_of_utf_8(check: Callable[[str], str]) -> None:
    full = "é" * (CONTENT_BYTES // 2)

    assert check(full) == full
    with pytest.raises(InvalidInput, match=r"at most 1048576 bytes of UTF-8; this has 1048577"):
        check(full + "x")


def test_content_of_a_note_may_be_empty() -> None:
    assert checked_content("") == ""


def test_a_missing_reason_has_a_default_and_a_long_one_is_refused() -> None:
    assert checked_reason("  ", "related") == "related"
    assert checked_reason(" both use JWT ", "related") == "both use JWT"
    with pytest.raises(InvalidInput, match="a reason may have at most 512"):
        checked_reason("x" * 513, "related")


def test_a_long_tag_is_refused_and_so_is_one_text_instead_of_a_list() -> None:
    assert checked_tags(["x" * 64]) == ("x" * 64,)
    with pytest.raises(InvalidInput, match="a tag may have at most 64"):
        checked_tags(["ok", "x" * 65])
    with pytest.raises(InvalidInput, match="list"):
        checked_tags("auth")
