"""Nuggets on their shelf: made, found by name, listed, removed, configured; and as a shelf."""

import unicodedata
from pathlib import Path
from typing import Any

import pytest

import nuggets
from nuggets import NoteFilterOptions, Nugget, NuggetGraph, NuggetShelf
from nuggets.errors import Conflict, InvalidInput, NotFound, SettingsError


def test_a_new_shelf_is_empty(shelf: NuggetShelf) -> None:
    assert shelf.size == 0
    assert shelf.list() == ()


def test_create_get_has_and_size(shelf: NuggetShelf) -> None:
    shelf.create("one")
    shelf.create("two")

    assert shelf.size == 2
    assert shelf.has("one")
    assert "two" in shelf
    assert not shelf.has("three")
    assert shelf.get("one").name == "one"


def test_creating_a_nugget_twice_is_a_conflict(shelf: NuggetShelf) -> None:
    shelf.create("one")

    with pytest.raises(Conflict, match="get_or_create"):
        shelf.create("ONE")


def test_getting_an_unknown_nugget_names_those_there_are(shelf: NuggetShelf) -> None:
    shelf.create("places")

    with pytest.raises(NotFound, match="places"):
        shelf.get("nope")


def test_what_a_nugget_was_made_with_wins(shelf: NuggetShelf) -> None:
    shelf.create("n", max_facts=7)

    again = shelf.get_or_create("n", max_facts=99)

    assert again.status().max_facts == 7


def test_a_nugget_is_reached_by_brackets_and_a_misspelt_one_is_not_made(
    shelf: NuggetShelf,
) -> None:
    shelf.remember("locations", "k", "v")

    assert shelf["Locations"].recall("k").answer == "v"
    with pytest.raises(NotFound, match="did you mean 'locations'"):
        shelf["locatoins"]
    assert shelf.size == 1


def test_a_shelf_is_walked_and_counted_by_its_nuggets(shelf: NuggetShelf) -> None:
    assert (list(shelf), len(shelf), bool(shelf)) == ([], 0, True)
    for name in ("b", "a"):
        shelf.remember(name, "k", name)

    assert [nugget.recall("k").answer for nugget in shelf] == ["a", "b"]
    assert len(shelf) == 2
    assert all(nugget in shelf for nugget in shelf)
    assert "a" in shelf
    assert "c" not in shelf


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Project", "project"),
        ("STRASSE", "stra\u00dfe"),
        ("caf\u00e9", "cafe\u0301"),
        ("\u01c4", "\u01c6"),
    ],
)
def test_names_compare_by_unicode_form_and_case(shelf: NuggetShelf, one: str, other: str) -> None:
    shelf.remember(one, "a", "1")

    shelf.remember(other, "b", "2")

    assert shelf.size == 1
    assert shelf.list()[0].name == unicodedata.normalize("NFC", one)
    assert shelf.recall("b", nugget=one).answer == "2"
    assert len(shelf.list_notes(nugget=other)) == 2


def test_nuggets_are_listed_by_name(shelf: NuggetShelf) -> None:
    for name in ("c", "a", "b"):
        shelf.create(name)

    assert [status.name for status in shelf.list()] == ["a", "b", "c"]


def test_removing_takes_facts_notes_and_links_to_them_away(shelf: NuggetShelf) -> None:
    fact = shelf.remember("n", "k", "v")
    shelf.create_note("n", "t", "c")
    other = shelf.create_note("other", "o", "c")
    shelf.add_link(other.id, fact.id, "about")

    assert shelf.remove("N") == 2
    assert not shelf.has("n")
    assert [note.id for note in shelf.list_notes(include_hidden=True)] == [other.id]
    assert shelf.get_note(other.id).links == ()


def test_a_removed_nugget_can_be_made_anew_and_is_empty(shelf: NuggetShelf) -> None:
    shelf.create("n", max_facts=3).remember("k", "v")
    shelf.remove("n")

    again = shelf.create("n")

    assert again.status().max_facts == 0
    assert not again.recall("k").found


def test_removing_an_unknown_nugget_is_an_error(shelf: NuggetShelf) -> None:
    with pytest.raises(NotFound):
        shelf.remove("nope")


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "..",
        "../x",
        "a/b",
        "a\\b",
        ".hidden",
        "CON",
        "con.txt",
        "lpt1",
        "x" * 65,
        "x" * 300,
        "nul\0",
        "a\nb",
        "\x1b[31m",
        "\u202eabc",
        "trailing.",
        "a:b",
        "a*b",
        "\udcff",
    ],
)
def test_names_that_no_disk_should_see_are_refused(shelf: NuggetShelf, name: str) -> None:
    with pytest.raises(InvalidInput):
        shelf.remember(name, "k", "v")
    with pytest.raises(InvalidInput):
        shelf.create_note(name, "t", "c")

    assert shelf.size == 0


@pytest.mark.parametrize("name", ["a", "x" * 64, "über uns", "設定", "v1.2_final-3", "मेमोरी"])
def test_names_in_any_script_are_welcome(shelf: NuggetShelf, name: str) -> None:
    shelf.remember(name, "k", "v")

    assert shelf.recall("k").nugget == name


@pytest.mark.parametrize(
    "config",
    [
        {"dims": 1},
        {"dims": 1 << 30},
        {"dims": 16.5},
        {"banks": 0},
        {"banks": True},
        {"ensembles": 0},
        {"max_facts": -1},
        {"temperature": "hot"},
        {"temperature": float("nan")},
        {"fuzzy_threshold": -0.1},
        {"fuzzy_threshold": 1.1},
        {"sharpen_p": 32.0},
        {"corvacs_a": 1e300},
        {"colour": "red"},
    ],
)
def test_a_nugget_that_makes_no_sense_is_refused(
    shelf: NuggetShelf, config: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        shelf.create("n", **config)

    assert shelf.size == 0


# --- a nugget as its own shelf ------------------------------------------------------------------


def test_a_nugget_keeps_what_it_learns(directory: Path) -> None:
    first = Nugget("project", save_dir=directory)
    first.remember("test cmd", "make test")
    first.save()
    first.shelf.close()

    again = Nugget("project", save_dir=directory)

    assert again.recall("test cmd").answer == "make test"


def test_two_nuggets_of_one_directory_share_a_shelf_on_disk(directory: Path) -> None:
    Nugget("a", save_dir=directory).remember("k", "v")
    Nugget("b", save_dir=directory).remember("k", "v")

    assert [one.name for one in NuggetShelf(directory).list()] == ["a", "b"]


def test_without_a_directory_the_environment_names_it(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_DIR", str(directory / "named"))
    with Nugget("a") as nugget:
        nugget.remember("k", "v")

    assert NuggetShelf().recall("k").answer == "v"
    assert NuggetShelf(directory / "named").recall("k").answer == "v"
    assert NuggetShelf(directory / "given").size == 0


@pytest.mark.parametrize("nowhere", ["", "file://", "a\0b", b"shelf", 5, False])
def test_a_place_that_is_none_is_refused_and_nothing_is_made(nowhere: Any) -> None:
    with pytest.raises(SettingsError, match="a shelf is a directory"):
        NuggetShelf(nowhere)

    assert not any(Path.cwd().iterdir())


def test_a_nugget_closes_the_shelf_that_it_opened(directory: Path) -> None:
    with Nugget("a", save_dir=directory, auto_save=False) as nugget:
        nugget.remember("k", "v")

    assert NuggetShelf(directory).recall("k").answer == "v"


def test_a_view_leaves_the_shelf_to_whoever_opened_it(directory: Path) -> None:
    shelf = NuggetShelf(directory, auto_save=False)
    with shelf.get_or_create("a") as nugget:
        nugget.remember("k", "v")

    assert NuggetShelf(directory).size == 0


def test_a_nugget_takes_every_documented_setting(directory: Path) -> None:
    nugget = Nugget(
        "n",
        dims=256,
        banks=2,
        ensembles=2,
        auto_save=True,
        save_dir=directory,
        max_facts=9,
        sharpen_p=1.5,
        corvacs_a=0.5,
        temperature=0.8,
        ortho_iters=2,
        fuzzy_threshold=0.6,
    )
    nugget.remember("k", "v")

    status = nugget.status()

    assert (status.dimension, status.banks, status.ensembles, status.max_facts) == (256, 2, 2, 9)
    assert nugget.recall("k").answer == "v"


def test_a_nugget_sees_only_its_own_notes(shelf: NuggetShelf) -> None:
    mine = shelf.get_or_create("a").create_note("Auth", "JWT tokens", ["security"])
    shelf.get_or_create("b").create_note("Auth", "JWT tokens")

    assert [note.id for note in shelf.get_or_create("a").list_notes()] == [mine.id]
    assert [found.note.id for found in shelf.get_or_create("a").search_notes("jwt")] == [mine.id]
    assert shelf.get_or_create("a").get_note("Auth").id == mine.id


@pytest.mark.parametrize("odd", ["b", 5])
def test_a_nugget_asked_for_notes_of_another_refuses(shelf: NuggetShelf, odd: Any) -> None:
    mine = shelf.get_or_create("a").create_note("Auth", "JWT tokens")
    shelf.get_or_create("b").create_note("Auth", "JWT tokens")
    others = NoteFilterOptions(nugget=odd)

    for ask in (
        lambda: shelf.get_or_create("a").list_notes(nugget=odd),
        lambda: shelf.get_or_create("a").list_notes(others),
        lambda: shelf.get_or_create("a").search_notes("jwt", nugget=odd),
        lambda: shelf.get_or_create("a").search_notes("jwt", filters=others),
    ):
        with pytest.raises(InvalidInput):
            ask()
    assert shelf.get_or_create("a").list_notes(nugget="A") == [mine]


def test_a_nugget_shows_itself_without_leaving_a_trace(shelf: NuggetShelf) -> None:
    fact = shelf.get_or_create("n").remember("k", "v")

    assert shelf.get_or_create("n").recall("k", session=None).found
    assert shelf.get_or_create("n").get_note("k", session=None) == fact
    assert [one.note for one in shelf.get_or_create("n").search_notes("v", session=None)] == [fact]


def test_a_nugget_has_all_note_operations(shelf: NuggetShelf) -> None:
    nugget = shelf.get_or_create("n")
    one = nugget.create_note("One", "first line")
    two = nugget.create_note("Two", "second line")

    linked = nugget.add_link("One", "Two", "next")
    unlinked = nugget.remove_link("One", "Two")
    edited = nugget.edit_note("One", content="changed", tags=["x"])
    hidden = nugget.delete_note("Two")
    restored = nugget.restore_note("Two")
    merged = nugget.merge_notes("One", "Two")
    nugget.delete_note("Two", hard=True)

    assert (linked, unlinked) == (True, True)
    assert (edited.content, hidden.hidden, restored.hidden) == ("changed", True, False)
    assert merged.content == "changed\nsecond line"
    assert [note.id for note in nugget.list_notes(include_hidden=True)] == [one.id]
    assert two.id != one.id


def test_a_nugget_forgets_and_clears(shelf: NuggetShelf) -> None:
    nugget = shelf.get_or_create("n")
    nugget.remember("a", "1")
    nugget.remember("b", "2")

    assert nugget.forget("a") is True
    assert nugget.clear() == 1
    assert nugget.facts() == []


def test_a_nugget_names_itself(shelf: NuggetShelf) -> None:
    assert repr(shelf.get_or_create("n")) == "Nugget('n')"


def test_the_graph_is_the_shelf_under_its_documented_name() -> None:
    assert NuggetGraph is NuggetShelf


# --- the documented usage -----------------------------------------------------------------------


def test_the_documented_example_runs_as_written(
    directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_MEMORY_FILE", str(directory / "MEMORY.md"))
    n = Nugget("project", save_dir=directory)
    auth = n.create_note(
        "Auth middleware",
        "Handled in src/auth/middleware.ts:47. Uses JWT with RS256.",
        ["auth", "files"],
    )
    jwt = n.create_note(
        "JWT token format",
        "RS256 signing. Public key at src/auth/keys/public.pem.",
        ["auth", "jwt"],
    )
    n.add_link(auth.id, jwt.id, "auth middleware uses JWT tokens")
    for hit in n.search_notes("authentication"):
        print(f"[{hit.score:.3f}] {hit.note.title}")
    shelf = NuggetShelf(save_dir=directory)
    shelf.load_all()
    shelf.remember("locations", "auth handler", "src/auth/middleware.ts:47")
    answer = shelf.recall("auth handler", session="s1").answer
    result = shelf.reflect()
    promoted = shelf.promote()

    printed = capsys.readouterr().out
    assert "Auth middleware" in printed
    assert "JWT token format" in printed
    assert answer == "src/auth/middleware.ts:47"
    assert result.inspected == 3
    assert promoted == 0


def test_everything_documented_is_exported() -> None:
    documented = {
        *("Nugget", "NuggetShelf", "NuggetGraph", "MemoryNote", "NoteMetadata", "NoteLink"),
        *("NoteVectorSpec", "GraphNoteMetaInput", "NoteFilterOptions", "SearchNotesResult"),
        *("MemoryScope", "MemoryType", "MemorySource", "MemoryStability"),
        *("ReflectionResult", "ReflectionChange", "reflect_and_clean_memory", "promote_facts"),
        "PROMOTE_THRESHOLD",
    }

    assert documented <= set(nuggets.__all__)
