"""The graph as a folder of Markdown: edits come back, both ways."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import Nuggets, run_in_terminal
from fault_vault import files_of, vault_storm
from git_repositories import new_repository
from nuggets import NuggetShelf
from nuggets.domain.codec import json_name
from nuggets.domain.limits import LINKS, TAGS
from nuggets.domain.records import MemoryNote
from nuggets.errors import InvalidInput
from nuggets.operations.permissions import COMMAND


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[NuggetShelf]:
    with NuggetShelf(tmp_path / "shelf", project="") as shelf:
        yield shelf


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def edit(path: Path, old: str, new: str) -> bytes:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path.read_bytes()


def test_a_note_is_a_file_as_obsidian_opens_it(shelf: NuggetShelf, vault: Path) -> None:
    shelf.create_note("learn", "Auth: how?", "Uses RS256.", tags=["security"])
    shelf.create_note("learn", "Keys", "They rotate.")
    shelf.add_link("Auth: how?", "Keys", "needs them")
    shelf.vault(vault)

    text = (vault / "learn" / "Auth how.md").read_text()
    assert text.startswith('---\ntitle: "Auth: how?"\ntags:\n  - security\n')
    assert 'aliases:\n  - "Auth: how?"\n' in text
    assert "\n\nUses RS256.\n\n## Links\n\n- [[learn/Keys]]: needs them" in text
    assert (vault / "learn" / "Keys.md").stat().st_mode & 0o777 == 0o600


def test_a_folder_with_more_files_than_are_read_deletes_nothing(
    shelf: NuggetShelf, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        shelf.create_note("learn", f"Note {number}", f"Text {number}")
    shelf.vault(vault)
    monkeypatch.setattr("nuggets.maintenance.vault.MOST_FILES", 10)
    done = shelf.vault(vault)

    assert len(shelf.list_notes()) == 12
    assert "only the first 10 files were read" in done.problems


def test_two_thousand_files_come_back_and_no_byte_of_the_untouched_changes(
    shelf: NuggetShelf, vault: Path
) -> None:
    with shelf.batch():
        notes = [
            shelf.create_note("learn", f"Note {number}", f"Text {number}\n\n- a\n- b")
            for number in range(2000)
        ]
        for a, b in zip(notes[::20], notes[1::20], strict=True):
            shelf.add_link(a.id, b.id, "next")
    shelf.vault(vault)
    before = {path: (text, path.stat().st_mtime_ns) for path, text in files_of(vault).items()}
    changed = {vault / "learn" / f"Note {number}.md" for number in (5, 77)}
    edited = {path: edit(path, "- b\n", "- b\n- c  \n") for path in changed}
    shelf.edit_note(notes[1234].id, content="from the shelf")
    done = shelf.vault(vault)
    again = shelf.vault(vault)

    assert len(before) == 2000
    assert sorted(note.title for note in done.updated) == ["Note 5", "Note 77"]
    assert done.written == (os.path.join("learn", "Note 1234.md"),)
    assert (again.written, again.deleted, again.updated, again.unchanged) == ((), (), (), 2000)
    for path, text in files_of(vault).items():
        if path in changed:
            assert text == edited[path]
        elif path.name != "Note 1234.md":
            assert (text, path.stat().st_mtime_ns) == before[path]


def test_edits_of_a_file_come_back(shelf: NuggetShelf, vault: Path) -> None:
    note = shelf.create_note("learn", "Auth", "old", tags=["x"])
    other = shelf.create_note("learn", "Other", "other")
    shelf.vault(vault)
    path = vault / "learn" / "Auth.md"
    edit(path, "  - x\n", "  - y\n")
    edit(path, "\nold\n", "\nnew\n\n## Links\n\n- [[other]]: why\n- [[Not yet]]: later\n")
    text = edit(path, "type: note\n", "type: note\nrating: 5\ncssclasses:\n  - wide\n")
    shelf.vault(vault)
    after = shelf.get_note(note.id)

    assert path.read_bytes() == text
    assert (after.content, after.tags[0]) == ("new", "y")
    assert [(link.to, link.reason) for link in after.links] == [(other.id, "why")]
    shelf.edit_note(note.id, content="newest")
    shelf.vault(vault)
    written = path.read_text()
    assert "rating: 5\n" in written
    assert "cssclasses:\n  - wide\n" in written
    assert "- [[Not yet]]: later\n" in written
    assert "\nnewest\n" in written


def test_what_both_sides_changed_is_merged_or_kept_side_by_side(
    shelf: NuggetShelf, vault: Path
) -> None:
    note = shelf.create_note("learn", "Auth", "old", tags=["x"])
    shelf.vault(vault)
    path = vault / "learn" / "Auth.md"
    shelf.edit_note(note.id, tags=["x", "shelf"])
    edit(path, "\nold\n", "\nfrom the file\n")
    shelf.vault(vault)
    merged = shelf.get_note(note.id)
    assert (merged.content, merged.tags[:2]) == ("from the file", ("x", "shelf"))

    shelf.edit_note(note.id, content="said on the shelf")
    edit(path, "\nfrom the file\n", "\nsaid in the file\n")
    done = shelf.vault(vault)

    assert [copy.content for copy in done.conflicts] == ["said on the shelf"]
    assert "said in the file" in path.read_text()
    assert "said on the shelf" in (vault / "learn" / "Auth (other version).md").read_text()


def test_a_renamed_note_renames_its_links(shelf: NuggetShelf, vault: Path) -> None:
    note = shelf.create_note("learn", "Auth", "text")
    shelf.create_note("learn", "Other", "See [[learn/Auth]] and [[Auth|this]].")
    shelf.add_link("Auth", "Other", "why")
    shelf.vault(vault)
    shelf.edit_note(note.id, title="Login")
    shelf.vault(vault)

    other = vault / "learn" / "Other.md"
    assert sorted(path.name for path in files_of(vault)) == ["Login.md", "Other.md"]
    assert "See [[learn/Login]] and [[Login|this]]." in other.read_text()
    assert "- [[learn/Login]]: why" in other.read_text()
    os.rename(vault / "learn" / "Login.md", vault / "learn" / "Sign-in.md")
    shelf.vault(vault)
    assert shelf.get_note(note.id).title == "Sign-in"
    assert "See [[learn/Sign-in]] and [[Sign-in|this]]." in other.read_text()
    assert "- [[learn/Sign-in]]: why" in other.read_text()


def test_a_new_file_is_a_new_note_and_stays_as_it_is(shelf: NuggetShelf, vault: Path) -> None:
    shelf.create_note("learn", "Auth", "text")
    shelf.vault(vault)
    mine = b"---\ntype: book\nproject: Website\ncreated: last summer\n---\nSee [[Auth]].  \n"
    (vault / "ideas").mkdir()
    (vault / "ideas" / "My idea.md").write_bytes(mine)
    shelf.vault(vault)
    note = shelf.get_note("My idea")

    assert (note.nugget_name, note.content, note.project) == ("ideas", "See [[Auth]].", "")
    assert {"book", "website"} <= set(note.tags)
    assert [link.reason for link in note.links] == ["mentions it"]
    assert (vault / "ideas" / "My idea.md").read_bytes() == mine


def test_a_deleted_file_deletes_its_note_but_not_a_whole_vault(
    shelf: NuggetShelf, vault: Path
) -> None:
    for number in range(10):
        shelf.create_note("learn", f"Note {number}", "text")
    shelf.vault(vault)
    (vault / "learn" / "Note 3.md").unlink()
    assert [note.title for note in shelf.vault(vault).removed] == ["Note 3"]
    shelf.undo()
    shelf.vault(vault)
    assert (vault / "learn" / "Note 3.md").exists()
    for path in files_of(vault):
        path.unlink()
    [problem] = shelf.vault(vault).problems

    assert "gone at once" in problem
    assert len(files_of(vault)) == 10


def test_an_archived_note_has_no_file(shelf: NuggetShelf, vault: Path) -> None:
    note = shelf.create_note("learn", "Auth", "text")
    shelf.create_note("learn", "Other", "text")
    shelf.add_link("Auth", "Other", "why")
    shelf.vault(vault)
    shelf.delete_note(note.id)
    shelf.vault(vault)
    assert [path.name for path in files_of(vault)] == ["Other.md"]
    edit(vault / "learn" / "Other.md", "\ntext\n", "\nnew text\n")
    shelf.vault(vault)
    shelf.restore_note(note.id)
    shelf.vault(vault)

    assert [link.reason for link in shelf.get_note(note.id).links] == ["why"]
    assert len(files_of(vault)) == 2


def test_a_lost_register_loses_no_edit(shelf: NuggetShelf, vault: Path, tmp_path: Path) -> None:
    shelf.create_note("learn", "Auth", "text")
    shelf.vault(vault)
    edit(vault / "learn" / "Auth.md", "\ntext\n", "\nfrom the file\n")
    for register in (tmp_path / "shelf" / "vaults").iterdir():
        register.unlink()
    shelf.vault(vault)

    assert {note.content for note in shelf.list_notes()} == {"text", "from the file"}


# --- hostile folders ------------------------------------------------------------------------------


def test_links_pipes_and_large_files_are_left_alone(
    shelf: NuggetShelf, vault: Path, tmp_path: Path
) -> None:
    shelf.create_note("learn", "Auth", "text")
    shelf.create_note("learn", "Keys", "text")
    shelf.vault(vault)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (vault / "link.md").symlink_to(outside / "secret.md")
    (vault / "folder").symlink_to(outside)
    os.mkfifo(vault / "pipe.md")
    with open(vault / "huge.md", "wb") as huge:
        huge.truncate(1 << 40)
    (vault / "wrong.md").write_bytes(b"\xff\xfe")
    deep = vault.joinpath(*["d"] * 40)
    deep.mkdir(parents=True)
    (deep / "deep.md").write_text("deep")
    (vault / "learn" / "Auth.md").unlink()
    (vault / "learn" / "Auth.md").symlink_to(outside / "victim.md")
    done = shelf.vault(vault)

    assert len(done.problems) == 6
    assert sorted(path.name for path in outside.iterdir()) == ["secret.md"]
    assert "secret" not in {note.content for note in shelf.list_notes()}


def test_a_nuggets_folder_that_leads_outside_is_not_written_to(
    shelf: NuggetShelf, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    vault.mkdir()
    (vault / "learn").symlink_to(tmp_path / "outside")
    shelf.create_note("learn", "Auth", "text")
    with pytest.raises(Exception, match="Cannot write"):
        shelf.vault(vault)

    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize(
    "front",
    [
        "id: note-learn-1\nnugget: ../../etc",
        "id: note-learn-1\nnugget: learn\ntags: {a: 1}\nconfidence: much",
        "id: note-learn-1\nnugget: learn\nsupersedes: perhaps",
        "id: note-learn-1\nnugget: learn\ntitle: " + "x" * 600,
        "id: note-learn-1\nnugget: learn\nanchors: 5",
        "id: " + "x" * 300 + "\nnugget: learn",
        "nugget: " + "x" * 300,
    ],
)
def test_a_file_of_wrong_types_is_told_and_left(
    front: str, shelf: NuggetShelf, vault: Path
) -> None:
    shelf.create_note("learn", "Auth", "text")
    shelf.vault(vault)
    bad = vault / "learn" / "Bad.md"
    bad.write_text(f"---\n{front}\n---\n\ntext\n")
    before = bad.read_bytes()
    edit(vault / "learn" / "Auth.md", "\ntext\n", "\nnew\n")
    done = shelf.vault(vault)

    assert len(done.problems) == 1
    assert bad.read_bytes() == before
    assert [note.content for note in shelf.list_notes()] == ["new"]


def test_a_file_whose_memory_names_a_file_is_edited_like_any_other(
    tmp_path: Path, vault: Path
) -> None:
    repository = new_repository(tmp_path / "repository")
    (repository / "mail.py").write_text("PORT = 25\n")
    with NuggetShelf(tmp_path / "shelf", folder=str(repository), client=COMMAND) as shelf:
        note = shelf.create_note("learn", "Mail", "See mail.py:1 for mails.")
        shelf.create_note("learn", "Other", "no path here")
        shelf.vault(vault)
        edit(vault / "learn" / "Mail.md", "for mails", "for all mails")
        edit(vault / "learn" / "Other.md", "no path here", "really")
        done = shelf.vault(vault)

        assert done.problems == ()
        assert {n.content for n in done.updated} == {"See mail.py:1 for all mails.", "really"}
        assert shelf.get_note(note.id).anchors == note.anchors != ()


def test_too_many_tags_or_links_of_one_note_keep_no_other_file_out(
    shelf: NuggetShelf, vault: Path
) -> None:
    ours, theirs = ([f"{side}{number}" for number in range(TAGS)] for side in ("a", "b"))
    tagged = shelf.create_note("learn", "Tagged", "text", tags=["old"])
    shelf.create_note("learn", "Hub", "text")
    shelf.vault(vault)
    shelf.edit_note(tagged.id, tags=ours)
    edit(vault / "learn" / "Tagged.md", "  - old\n", "".join(f"  - {tag}\n" for tag in theirs))
    for number in range(LINKS + 1):
        (vault / "learn" / f"Spoke {number}.md").write_text("see [[Hub]]")
    done = shelf.vault(vault)

    assert (done.problems, len(done.added)) == ((), LINKS + 1)
    assert set(ours) < set(shelf.get_note(tagged.id).tags)
    assert len(shelf.get_note("Hub").links) == LINKS


@pytest.mark.parametrize("name", [*MemoryNote._fields, "nugget", "archived", "extra"])
def test_an_emptied_property_takes_away_what_may_be_missing_and_nothing_else(
    name: str, shelf: NuggetShelf, vault: Path
) -> None:
    note = shelf.create_note("learn", "Auth", "text", valid_until="2190-01-01T00:00:00Z")
    shelf.vault(vault)
    path = vault / "learn" / "Auth.md"
    called = json_name(name)
    lines = [line for line in path.read_text().split("\n") if not line.startswith(f"{called}:")]
    path.write_text("\n".join(lines).replace("---\n", f"---\n{called}:\n", 1))
    edit(path, "\ntext\n", "\nnew\n")
    (vault / "learn" / "Other.md").write_text("other")
    done = shelf.vault(vault)

    assert done.problems == ()
    assert [added.content for added in done.added] == ["other"]
    after = shelf.get_note(note.id)
    assert after.content == "new"
    assert after.valid_until == (None if name == "valid_until" else note.valid_until)
    unchanged = ("title", "nugget_name", "kind", "scope", "type", "source", "confidence", "hidden")
    assert [getattr(after, field) for field in unchanged] == [
        getattr(note, field) for field in unchanged
    ]


def test_the_shelf_lies_not_in_its_vault(shelf: NuggetShelf, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="lie in each other"):
        shelf.vault(tmp_path)


def test_the_command_says_what_it_did(nuggets: Nuggets, tmp_path: Path) -> None:
    folder = str(tmp_path / "vault")
    nuggets("remember", "prefs", "editor", "vim")
    assert "1 to write" in nuggets("vault", folder, "--dry-run").out
    assert not os.path.exists(folder)
    assert "1 written" in nuggets("vault", folder).out
    edit(tmp_path / "vault" / "prefs" / "editor.md", "\nvim\n", "\nemacs\n")
    assert nuggets("vault", folder, "--json").json["updated"][0]["content"] == "emacs"
    assert "emacs" in nuggets("recall", "editor").out


def test_a_watched_vault_follows_until_someone_stops_it(nuggets: Nuggets, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    nuggets("remember", "prefs", "editor", "vim")

    def edit() -> None:
        path = vault / "prefs" / "editor.md"
        path.write_text(path.read_text().replace("vim", "helix"))

    code, seen = run_in_terminal(
        *("vault", str(vault), "--watch"),
        after="1 written",
        react=edit,
        answers={"Updated here": "\x03"},
    )

    assert code == 0, seen
    assert b"Traceback" not in seen
    assert "helix" in nuggets("recall", "editor").out
    assert "0 written, 0 deleted, 1 left" in nuggets("vault", str(vault)).out
    assert nuggets("vault", str(vault), "--watch", "--dry-run").code == 2


@pytest.mark.parametrize("seed", [1, 2])
def test_a_storm_on_both_sides_loses_no_edit(tmp_path: Path, seed: int) -> None:
    [told] = vault_storm(tmp_path, edits=100, seed=seed)

    assert "0 of" in told
