"""The fact memory as documented, through the public API: what no other test shows."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nuggets import Nugget, NuggetShelf, RecallResult
from nuggets.facts.fhrr import bind, phasors, seed_from_text, sharpen

NOISY: dict[str, Any] = {"dims": 24, "banks": 1}  # so few dimensions that answers are unsure


def file_of(directory: Path, name: str) -> dict[str, Any]:
    shape: dict[str, Any] = json.loads((directory / f"{name}.nugget.json").read_text())
    return shape


def filled(nugget: Nugget) -> Nugget:
    for number in range(4):
        nugget.remember(f"key {number}", f"value {number}")
    return nugget


def all_answers(nugget: Nugget) -> list[RecallResult]:
    return [nugget.recall(f"key {number}")._replace(note_id="") for number in range(4)]


def test_the_defaults_are_as_documented(directory: Path) -> None:
    nugget = Nugget("n", save_dir=directory)

    status = nugget.status()
    nugget.shelf.close()
    config = file_of(directory, "n")["config"]

    assert (status.dimension, status.banks, status.ensembles) == (16384, 4, 1)
    assert (config["temp_T"], config["sharpen_p"], config["corvacs_a"]) == (0.9, 1.0, 0.0)


def test_binding_is_multiplying_complex_numbers_element_by_element() -> None:
    a, b = phasors(seed_from_text("n"), 2, 64)
    real = a.real * b.real - a.imag * b.imag
    imaginary = a.real * b.imag + a.imag * b.real

    bound = bind(a, b)

    assert np.allclose(bound.real, real, atol=1e-6)
    assert np.allclose(bound.imag, imaginary, atol=1e-6)
    assert np.allclose(np.angle(bound / (a * b)), 0, atol=1e-5)


def test_a_power_above_one_makes_the_strong_stand_out() -> None:
    z = np.array([0.5 + 0j, 2j])

    assert np.allclose(np.abs(sharpen(z, 1.0)), [0.5, 2])
    assert np.allclose(np.abs(sharpen(z, 2.0)), [0.25, 4])


def test_a_nugget_file_holds_strings_and_numbers_and_no_vector(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.remember("n", "auth handler", "src/auth.ts")
        shelf.recall("auth handler", session="s1")

    shape = file_of(directory, "n")

    assert shape["facts"] == [
        {"key": "auth handler", "value": "src/auth.ts", "hits": 1, "last_hit_session": "s1"}
    ]
    assert (directory / "n.nugget.json").stat().st_size < 1000
    documented = [*directory.glob("*.json"), *directory.glob("graph/*.json")]
    total = sum(path.stat().st_size for path in documented)
    assert total < 16384  # all together: less than a byte for each element of one vector


def test_a_hundred_more_facts_take_less_room_in_the_database_than_two_vectors(
    directory: Path,
) -> None:
    database, sizes = directory / "nuggets.db", []
    for start in (0, 100):
        with NuggetShelf(directory) as shelf, shelf.batch():
            for number in range(start, start + 100):
                shelf.remember("n", f"key {number}", f"value {number}")
        sizes.append(database.stat().st_size)

    assert sizes[1] - sizes[0] < 2 * 16384 * 8  # an element is a complex number


def test_a_nugget_read_from_disk_answers_exactly_as_before(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        before = all_answers(filled(shelf.create("n", **NOISY)))

    after = all_answers(NuggetShelf(directory).get("n"))

    assert after == before  # confidence and margin included, to the last bit
    assert before[0].confidence < 0.999


def test_the_name_of_a_nugget_decides_its_vectors(shelf: NuggetShelf) -> None:
    one, other = (filled(shelf.create(name, **NOISY)) for name in ("one", "other"))

    first, second = ([r.confidence for r in all_answers(nugget)] for nugget in (one, other))

    assert first != second
    shelf.remove("one")
    assert [r.confidence for r in all_answers(filled(shelf.create("one", **NOISY)))] == first


def mean_confidence(**config: Any) -> float:
    """In right answers, over small noisy nuggets whose names, so whose vectors, differ."""
    shelf = NuggetShelf("memory:", project="")
    found = [
        one.confidence if one.answer == f"value {number}" else 0.0
        for name in range(20)
        for number, one in enumerate(
            all_answers(filled(shelf.create(f"nugget {name}", **NOISY, **config)))
        )
    ]
    return sum(found) / len(found)


def test_more_ensembles_make_recall_surer() -> None:
    assert mean_confidence(ensembles=8) > mean_confidence(ensembles=1) + 0.05


def test_orthogonal_keys_interfere_less() -> None:
    without, once, often = (mean_confidence(ortho_iters=iters) for iters in (0, 1, 4))

    assert without < once < often


def test_a_changed_fact_is_recalled_at_once(shelf: NuggetShelf) -> None:
    nugget = filled(shelf.get_or_create("n"))
    nugget.recall("key 1")

    nugget.remember("key 1", "changed")
    nugget.remember("key 9", "new")
    nugget.forget("key 0")

    assert nugget.recall("key 1").answer == "changed"
    assert nugget.recall("key 9").answer == "new"
    assert nugget.recall("key 2").answer == "value 2"


def test_a_result_has_answer_confidence_margin_and_found(shelf: NuggetShelf) -> None:
    nugget = filled(shelf.get_or_create("n"))

    found, missed = nugget.recall("key 3"), nugget.recall("anything unrelated")

    assert (found.answer, found.found) == ("value 3", True)
    assert 0.99 < found.margin <= found.confidence <= 1
    assert missed == RecallResult(found=False)


def test_a_right_answer_is_sure_however_many_facts_there_are(shelf: NuggetShelf) -> None:
    nugget = shelf.get_or_create("n")
    with shelf.batch():
        for number in range(512):
            nugget.remember(f"key {number}", f"value {number}")

    found = [nugget.recall(f"key {number}") for number in (0, 255, 511)]

    assert [one.answer for one in found] == ["value 0", "value 255", "value 511"]
    assert min(one.confidence for one in found) > 0.95


def test_the_temperature_of_a_nugget_softens_its_confidence(shelf: NuggetShelf) -> None:
    cold = filled(shelf.create("same", **NOISY, temperature=0.1))
    confidence = [one.confidence for one in all_answers(cold)]
    shelf.remove("same")
    warm = filled(shelf.create("same", **NOISY, temperature=5.0))

    pairs = zip(all_answers(warm), confidence, strict=True)

    assert all(soft.confidence < sharp for soft, sharp in pairs)


@pytest.mark.parametrize(
    ("threshold", "found"), [(0.55, True), (0.999, False)], ids=["default", "strict"]
)
def test_a_misspelling_must_reach_the_threshold(
    shelf: NuggetShelf, threshold: float, found: bool
) -> None:
    nugget = shelf.create("n", fuzzy_threshold=threshold)
    nugget.remember("handler", "here")

    assert nugget.recall("hnadler").found is found


def test_a_fact_in_its_file_counts_its_hits(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.remember("n", "k", "v")
        for session in ("a", "b", "b"):
            shelf.recall("k", session=session)

    [fact] = file_of(directory, "n")["facts"]

    assert (fact["hits"], fact["last_hit_session"]) == (2, "b")
