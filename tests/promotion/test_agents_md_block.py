"""Promotion into a marked block of AGENTS.md or GEMINI.md, which belong to others too."""

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggets.domain.marks import BLOCK_BEGIN, BLOCK_END
from nuggets.errors import InvalidInput, StoreError
from nuggets.maintenance.promotion.file_access import block_text, replace_block
from nuggets.shelf import NuggetShelf

OWN = "# Our project\n\nRun `make check` before a commit."
LINES = st.lists(st.sampled_from(["# Ours", "", "- a rule", "text", "<!-- ours -->", "```"]))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return tmp_path / "shop"


@pytest.fixture
def shelf(tmp_path: Path, project: Path) -> NuggetShelf:
    shelf = NuggetShelf(tmp_path / "shelf", project=str(project / ".git"), at_work=True)
    for title in ("Auth", "Deploy"):
        recall(shelf, shelf.create_note("learnings", title, f"{title} as it is").id)
    recall(shelf, shelf.remember("prefs", "answers", "I prefer short answers").id)
    return shelf


def recall(shelf: NuggetShelf, note_id: str) -> None:
    for session in "abc":
        shelf.get_note(note_id, session=session)


@pytest.mark.parametrize("name", ["AGENTS.md", "GEMINI.md"])
@pytest.mark.parametrize("own", [OWN, f"{OWN}\n", "", f"{OWN}\n".replace("\n", "\r\n")])
def test_a_block_is_appended_and_taken_out_to_the_byte(
    shelf: NuggetShelf, project: Path, name: str, own: str
) -> None:
    path = project / name
    path.write_bytes(own.encode())
    shelf.promote(path)
    text = path.read_bytes().decode()

    assert text.startswith(own)
    assert text.count(BLOCK_BEGIN) == text.count(BLOCK_END) == 1
    assert "- **Auth**: Auth as it is" in text
    assert shelf.promote(path) == 0
    assert path.read_bytes().decode() == text
    assert shelf.withdraw_promotion(path)
    assert path.read_bytes().decode() == own


def test_what_is_outside_of_the_block_may_change_at_any_time(
    shelf: NuggetShelf, project: Path
) -> None:
    path = project / "AGENTS.md"
    path.write_text(f"{OWN}\n")
    shelf.promote(path)
    path.write_text(f"New first line\n{path.read_text()}\nNew last line\n")
    recall(shelf, shelf.create_note("learnings", "Tests", "pnpm test").id)
    shelf.promote(path)
    text = path.read_text()

    assert text.startswith(f"New first line\n{OWN}\n\n{BLOCK_BEGIN}\n")
    assert text.endswith(f"{BLOCK_END}\n\nNew last line\n")
    assert "- **Tests**: pnpm test\n" in block_text(text)


def test_a_persons_own_memories_stay_out_of_what_others_read(
    shelf: NuggetShelf, project: Path
) -> None:
    plan = shelf.promotion(project / "AGENTS.md")
    shelf.promote(project / "AGENTS.md")
    reasons = {why.title: why.reason for why in plan.explanations}

    assert "short answers" not in (project / "AGENTS.md").read_text()
    assert reasons["answers"] == "is of no project, and others read this file"


def test_an_edit_in_the_block_changes_the_memory(shelf: NuggetShelf, project: Path) -> None:
    path = project / "AGENTS.md"
    path.write_text(OWN)
    shelf.promote(path)
    path.write_text(path.read_text().replace("Auth as it is", "Auth as it was"))
    shelf.import_file_edits()

    assert shelf.get_note("Auth", session=None).content == "Auth as it was"


def test_a_block_that_a_person_took_out_is_not_put_back_and_archives_nothing(
    shelf: NuggetShelf, project: Path
) -> None:
    path = project / "AGENTS.md"
    path.write_text(OWN)
    shelf.promote(path)
    path.write_text(OWN)
    shelf.import_file_edits()
    shelf.run_daily(datetime(2026, 1, 31, 12))

    assert path.read_text() == OWN
    assert {"Auth", "Deploy"} <= {note.title for note in shelf.list_notes()}
    assert shelf.memory_file_problems() == {}


def test_lines_that_people_wrote_into_the_block_stay_when_it_goes(
    shelf: NuggetShelf, project: Path
) -> None:
    path = project / "AGENTS.md"
    path.write_text(OWN)
    shelf.promote(path)
    path.write_text(path.read_text().replace(BLOCK_END, f"- our own rule\n{BLOCK_END}"))
    shelf.withdraw_promotion(path)

    assert "- our own rule\n" in path.read_text()
    assert "Auth as it is" not in path.read_text()


@pytest.mark.parametrize("marks", [BLOCK_BEGIN, BLOCK_END, f"{BLOCK_END}\n{BLOCK_BEGIN}"])
def test_a_block_with_damaged_marks_is_left_as_it_is(
    shelf: NuggetShelf, project: Path, marks: str
) -> None:
    path = project / "AGENTS.md"
    path.write_text(f"{OWN}\n{marks}\n")

    with pytest.raises(StoreError, match="not one pair"):
        shelf.promote(path)
    assert path.read_text() == f"{OWN}\n{marks}\n"


def test_a_link_within_the_repository_is_followed_and_one_out_of_it_is_not(
    shelf: NuggetShelf, project: Path, tmp_path: Path
) -> None:
    (project / "CLAUDE.md").write_text(OWN)
    (project / "AGENTS.md").symlink_to("CLAUDE.md")
    outside = tmp_path / "private.md"
    outside.write_text("mine\n")
    (project / "GEMINI.md").symlink_to(outside)
    shelf.promote(project / "AGENTS.md")

    assert (project / "AGENTS.md").is_symlink()
    assert "Auth as it is" in (project / "CLAUDE.md").read_text()
    with pytest.raises(StoreError, match="outside of its folder"):
        shelf.promote(project / "GEMINI.md")
    assert outside.read_text() == "mine\n"


def test_only_a_file_with_a_block_can_be_withdrawn_from(shelf: NuggetShelf, project: Path) -> None:
    with pytest.raises(InvalidInput, match="no block of its own"):
        shelf.withdraw_promotion(project / "MEMORY.md")
    assert not shelf.withdraw_promotion(project / "AGENTS.md")


@given(LINES, LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_text_outside_is_the_same_whatever_is_put_in_and_out(
    own_lines: list[str], inside_lines: list[str], newline: str, ends: bool
) -> None:
    own = newline.join(own_lines) + (newline if ends else "")
    inside = "\n".join(["- **Ours**: text", *inside_lines]) + "\n"
    text = replace_block(own, inside)

    assert text.startswith(own)
    assert block_text(text).split() == inside.split()
    assert replace_block(text, block_text(text)) == text
    assert replace_block(replace_block(text, "- other\n"), "") == own
