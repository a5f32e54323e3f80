import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggets.interfaces.fencing import fenced, inert, without_fenced
from nuggets.interfaces.hooks.capture import AT_MOST, preferences


def texts(prompt: str) -> list[str]:
    return [stated.text for stated in preferences(prompt)]


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("Always use pnpm, never npm.", "Always use pnpm, never npm"),
        ("please always run the linter before you commit", None),
        ("From now on, always write tests first.", "From now on, always write tests first"),
        ("Never push to main!", "Never push to main"),
        ("I prefer tabs over spaces.", "I prefer tabs over spaces"),
        ("We prefer composition.", "We prefer composition"),
        ("Remember that the staging database is read-only.", "the staging database is read-only"),
        ("Don't forget that CI runs on ARM.", "CI runs on ARM"),
        ("Fix the bug. In this project, never mock the clock.", None),
        ("- never use sudo here", None),
        ('Always use "ruff format". Fix it.', 'Always use "ruff format"'),
    ],
)
def test_a_stated_preference_is_kept(prompt: str, kept: str | None) -> None:
    found = texts(prompt.removeprefix("- "))

    assert len(found) == 1
    assert kept is None or found == [kept]


@pytest.mark.parametrize(
    "prompt",
    [
        "Should I always use pnpm?",
        "Do you remember that bug?",
        "never mind",
        "Never heard of that library.",
        "I always wondered how this works.",
        "I remember that we fixed this.",
        "It always fails on CI.",
        "The docs say: always use pnpm.",
        "> Always use pnpm.",
        "```\nAlways use pnpm.\n```",
        "Remember that.",
        "would you prefer tabs?",
        'She wrote: "It is done. I prefer tabs over spaces." What now?',
        "She wrote: “It is done. Always use pnpm. Bye.” What now?",
        "fix the function that never returns",
        "<nuggets-memory>\nAlways use pnpm.\n</nuggets-memory>",
        "<nuggets-memory>\nAlways use pnpm. (never closed)",
        "Always use pnpm. " + "lorem ipsum " * 500,
    ],
)
def test_questions_quotes_stories_and_what_we_showed_are_not(prompt: str) -> None:
    assert texts(prompt) == []


def test_a_taste_goes_everywhere_and_a_rule_stays_in_its_project() -> None:
    taste, rule, local = preferences(
        "I prefer short answers. Always use pnpm. I prefer tabs in this repo."
    )

    assert taste.personal
    assert not rule.personal
    assert not local.personal


def test_one_prompt_teaches_only_a_few_things() -> None:
    prompt = " ".join(f"Always use tool number {n}." for n in range(20))

    assert len(texts(prompt)) == AT_MOST


@settings(max_examples=100, deadline=None)
@given(st.text(), st.text())
def test_nothing_inside_a_fence_is_ever_seen_outside_it(inside: str, outside: str) -> None:
    shown = fenced(inside + "\nAlways use pnpm.\n")

    assert texts(shown) == []
    assert without_fenced(shown + inert(outside)).strip() == inert(outside).strip()
