"""The logs of paired machines, encrypted by a passphrase."""

from pathlib import Path

import pytest

from command_line import Nuggets, run_in_terminal
from nuggets import NuggetShelf
from nuggets.errors import InvalidInput


def test_what_lies_in_the_folder_is_encrypted_if_asked(tmp_path: Path) -> None:
    pytest.importorskip("pyrage")
    folder = tmp_path / "shared"
    folder.mkdir()
    one, two = (NuggetShelf(tmp_path / name, project="") for name in ("one", "two"))
    one.remember("prefs", "editor", "swordfish")
    one.pair(folder)
    one.pair(folder, passphrase="four random words")
    with pytest.raises(InvalidInput, match="is encrypted"):
        two.pair(folder)
    with pytest.raises(InvalidInput, match="does not fit"):
        two.pair(folder, passphrase="guessed")
    two.pair(folder, passphrase="four random words")
    two.remember("prefs", "shell", "swordfish too")
    for shelf in (two, one, two):
        shelf.pair(folder)

    assert len(one.list_notes()) == 2
    for file in folder.iterdir():
        assert b"sword" not in file.read_bytes()
        assert b"editor" not in file.read_bytes()
    (folder / "nuggets-00000000deadbeef.jsonl").write_bytes(
        b'{"number":1,"noteId":"x","at":"2026-01-01"}\n'
    )
    [done] = one.pair(folder)
    assert "is not encrypted" in done.problems[0]
    assert len(one.list_notes()) == 2
    for key in (tmp_path / "one" / "pairs").iterdir():
        assert key.stat().st_mode & 0o777 == 0o600
    one.close()
    two.close()


def test_the_passphrase_is_asked_for_twice_and_never_shown(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    pytest.importorskip("pyrage")
    folder = tmp_path / "shared"
    folder.mkdir()
    nuggets("remember", "prefs", "editor", "vim")
    command = ("pair", str(folder), "--encrypt")
    code, seen = run_in_terminal(
        *command, answers={"Passphrase of": "four words\n", "The same again": "for words\n"}
    )
    assert code == 2
    assert b"two different passphrases" in seen
    assert list(folder.iterdir()) == []
    code, seen = run_in_terminal(
        *command, answers={"Passphrase of": "four words\n", "The same again": "four words\n"}
    )
    assert code == 0, seen
    assert b"four words" not in seen
    other = str(tmp_path / "other")
    code, seen = run_in_terminal(
        *("--dir", other, *command), answers={"Passphrase of": "five words\n"}
    )
    assert code == 2
    assert b"does not fit" in seen
    code, seen = run_in_terminal(
        *("--dir", other, *command), answers={"Passphrase of": "four words\n"}
    )

    assert code == 0
    assert b"The same again" not in seen
    assert "vim" in nuggets("--dir", other, "recall", "editor").out
