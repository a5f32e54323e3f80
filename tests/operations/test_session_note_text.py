import pytest

from nuggets.domain.credentials import credential_kinds
from nuggets.operations.session_note_text import (
    SUMMARY_CHARACTERS,
    Step,
    Summary,
    summarize,
    title_of,
)
from nuggets.operations.session_requests import is_substantial
from secret_samples import CREDENTIALS, Sample


def asked(*requests: str) -> list[Step]:
    return [Step("request", request) for request in requests]


def summary_of(*steps: Step) -> Summary:
    summary = summarize(steps)
    assert summary is not None
    return summary


@pytest.mark.parametrize(
    "request_text",
    [
        "port the importer to asyncio",
        "fix the failing importer tests",
        "Wie lösen wir die Migration der Bestellungen?",
        "把订单表迁移到UUID",
        "why does src/auth.py:47 raise?",
    ],
)
def test_a_request_that_names_something_is_substantial(request_text: str) -> None:
    assert is_substantial(request_text)


@pytest.mark.parametrize(
    "request_text",
    [
        *("go on", "yes", "Yes, please!", "ok, do it", "continue", "thanks, looks good", "/clear"),
        *("2", "no", "try again", "", "   ", "yes, go ahead and fix it", "好的"),
        *("ja, mach weiter", "sí, adelante, gracias", "oui, vas-y", "sounds good, go on"),
    ],
)
def test_a_word_of_assent_is_not(request_text: str) -> None:
    assert not is_substantial(request_text)


def test_the_goal_is_the_first_substantial_request() -> None:
    steps = asked("hello", "Port the importer to asyncio", "go on", "Add tests for the importer")

    summary = summary_of(*steps)

    assert summary.goal == "Port the importer to asyncio"
    assert "Asked last: Add tests for the importer" in summary.text
    assert "go on" not in summary.text


def test_a_session_without_a_substantial_request_has_no_summary() -> None:
    assert summarize([*asked("hi", "yes"), Step("reply", "Hello, what shall we do?")]) is None


def test_the_same_steps_give_the_same_text() -> None:
    steps = [*asked("Port the importer to asyncio"), Step("file", "a.py"), Step("file", "b.py")]

    assert summarize(steps) == summarize(list(steps))


def test_a_command_that_failed_and_passed_is_told_apart_from_one_that_still_fails() -> None:
    summary = summary_of(
        *asked("Port the importer to asyncio"),
        Step("command", "cd app && pytest -q 2>&1 | tail", failed=True),
        Step("command", "pytest -q", failed=True),
        Step("command", "make lint", failed=True),
        Step("command", "rg asyncio", failed=True),
        Step("command", "pytest -q > out.txt", failed=False),
        Step("command", "git push", failed=None),
        Step("reply", "Done."),
    )

    assert "Failed, then passed: pytest -q (2×)" in summary.text
    assert "Open: still fails: make lint" in summary.text
    assert "rg asyncio" not in summary.text
    assert "git push" not in summary.text


def test_commits_are_told_as_git_told_them() -> None:
    summary = summary_of(
        *asked("Port the importer to asyncio"),
        Step("command", "git commit -qm 'importer: async'", failed=False),
        Step("command", "git commit", False, "[main (root-commit) 1a2b3c4] start\n 1 file"),
        Step("command", "git commit -m 'not made'", failed=True),
        Step("command", "git commit -m \"$(cat <<'EOF'\nparser: streams\n\nMore.\nEOF\n)\"", False),
    )

    assert "Commits:\n- importer: async\n- 1a2b3c4 start\n- parser: streams" in summary.text
    assert "not made" not in summary.text


def test_decisions_and_corrections_are_kept_in_the_words_of_the_person() -> None:
    summary = summary_of(
        *asked("Port the importer to asyncio. Let's go with httpx instead of aiohttp."),
        *asked(
            "No, keep the retry logic in the client.", "Look at this:\n```\nnever mind this\n```"
        ),
        Step("reply", "Decision: the queue stays in Redis.\nI read the code."),
    )

    assert "Let's go with httpx instead of aiohttp." in summary.text
    assert "- No, keep the retry logic in the client." in summary.text
    assert "- Decision: the queue stays in Redis." in summary.text
    assert "- never mind this" not in summary.text


def test_what_is_open_is_the_unanswered_the_unfinished_and_what_the_agent_left() -> None:
    summary = summary_of(
        *asked("Port the importer to asyncio"),
        Step("plan", "Port the parser\nPort the writer"),
        Step("plan", "Port the writer"),
        Step("reply", "The parser is ported. The writer still needs a buffer."),
        *asked("Now port the writer to asyncio"),
    )

    assert "- not answered: Now port the writer to asyncio" in summary.text
    assert "- Port the writer\n" in summary.text
    assert "Port the parser" not in summary.text
    assert "- The writer still needs a buffer." in summary.text


def test_a_long_session_is_told_in_bounded_room_and_its_goal_stays() -> None:
    steps = asked(*(f"Rewrite the module number {n} {'with much care ' * 40}" for n in range(60)))
    steps += [Step("file", f"src/{'deep/' * 10}module_{n}.py") for n in range(500)]
    steps += [Step("command", f"make check-{n}", failed=True) for n in range(500)]
    steps += [Step("reply", "many words " * 10_000)]

    summary = summary_of(*steps)

    assert len(summary.text) <= SUMMARY_CHARACTERS
    assert summary.text.startswith("Goal: Rewrite the module number 0 ")
    assert len(title_of(summary.goal, "2026-03-04")) <= 100


@pytest.mark.parametrize("sample", CREDENTIALS.values(), ids=CREDENTIALS.keys())
def test_no_credential_gets_into_a_summary(sample: Sample) -> None:
    secret = sample.text
    summary = summary_of(
        *asked(f"Deploy the importer with {secret}", f"Then check the importer, no: {secret}"),
        Step("command", f"deploy {secret}", failed=True),
        Step("reply", f"Next step: rotate {secret}"),
    )

    assert credential_kinds(f"{summary.goal}\n{summary.text}") == []


def test_what_memory_showed_is_not_learnt_again() -> None:
    shown = "<nuggets-memory>\nPort the parser to Rust\n</nuggets-memory>"

    summary = summary_of(
        *asked(shown, "Port the importer to asyncio"), Step("reply", f"It says {shown}")
    )

    assert "Rust" not in summary.text
