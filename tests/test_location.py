"""Where a shelf is: one reading of its URL for everybody."""

import os
from pathlib import Path

import pytest

from nuggets.errors import SettingsError
from nuggets.filesystem.shelf_location import directory_of


@pytest.mark.parametrize(
    ("url", "directory"),
    [
        ("memory:", ""),
        ("/srv/shelf", "/srv/shelf"),
        ("file:///srv/shelf", "/srv/shelf"),
        ("~/shelf", "/home/someone/shelf"),
        ("./odd:name", "/here/odd:name"),
        ("shelf", "/here/shelf"),
    ],
)
def test_a_url_names_an_absolute_directory_or_none(
    url: str, directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setattr(os, "getcwd", lambda: "/here")

    assert directory_of(url) == directory


@pytest.mark.parametrize("url", ["", "file://", "a\0b", b"shelf", 5, None])
def test_nothing_that_could_be_a_directory_is_not_the_one_we_are_in(url: str) -> None:
    with pytest.raises(SettingsError, match="a shelf is a directory, or memory:; not"):
        directory_of(url)


@pytest.mark.parametrize("url", ["redis://x", "sqlite:/tmp/x.db", "memory:x", "c++:x"])
def test_another_kind_of_store_does_not_become_a_directory(url: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no store is known for"):
        directory_of(url)
