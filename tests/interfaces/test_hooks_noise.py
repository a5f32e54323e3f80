from collections.abc import Iterator

import pytest

from enough_sessions import ENOUGH_SESSIONS
from nuggets import PROMOTE_THRESHOLD
from nuggets.interfaces.hooks.prompt_context import prompt_context
from nuggets.shelf import NuggetShelf
from prompt_samples import (
    FITTING,
    FITTING_UNSEEN,
    SHOP,
    SILENT,
    SILENT_UNSEEN,
    lived_in,
    measured,
)


@pytest.fixture(scope="module")
def fresh() -> NuggetShelf:
    return lived_in()


@pytest.fixture(scope="module")
def cleaned_up() -> NuggetShelf:
    shelf = lived_in()
    shelf.reflect(limit=1000)
    return shelf


@pytest.fixture
def shelf() -> NuggetShelf:
    return lived_in()


def told(shelf: NuggetShelf, prompt: str, session: str = "") -> list[str]:
    shelf.project = SHOP
    return [
        shelf.get_note(note, session=None).title
        for note in prompt_context(shelf, prompt, frozenset(), session)[1]
    ]


def hits(shelf: NuggetShelf) -> dict[str, int]:
    return {note.title: note.hits for note in shelf.list_notes() if note.hits}


@pytest.mark.parametrize("state", ["fresh", "cleaned_up"])
@pytest.mark.parametrize(
    ("silent", "fitting"), [(SILENT, FITTING), (SILENT_UNSEEN, FITTING_UNSEEN)]
)
def test_at_most_one_prompt_in_thirty_gets_noise_and_nine_in_ten_get_their_note(
    state: str,
    silent: tuple[tuple[str, str], ...],
    fitting: tuple[tuple[str, ...], ...],
    request: pytest.FixtureRequest,
) -> None:
    found = measured(request.getfixturevalue(state), silent, fitting)

    assert len(found.noise) <= len(silent) / 30, found.noise
    assert len(found.missed) <= len(fitting) / 10, found.missed


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks, looks good",  # good resembles mood
        "I never said that",
        "write a haiku about autumn",
        "good job",
        "what's 2+2",
        "run it again",
        "my favourite theme park is closed",  # park resembles dark, beside theme
    ],
)
@pytest.mark.parametrize("state", ["fresh", "cleaned_up"])
def test_talk_resemblance_and_numbers_are_no_evidence(
    state: str, prompt: str, request: pytest.FixtureRequest
) -> None:
    assert told(request.getfixturevalue(state), prompt) == []


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("tests first", "tests first"),
        ("please never mind the tests first rule", "tests first"),
        ("name?", "name"),
        ("deploy?", "deploy"),
        ("where is the paymnt webhook?", "payment webhook"),
    ],
)
def test_what_is_called_by_its_name_always_comes(
    prompt: str, title: str, fresh: NuggetShelf
) -> None:
    assert title in told(fresh, prompt)


def test_only_the_best_note_counts_as_recalled(shelf: NuggetShelf) -> None:
    shown = told(shelf, "is the auth handler or the payment webhook broken?", "s")

    assert len(shown) > 1
    assert hits(shelf) == {shown[0]: 1}


def test_a_note_that_is_merely_near_is_shown_and_not_counted(shelf: NuggetShelf) -> None:
    shown = told(shelf, "lint the code", "s")

    assert "lint cmd" in shown
    assert hits(shelf) == {}


def test_what_prompts_ask_for_in_enough_sessions_sticks_and_noise_does_not(
    shelf: NuggetShelf,
) -> None:
    for session in ENOUGH_SESSIONS:
        for prompt, project in SILENT:
            shelf.project = project
            prompt_context(shelf, prompt, frozenset(), session)
        shelf.project = SHOP
        prompt_context(shelf, "where is the auth handler?", frozenset(), session)

    assert [title for title, count in hits(shelf).items() if count >= PROMOTE_THRESHOLD] == [
        "auth handler"
    ]


def test_files_that_were_seen_crowd_out_no_note(shelf: NuggetShelf) -> None:
    for number in range(60):
        shelf.create_note(
            "files",
            f"file: src/auth/handler/auth{number}.ts",
            f"src/auth/handler/auth{number}.ts was read on 2026-01-31",
            scope="project",
            source="tool_observation",
            stability="temporary",
            project=SHOP,
        )

    assert told(shelf, "where is the auth handler?")[0] == "auth handler"


def test_a_title_of_idle_words_is_not_named_in_passing(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "Good work", "What the review of May said.", project=SHOP)
    shelf.create_note("n", "Next time", "Ask Mara before the release.", project=SHOP)

    assert "Good work" not in told(shelf, "good work, now fix the parser")
    assert "Next time" not in told(shelf, "ok, next time run the tests first")


PATHS = (
    ("cart totals", "src/cart/totals.ts computes them; tests next to it"),
    ("gift cards", "The model is src/gift/card.ts, the form src/gift/form.tsx."),
    ("mail templates", "MJML files in packages/mail/templates, previewed on port 5055"),
    ("runbook", "The switchover is described in docs/runbooks/failover.md."),
)


@pytest.fixture
def shelf_with_paths() -> Iterator[NuggetShelf]:
    with NuggetShelf("memory:", project=SHOP) as shelf:
        for title, content in PATHS:
            shelf.remember("project", title, content, project=SHOP)
        yield shelf


@pytest.mark.parametrize(
    "prompt",
    [
        "open src/wishlist/item.ts and rename the prop",
        "why does src/cart/rounding.test.ts fail?",
        "TypeError: cannot read slug\n    at renderCard (src/catalog/card.tsx:42:17)",
        "move src/forms/ to lib/",
        "there is an unused import in packages/mail/src/transport.ts, drop it",
        "delete docs/README.md, nobody reads it",
    ],
)
def test_parts_of_a_path_are_no_words(prompt: str, shelf_with_paths: NuggetShelf) -> None:
    assert told(shelf_with_paths, prompt) == []


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("open src/gift/card.ts", "gift cards"),
        ("what is in card.ts?", "gift cards"),
        ("open /home/me/shop/src/cart/totals.ts:12", "cart totals"),
        ("fix packages/mail/templates/order.mjml", "mail templates"),
        ("what is `failover.md` about?", "runbook"),
        ("请打开src/gift/card.ts，改一下名字", "gift cards"),
    ],
)
def test_a_path_is_found_as_a_whole_by_its_file_name_or_its_own_directory(
    prompt: str, title: str, shelf_with_paths: NuggetShelf
) -> None:
    assert told(shelf_with_paths, prompt) == [title]


@pytest.fixture
def shelf_with_names() -> Iterator[NuggetShelf]:
    with NuggetShelf("memory:", project=SHOP) as shelf:
        for title, content in (
            ("Falcon: the new importer", "Falcon reads supplier files and replaces the old cron."),
            ("designer", "Annika Holm, works until Wednesday"),
            ("error tracking", "GlitchTip, self-hosted"),
            ("云雀：新的导入程序", "读取供应商的文件。"),
            ("backups", "restic to the disk vault7, on Sundays"),
            ("Deploys", "Never on a Friday, because nobody is there on Saturday."),
        ):
            shelf.create_note("project", title, content, project=SHOP)
        yield shelf


@pytest.mark.parametrize(
    ("prompt", "titles"),
    [
        ("pull up what we know on Falcon", ["Falcon: the new importer"]),
        ("I'm seeing Annika tomorrow, what a nice week that will be", ["designer"]),
        ("somebody says GlitchTip is slow again since this morning", ["error tracking"]),
        ("vault7 has been beeping since yesterday evening, no idea why", ["backups"]),
        ("云雀今天又停了", ["云雀：新的导入程序"]),
        ("the falconry page has a typo in its second headline", []),
        ("ask Annikasson to repaint the kitchen wall", []),
        ("I'll be away this Saturday, so write me a summary of the change", []),
    ],
)
def test_a_name_is_evidence_and_part_of_a_longer_word_is_not(
    prompt: str, titles: list[str], shelf_with_names: NuggetShelf
) -> None:
    assert told(shelf_with_names, prompt) == titles
