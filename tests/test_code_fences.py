"""Where fenced code begins and ends: for merging, tidying and MEMORY.md alike."""

import pytest

from nuggets.language.markdown import continues_code, opening_fence, without_code


@pytest.mark.parametrize("line", ["```", "```python", "~~~", "  ````", "- ```sh", "1. ~~~ `x`"])
def test_lines_that_open_code(line: str) -> None:
    assert opening_fence(line) is not None


@pytest.mark.parametrize("line", ["", "``", "~~", "```inline```", "text ```", "-```"])
def test_lines_that_open_none(line: str) -> None:
    assert opening_fence(line) is None


def continuing(text: str) -> list[str]:
    lines = text.split("\n")
    return [line for line, inside in zip(lines, continues_code(lines), strict=True) if inside]


def test_code_goes_on_up_to_the_mark_that_closes_it() -> None:
    assert continuing("a\n```py\nb\n```\nc") == ["b", "```"]


def test_a_shorter_mark_or_another_sign_does_not_close_it() -> None:
    assert continuing("````\nb\n```\n~~~~\n````\nc") == ["b", "```", "~~~~", "````"]


def test_a_longer_mark_closes_it() -> None:
    assert continuing("```\nb\n`````\nc") == ["b", "`````"]


def test_what_nothing_closes_goes_on_to_the_end() -> None:
    assert continuing("```\nb\n\nc") == ["b", "", "c"]


def test_code_in_a_list_item_ends_with_the_item() -> None:
    assert continuing("- ```\n  b\n\nafter") == ["  b", ""]


def test_prompts_lose_their_code_within_a_line_too() -> None:
    assert without_code("use ```rm -rf``` here") == "use \n here"
    assert without_code("see\n```\nx = 1") == "see\n\n"
