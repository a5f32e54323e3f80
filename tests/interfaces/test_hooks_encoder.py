"""A prompt judged by meaning too, by an encoder that its hook loads."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import paraphrase_samples as paraphrases
import prompt_samples as prompts
from agent_doors import PATIENT, repository
from encoder_model import installed_model
from nuggets import NuggetShelf
from nuggets.encoder.installation import model_path
from nuggets.encoder.minilm import load_model
from nuggets.encoder.vector_index import NearestNotes
from nuggets.interfaces.hooks.prompt_context import prompt_context
from nuggets.interfaces.hooks.prompt_meaning import has_topic, meant_cosine

QUESTION = "somebody got billed two times for the same order"
CONTENT = "Every charge carries a key, or customers pay twice when a request is retried."


@pytest.fixture(scope="session")
def model_file() -> Path:
    return installed_model()


@pytest.fixture
def project(directory: Path, model_file: Path) -> Path:
    """A repository, with a shelf that has the real encoder."""
    made = repository(directory / "here")
    os.makedirs(directory / "shelf")
    shutil.copy(model_file, model_path(str(directory / "shelf")))
    with NuggetShelf(directory / "shelf", project=str(made / ".git")) as shelf:
        shelf.create_note("learnings", "Stripe idempotency", CONTENT)
        shelf.create_note("learnings", "Fonts", "Self-hosted Inter, subset to latin.")
        shelf.encoder.update()
    return made


def run_hook(project: Path, prompt: str, env: Mapping[str, str] = PATIENT) -> tuple[str, str]:
    """The answer of the hook, and what `--why` says."""
    sent = {"session_id": "s", "cwd": str(project), "prompt": prompt}
    done = subprocess.run(
        [sys.executable, "-m", "nuggets", "hook", "user-prompt", "--why"],
        input=json.dumps(sent).encode(),
        capture_output=True,
        env={**os.environ, "NUGGETS_DIR": str(project.parent / "shelf"), **env},
        check=True,
    )
    return done.stdout.decode(), done.stderr.decode()


def test_a_hook_loads_the_encoder_if_it_has_time(project: Path) -> None:
    told, why = run_hook(project, QUESTION)

    assert "Stripe idempotency" in told
    assert "Fonts" not in told
    assert why.startswith("encoder: loaded, and 2 notes compared, in ")
    assert why.count("\n") == 1


def test_a_hook_without_time_judges_by_words(project: Path) -> None:
    told, why = run_hook(project, QUESTION, {**PATIENT, "NUGGETS_HOOK_SECONDS": "0.45"})

    assert told == ""
    assert why == "" or "no time was left" in why  # "": the whole hook was too slow


def test_a_prompt_without_a_topic_is_not_compared(project: Path) -> None:
    told, why = run_hook(project, "yes, do it")

    assert told == ""
    assert "names no topic" in why


def test_a_shelf_without_an_encoder_says_and_does_nothing(project: Path) -> None:
    os.unlink(model_path(str(project.parent / "shelf")))

    assert run_hook(project, QUESTION) == ("", "")


def test_a_note_far_away_in_meaning_is_not_shown_for_one_word() -> None:
    with NuggetShelf("memory:") as shelf:
        shelf.remember("project", "deploy window", "on Mondays, Imogen watches")
        prompt = "Imogen and her sister went swimming in the lake last summer"
        [note] = prompt_context(shelf, prompt, frozenset(), "")[1]

        def compare(_: str) -> NearestNotes:
            return NearestNotes({note: 0.11}, 1)

        assert prompt_context(shelf, prompt, frozenset(), "", compare) == ("", [])
        named = prompt_context(shelf, "deploy window", frozenset(), "", compare)[1]
        assert named == [note]


def test_the_more_notes_there_are_the_nearer_one_must_be() -> None:
    least = [meant_cosine(notes, 0.3) for notes in (3, 50, 500, 5000)]

    assert least[0] == least[1] < least[2] < least[3]


def test_a_prompt_that_asks_for_no_memory_needs_a_nearer_note() -> None:
    with prompts.lived_in() as shelf:
        [note] = [found for found in shelf.list_notes() if found.title == "Fonts"]
        shelf.project = note.project

        def shown(prompt: str, cosine: float, common: float) -> list[str]:
            nearest = NearestNotes({note.id: cosine}, 1, common)
            return prompt_context(shelf, prompt, frozenset(), "", lambda _: nearest)[1]

        assert shown("the typeface appears late", 0.35, 0.3) == [note.id]
        assert shown("the typeface appears late", 0.35, 0.6) == []
        assert shown("the typeface appears late", 0.75, 0.6) == [note.id]
        # words of the note, which alone were not enough, do not make it nearer
        assert shown("swap the seats in the car", 0.35, 0.3) == []


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (QUESTION, True),
        ("yes, do it", False),
        ("wie lange bleibt ein Warenkorb bestehen und warum", False),
        ("カートはいつ消えますか", False),
    ],
)
def test_only_a_topic_in_english_is_compared(prompt: str, expected: bool) -> None:
    assert has_topic(prompt) is expected


def test_paraphrases_find_their_note_and_other_prompts_stay_silent(model_file: Path) -> None:
    encoder = load_model(str(model_file))
    found = wanted = noise = others = 0
    for make, silent, fitting in paraphrases.SAMPLES:
        with make() as shelf:
            judged = paraphrases.judge(shelf, encoder, silent, fitting)
        found += len(fitting) - len(judged.missed)
        wanted += len(fitting)
        noise += len(judged.noise)
        others += len(silent)

    assert found >= 0.6 * wanted
    assert noise <= 3 / 60 * others


def test_meaning_takes_no_note_from_prompts_in_its_words(model_file: Path) -> None:
    fitting = prompts.FITTING + prompts.FITTING_UNSEEN
    encoder = load_model(str(model_file))
    with prompts.lived_in() as shelf:
        words = prompts.measured(shelf, (), fitting)
        both = paraphrases.judge(shelf, encoder, (), fitting)

    assert set(both.missed) <= set(words.missed)
