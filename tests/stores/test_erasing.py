"""What was ever written of a note is gone from all the files, and nothing else is."""

import json
from pathlib import Path

import pytest

from nuggets.stores import journal
from store_samples import contents, drop, files_of, note, open_json, pictures_agree, put

SECRET = "the launch code"


def erased(directory: Path, note_id: str) -> list[str]:
    """Forget a note, then erase it; the files that still tell its content."""
    store = open_json(directory)
    drop(store, note_id)
    store.erase([note_id])
    store.close()
    return [name for name, content in files_of(directory).items() if SECRET.encode() in content]


@pytest.mark.parametrize("snapshot_bytes", [1, 1 << 20])
@pytest.mark.parametrize("note_id", ["plain", 'with "quotes"', "back\\slash", "größe", "tab\t"])
def test_whatever_its_id_nothing_is_left_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, note_id: str, snapshot_bytes: int
) -> None:
    monkeypatch.setattr(journal, "SNAPSHOT_BYTES", snapshot_bytes)
    put(open_json(tmp_path), note(1, id=note_id, content=SECRET), note(2))

    assert erased(tmp_path, note_id) == []
    assert contents(open_json(tmp_path)) == {"key 2": "value 2"}
    assert pictures_agree(tmp_path)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_what_a_doctor_set_aside_goes_too_even_where_it_does_not_call_the_note_by_id(
    tmp_path: Path, ascii_only: bool
) -> None:
    told = f"{SECRET}: größer"
    put(open_json(tmp_path), note(1, content=told), note(2))
    fact = json.dumps({"key": "key 1", "value": told}, ensure_ascii=ascii_only)
    (tmp_path / "learnings.nugget.json.damaged-1").write_text(fact + "}")
    (tmp_path / "other.nugget.json.damaged-1").write_text('{"key": "key 2", "value": "value 2"')

    assert erased(tmp_path, note(1).id) == []
    assert (tmp_path / "other.nugget.json.damaged-1").exists()


def test_what_was_set_aside_goes_too_if_the_note_is_cut_off_in_it(tmp_path: Path) -> None:
    put(open_json(tmp_path), note(1, content=f"{SECRET}, and how to use it"), note(2))
    cut = f'{{"facts": [{{"key": "key 1", "value": "{SECRET}, and'
    (tmp_path / "learnings.nugget.json.damaged-1").write_text(cut)

    assert erased(tmp_path, note(1).id) == []


def test_fields_of_any_shape_that_others_wrote_do_not_stand_in_the_way(tmp_path: Path) -> None:
    odd = {"seen": [[[1], {"id": [1], "to": {}}], [{}]], "id of": {"id": None}}
    put(open_json(tmp_path), note(1, content=SECRET), note(2, extra=odd))
    store = open_json(tmp_path)
    drop(store, note(1).id)
    store.erase({note(1).id})

    assert store.read(0)[0].put == (note(2, extra=odd),)
