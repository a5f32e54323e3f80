"""A prompt judged by meaning too: asked of a living process, or by an encoder loaded for it."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
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
from nuggets.interfaces.encoder_socket import EncoderSocket, ask_living_process
from nuggets.interfaces.hooks.prompt_context import prompt_context
from nuggets.interfaces.hooks.prompt_meaning import has_topic, meant_cosine

QUESTION = "somebody got billed two times for the same order"
CONTENT = "Every charge carries a key, or customers pay twice when a request is retried."


@pytest.fixture(scope="session")
def model_file() -> Path:
    return installed_model()


def letters(texts: Sequence[str]) -> list[list[float]]:
    """How often each of some letters is in a text."""
    return [[0.1 + text.count(letter) for letter in "aeiou"] for text in texts]


@pytest.fixture
def shelf(directory: Path) -> Iterator[NuggetShelf]:
    with NuggetShelf(directory, project="", encoder=letters) as opened:
        opened.create_note("n", "Payments", CONTENT)
        opened.encoder.update()
        yield opened


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
    assert "loaded the encoder, 2 notes compared" in why


def test_a_hook_without_time_judges_by_words(project: Path) -> None:
    told, why = run_hook(project, QUESTION, {**PATIENT, "NUGGETS_HOOK_SECONDS": "0.45"})

    assert told == ""
    assert why == "" or "no time to load" in why  # "": the whole hook was too slow


def test_a_hook_asks_a_living_process(project: Path) -> None:
    with NuggetShelf(project.parent / "shelf", project="") as living:
        socket = EncoderSocket(living)
        socket.open()
        try:
            told, why = run_hook(project, QUESTION)
        finally:
            socket.close()

    assert "Stripe idempotency" in told
    assert "asked a living process, 2 notes compared" in why


def test_a_prompt_without_a_topic_asks_nobody(project: Path) -> None:
    told, why = run_hook(project, "yes, do it")

    assert told == ""
    assert "names no topic" in why


def test_a_shelf_without_an_encoder_says_and_does_nothing(project: Path) -> None:
    os.unlink(model_path(str(project.parent / "shelf")))

    assert run_hook(project, QUESTION) == ("", "")


def test_a_living_process_tells_its_own_user_what_is_near(
    shelf: NuggetShelf, directory: Path
) -> None:
    socket = EncoderSocket(shelf)
    socket.open()
    path = directory / "hooks" / "encoder.socket"

    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
    nearest = ask_living_process(str(directory), CONTENT, 60)
    assert nearest is not None
    assert nearest.compared == 1
    assert [round(cosine, 1) for cosine in nearest.cosines.values()] == [1.0]
    socket.close()
    assert not path.exists()
    assert ask_living_process(str(directory), CONTENT, 60) is None


def test_the_first_process_answers_and_the_next_takes_over(
    shelf: NuggetShelf, directory: Path
) -> None:
    first, second = EncoderSocket(shelf), EncoderSocket(shelf)
    first.open()
    second.open()
    second.close()
    assert ask_living_process(str(directory), CONTENT, 60) is not None
    first.close()

    second.open()

    assert ask_living_process(str(directory), CONTENT, 60) is not None
    second.close()


def test_a_socket_that_a_killed_process_left_is_replaced(
    shelf: NuggetShelf, directory: Path
) -> None:
    os.makedirs(directory / "hooks", exist_ok=True)
    script = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
    path = directory / "hooks" / "encoder.socket"
    subprocess.run([sys.executable, "-c", script, "encoder.socket"], cwd=path.parent, check=True)
    assert path.exists()
    socket = EncoderSocket(shelf)

    socket.open()

    assert ask_living_process(str(directory), CONTENT, 60) is not None
    socket.close()


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
