"""A person changes, deletes or puts back lines of MEMORY.md, and memory follows."""

import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import example_count
from nuggets.domain.records import MemoryNote
from nuggets.errors import StoreError
from nuggets.maintenance.promotion.entries import CONTENT_CHARACTERS, apply_edit, line_for
from nuggets.shelf import NuggetShelf

LESSONS = {
    "Auth": "JWT with RS256, keys in src/auth",
    "Deploy": "make deploy, then smoke.sh",
    "Database": "Postgres 16 on port 5432",
    "Tests": "pnpm test -- --run",
    "Branch": "trunk, not main",
}
HEADER = "# Mine\n\nMy own words stay.\n- **By hand**: mine alone\n\n"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "project" / "MEMORY.md"


@pytest.fixture
def shelf(tmp_path: Path, memory: Path) -> NuggetShelf:
    """A shelf whose lessons stand in the file, below a person's own words."""
    shelf = NuggetShelf(tmp_path / "shelf", project="/home/me/shop/.git", at_work=True)
    memory.parent.mkdir()
    memory.write_text(HEADER)
    for title, content in LESSONS.items():
        keep(shelf, title, content)
    shelf.promote(memory)
    return shelf


def keep(shelf: NuggetShelf, title: str, content: str, **meta: str) -> str:
    note = shelf.create_note("learnings", title, content, **meta)  # type: ignore[arg-type]
    for session in "abc":
        shelf.get_note(note.id, session=session)
    return note.id


def content_of(shelf: NuggetShelf, title: str) -> str:
    return shelf.get_note(title, session=None).content


def replace(memory: Path, old: str, new: str) -> None:
    text = memory.read_text()
    assert old in text
    memory.write_text(text.replace(old, new))


def delete_line(memory: Path, *titles: str) -> None:
    lines = memory.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not any(f"**{title}**" in line for title in titles)]
    memory.write_text("".join(kept))


def test_a_changed_line_changes_its_memory(shelf: NuggetShelf, memory: Path) -> None:
    replace(memory, "JWT with RS256", "JWT with ES256")
    shelf.promote(memory)

    assert content_of(shelf, "Auth") == "JWT with ES256, keys in src/auth"
    assert memory.read_text().count("ES256") == 1
    assert shelf.search_notes("ES256", session=None)[0].note.title == "Auth"


def test_a_changed_line_keeps_the_times_of_its_memory(shelf: NuggetShelf, memory: Path) -> None:
    keep(shelf, "Freeze", "no deploys", valid_until="2031-01-02")
    shelf.promote(memory)
    until = shelf.get_note("Freeze", session=None).valid_until
    replace(memory, "no deploys", "no deploys at all")
    shelf.promote(memory)

    assert until is not None
    assert shelf.get_note("Freeze", session=None).valid_until == until


def test_a_changed_title_renames_the_memory(shelf: NuggetShelf, memory: Path) -> None:
    replace(memory, "**Auth**", "**Authentication**")
    shelf.promote(memory)

    assert content_of(shelf, "Authentication") == LESSONS["Auth"]


def test_title_and_content_may_change_together(shelf: NuggetShelf, memory: Path) -> None:
    replace(memory, "**Deploy**: make deploy, then", "**Deployment**: make ship, then")
    shelf.promote(memory)

    assert content_of(shelf, "Deployment") == "make ship, then smoke.sh"


@pytest.mark.parametrize("line", ["**auth**: sessions in Redis", "**AUTH:** sessions in Redis"])
def test_a_title_in_another_case_is_still_that_title(
    shelf: NuggetShelf, memory: Path, line: str
) -> None:
    replace(memory, f"**Auth**: {LESSONS['Auth']}", line)
    shelf.promote(memory)

    assert content_of(shelf, "Auth") == "sessions in Redis"
    assert memory.read_text().count("sessions in Redis") == 1


@pytest.mark.parametrize("form", ["**Auth:** {}", "**Auth** - {}", "**Auth** – {}", "**Auth** {}"])
def test_the_mark_between_title_and_content_belongs_to_neither(
    shelf: NuggetShelf, memory: Path, form: str
) -> None:
    replace(memory, f"**Auth**: {LESSONS['Auth']}", form.format("JWT with ES256"))
    shelf.promote(memory)

    assert content_of(shelf, "Auth") == "JWT with ES256"
    assert shelf.get_note("Auth", session=None).title == "Auth"


def test_a_cut_line_that_is_ended_by_hand_is_the_whole_memory(
    shelf: NuggetShelf, memory: Path
) -> None:
    rules = [f"Rule {number} holds in the shop number {number}." for number in range(30)]
    keep(shelf, "Shop rules", " ".join(rules))
    shelf.promote(memory)

    shown = next(line for line in memory.read_text().split("\n") if "Shop rules" in line)
    memory.write_text(memory.read_text().replace(shown, shown[: shown.index(" Rule 3")]))
    shelf.promote(memory)

    assert content_of(shelf, "Shop rules") == " ".join(rules[:3])


def test_a_deleted_line_archives_its_memory_and_stays_away(
    shelf: NuggetShelf, memory: Path
) -> None:
    delete_line(memory, "Deploy")
    shelf.promote(memory)
    shelf.promote(memory)

    (deploy,) = [note for note in shelf.list_notes(include_hidden=True) if note.title == "Deploy"]
    assert deploy.hidden
    assert "Deploy" not in memory.read_text()


def test_a_line_that_is_put_back_restores_its_memory(shelf: NuggetShelf, memory: Path) -> None:
    before = memory.read_text()
    delete_line(memory, "Deploy")
    shelf.promote(memory)
    memory.write_text(before)
    shelf.promote(memory)

    assert content_of(shelf, "Deploy") == LESSONS["Deploy"]
    assert "**Deploy**" in memory.read_text()


@pytest.mark.parametrize("edit", ["change", "delete"])
def test_undo_takes_an_edit_back(shelf: NuggetShelf, memory: Path, edit: str) -> None:
    if edit == "change":
        replace(memory, "Postgres 16", "Postgres 17")
    else:
        delete_line(memory, "Database")
    shelf.promote(memory)
    (step,) = [step for step in shelf.history() if step.changes.action == "edit_memory_file"]
    shelf.undo(step.revision)

    assert content_of(shelf, "Database") == LESSONS["Database"]
    assert not shelf.get_note("Database", session=None).hidden
    assert f"- **Database**: {LESSONS['Database']}\n" in memory.read_text()


def test_an_edit_replaces_only_what_its_line_showed(shelf: NuggetShelf, memory: Path) -> None:
    long = "First line of it.\n\n" + "Many words follow here. " * 40 + "\n\nThe end."
    keep(shelf, "Story", long)
    shelf.promote(memory)
    replace(memory, "First line of it.", "The first line.")
    shelf.promote(memory)

    kept = long.replace("here. \n", "here.\n")  # no note has blanks at the end of a line
    assert content_of(shelf, "Story") == kept.replace("First line of it.", "The first line.")


def test_a_line_in_a_persons_form_stays_so_until_the_memory_changes(
    shelf: NuggetShelf, memory: Path
) -> None:
    replace(memory, "- **Branch**: trunk, not main", "* **Branch** `trunk`, never main  ")
    shelf.promote(memory)

    assert content_of(shelf, "Branch") == "`trunk`, never main"
    assert "* **Branch** `trunk`, never main  \n" in memory.read_text()
    shelf.edit_note("Branch", "main again")
    shelf.promote(memory)
    assert "- **Branch**: main again\n" in memory.read_text()


@pytest.mark.parametrize("form", ["* **Branch**: trunk, not main", "* Branch: trunk, not main"])
def test_a_line_of_which_only_the_form_changed_is_still_that_of_its_memory(
    shelf: NuggetShelf, memory: Path, form: str
) -> None:
    replace(memory, "- **Branch**: trunk, not main", form)
    shelf.promote(memory)

    assert f"{form}\n" in memory.read_text()
    shelf.edit_note("Branch", "main again")
    shelf.promote(memory)
    assert "- **Branch**: main again\n" in memory.read_text()
    assert form not in memory.read_text()


@pytest.mark.parametrize("state", ["missing", "empty", "blank", "conflict", "two of five"])
def test_a_file_that_lost_much_changes_and_archives_nothing(
    shelf: NuggetShelf, memory: Path, state: str
) -> None:
    text = memory.read_text()
    if state == "missing":
        memory.unlink()
    elif state == "two of five":
        delete_line(memory, "Auth", "Deploy")
    else:
        conflict = f"<<<<<<< HEAD\n=======\n>>>>>>> other\n{text.splitlines()[-1]}\n"
        memory.write_text({"empty": "", "blank": " \n\n", "conflict": conflict}[state])
    (edits,) = shelf.import_file_edits()

    assert edits.problem
    assert edits.is_news
    assert {note.title: note.content for note in shelf.list_notes()} == LESSONS
    assert str(memory) in shelf.memory_file_problems()
    assert [d.path for d in shelf.checkup() if d.kind == "memory file"] == [str(memory)]


def test_a_problem_is_news_only_once(shelf: NuggetShelf, memory: Path) -> None:
    delete_line(memory, "Auth", "Deploy", "Tests")
    news = [edits.is_news for _ in range(2) for edits in shelf.import_file_edits()]

    assert news[0] is True
    assert True not in news[1:]


def test_lines_that_come_back_settle_the_problem(shelf: NuggetShelf, memory: Path) -> None:
    text = memory.read_text()
    delete_line(memory, "Auth", "Deploy", "Tests")
    shelf.promote(memory)
    for _ in range(2):
        assert "3 lines" in shelf.memory_file_problems()[str(memory)]
        shelf.promote(memory)
    memory.write_text(text)
    shelf.promote(memory)

    assert shelf.memory_file_problems() == {}
    assert memory.read_text() == text


def test_the_last_of_the_lines_that_do_not_come_back_is_a_deleted_one(
    shelf: NuggetShelf, memory: Path
) -> None:
    text = memory.read_text()
    delete_line(memory, "Auth", "Deploy", "Tests")
    shelf.promote(memory)
    memory.write_text(text)
    delete_line(memory, "Auth", "Deploy")
    shelf.promote(memory)
    assert "2 lines" in shelf.memory_file_problems()[str(memory)]
    assert {note.title for note in shelf.list_notes()} == set(LESSONS)
    memory.write_text(text)
    delete_line(memory, "Auth")
    shelf.promote(memory)

    assert shelf.memory_file_problems() == {}
    assert {note.title for note in shelf.list_notes()} == set(LESSONS) - {"Auth"}
    step = next(step for step in shelf.history() if step.changes.put)
    shelf.undo(step.revision)
    assert not shelf.get_note("Auth", session=None).hidden
    assert sorted(memory.read_text().splitlines()) == sorted(text.splitlines())


def test_a_line_that_comes_back_in_other_words_changes_its_memory(
    shelf: NuggetShelf, memory: Path
) -> None:
    text = memory.read_text()
    delete_line(memory, "Auth", "Deploy")
    shelf.promote(memory)
    memory.write_text(text)
    delete_line(memory, "Auth")
    memory.write_text(memory.read_text() + "- **Auth**: JWT with ES256, keys in src/auth\n")
    shelf.promote(memory)

    assert content_of(shelf, "Auth") == "JWT with ES256, keys in src/auth"
    assert shelf.memory_file_problems() == {}


def test_lines_that_came_back_are_those_of_their_memories_again(
    shelf: NuggetShelf, memory: Path
) -> None:
    whole = memory.read_text()
    delete_line(memory, "Auth", "Deploy", "Tests")
    shelf.import_file_edits()
    memory.write_text(whole)
    shelf.import_file_edits()
    shelf.edit_note("Auth", content="sessions in Redis")

    assert "JWT with RS256" not in shelf.read_memory_file(memory)[0]
    replace(memory, "pnpm test", "pnpm vitest")
    shelf.promote(memory)
    assert content_of(shelf, "Tests") == "pnpm vitest -- --run"


def test_an_older_copy_of_the_file_changes_nothing(shelf: NuggetShelf, memory: Path) -> None:
    old = memory.read_text()
    for title in ("Auth", "Deploy", "Tests"):
        shelf.edit_note(title, f"{LESSONS[title]}, since May")
    shelf.promote(memory)
    memory.write_text(old)
    shelf.promote(memory)

    assert content_of(shelf, "Auth") == "JWT with RS256, keys in src/auth, since May"


def test_words_that_both_changed_are_kept_side_by_side(shelf: NuggetShelf, memory: Path) -> None:
    shelf.edit_note("Auth", "sessions in Postgres")
    replace(memory, "JWT with RS256", "JWT with ES256")
    shelf.promote(memory)

    assert content_of(shelf, "Auth") == "JWT with ES256, keys in src/auth"
    assert [n.content for n in shelf.list_notes(tag="conflict")] == ["sessions in Postgres"]
    assert "JWT with ES256" in memory.read_text()
    assert shelf.memory_file_problems() == {}


@pytest.mark.parametrize("line", ["- ** **: nameless", f"- **Auth**: {'x' * 2_000_000}"])
def test_a_line_that_no_memory_can_say_is_not_taken_over(
    shelf: NuggetShelf, memory: Path, line: str
) -> None:
    replace(memory, f"- **Auth**: {LESSONS['Auth']}", line)
    shelf.promote(memory)

    assert line in memory.read_text()
    assert {note.title: note.content for note in shelf.list_notes(include_hidden=True)} == LESSONS


def test_a_credential_in_a_line_is_not_taken_over(shelf: NuggetShelf, memory: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    replace(memory, "JWT with RS256", f"the token is {token}")
    shelf.promote(memory)

    assert content_of(shelf, "Auth") == LESSONS["Auth"]
    assert token in memory.read_text()


def test_a_line_of_a_persons_own_is_never_taken_for_a_changed_one(
    shelf: NuggetShelf, memory: Path
) -> None:
    replace(memory, "- **By hand**: mine alone", "- **Auth**: my own note on it")
    shelf.promote(memory)
    delete_line(memory, "Auth")
    memory.write_text(f"- **Auth**: my own note on it\n{memory.read_text()}")
    shelf.promote(memory)

    (auth,) = [note for note in shelf.list_notes(include_hidden=True) if note.title == "Auth"]
    assert auth.content == LESSONS["Auth"]
    assert "- **Auth**: my own note on it\n" in memory.read_text()


def test_a_preference_in_two_files_is_only_taken_out_of_the_one(
    shelf: NuggetShelf, memory: Path
) -> None:
    keep(shelf, "Short answers", "I prefer short answers", scope="user")
    other = memory.parent / "OTHER.md"
    shelf.promote(memory)
    shelf.promote(other)
    delete_line(memory, "Short answers")
    shelf.promote(memory)

    assert not shelf.get_note("Short answers", session=None).hidden
    assert "Short answers" not in memory.read_text()
    assert "Short answers" in other.read_text()
    delete_line(other, "Short answers")
    shelf.promote(other)
    assert all(note.title != "Short answers" for note in shelf.list_notes())


@pytest.mark.parametrize("wrap", ["\n  ", "\n", " \n\t"])
def test_a_wrapped_line_is_the_same_line(shelf: NuggetShelf, memory: Path, wrap: str) -> None:
    replace(memory, "then smoke.sh", f"then{wrap}smoke.sh")
    wrapped = memory.read_text()
    shelf.promote(memory)

    assert content_of(shelf, "Deploy") == LESSONS["Deploy"]
    assert memory.read_text() == wrapped


@pytest.mark.parametrize("wrap", ["\n  ", "\n"])
def test_a_line_that_is_wrapped_and_changed_changes_its_memory(
    shelf: NuggetShelf, memory: Path, wrap: str
) -> None:
    replace(memory, "then smoke.sh", f"then{wrap}smoke.sh twice")
    wrapped = memory.read_text()
    for _ in range(2):
        shelf.promote(memory)

        assert content_of(shelf, "Deploy") == "make deploy, then smoke.sh twice"
        assert memory.read_text() == wrapped


def test_what_stood_below_a_line_is_not_taken_into_it(shelf: NuggetShelf, memory: Path) -> None:
    replace(memory, "then smoke.sh\n", "then smoke.sh\n  (I doubt it)\nAsk the others.\n")
    shelf.promote(memory)
    replace(memory, "then smoke.sh\n", "then smoke.sh twice\n")
    shelf.promote(memory)

    assert content_of(shelf, "Deploy") == "make deploy, then smoke.sh twice"
    assert "twice\n  (I doubt it)\nAsk the others.\n" in memory.read_text()


@pytest.mark.parametrize("title", ["__Deploy__:", "[ ] **Deploy**:", "Deploy -", "Deploy:"])
def test_a_title_may_be_written_in_other_ways(shelf: NuggetShelf, memory: Path, title: str) -> None:
    replace(memory, "**Deploy**: make deploy", f"{title} make all")
    shelf.promote(memory)

    assert content_of(shelf, "Deploy") == "make all, then smoke.sh"


def test_a_wrapped_line_is_taken_out_as_a_whole(shelf: NuggetShelf, memory: Path) -> None:
    before = memory.read_text().replace("- **Deploy**: make deploy, then smoke.sh\n", "")
    replace(memory, "then smoke.sh", "then\n  smoke.sh")
    shelf.promote(memory)
    shelf.delete_note(shelf.get_note("Deploy", session=None).id)
    shelf.promote(memory)

    assert memory.read_text() == before


def test_words_below_a_line_are_a_persons_own(shelf: NuggetShelf, memory: Path) -> None:
    replace(memory, "then smoke.sh\n", "then smoke.sh\n  (I doubt it)\n")
    shelf.promote(memory)
    shelf.delete_note(shelf.get_note("Deploy", session=None).id)
    shelf.promote(memory)

    assert "  (I doubt it)\n" in memory.read_text()


def test_after_a_conflict_a_lost_file_is_written_again(shelf: NuggetShelf, memory: Path) -> None:
    shelf.edit_note(shelf.get_note("Branch", session=None).id, content="main again")
    replace(memory, "trunk, not main", "develop")
    shelf.promote(memory)
    memory.unlink()
    for _ in range(2):
        shelf.promote(memory)

        assert "- **Branch**: develop\n" in memory.read_text()


def test_an_unreadable_file_is_an_error_not_a_deletion(shelf: NuggetShelf, memory: Path) -> None:
    memory.write_bytes(b"caf\xe9\n")

    with pytest.raises(StoreError, match="not UTF-8"):
        shelf.promote(memory)
    assert len(shelf.list_notes()) == len(LESSONS)


def test_reading_the_file_takes_edits_over(tmp_path: Path) -> None:
    memory = tmp_path / "MEMORY.md"
    from nuggets.settings import load

    settings = load({"NUGGETS_MEMORY_FILE": str(memory)}, {"dir": str(tmp_path / "shelf")})
    with NuggetShelf(tmp_path / "shelf", settings=settings) as shelf:
        keep(shelf, "Auth", LESSONS["Auth"])
        shelf.promote()
        replace(memory, "RS256", "ES256")
        assert "ES256" in shelf.read_memory_file()[0]
        assert "ES256" in content_of(shelf, "Auth")


# --- the words of a line ----------------------------------------------------------------------

WORDS = st.sampled_from(
    [
        "use",
        "RS256",
        "<b>",
        "@src/a.py",
        "-->",
        "`code`",
        "**bold**",
        "é",
        "设置",
        "a",
        "…",
        "x" * 40,
    ]
)
BLANKS = st.sampled_from([" ", "\n", "  ", "\n\n- ", "\t"])


@st.composite
def contents(draw: st.DrawFn) -> str:
    """Text of some words, with all kinds of blanks between them."""
    words = draw(st.lists(WORDS, min_size=1, max_size=90))
    return "".join(word + draw(BLANKS) for word in words).strip()


@given(contents(), st.randoms(use_true_random=False))
def test_any_edit_of_words_is_found_in_the_memory_and_nothing_else_changes(
    content: str, chance: random.Random
) -> None:
    with NuggetShelf("memory:") as shelf:
        note = shelf.create_note("learnings", "Title", content)
    line = line_for(note)
    words = line.split(" ")
    at = chance.randrange(2, len(words) + 1)
    edited = [*words[:at], "mended", *words[at + chance.randrange(2) :]]
    changed = " ".join(edited)
    title, after = apply_edit(note, changed)

    assert title == "Title"
    assert "mended" in after
    flat = " ".join(note.content.split())
    if len(flat) > CONTENT_CHARACTERS:
        assert after.endswith(note.content[-1])  # what was not shown is still there
        assert len(after.split()) >= len(note.content.split())
    elif len(" ".join(after.split())) <= CONTENT_CHARACTERS:
        assert line_for(note._replace(content=after)) == changed
    assert apply_edit(note, line) == ("Title", note.content)


# --- any hands --------------------------------------------------------------------------------


@settings(max_examples=example_count(40))  # each edits a file four times
@given(chance=st.randoms(use_true_random=False))
def test_whatever_people_do_nothing_is_lost_and_no_line_of_theirs_is_touched(
    tmp_path_factory: pytest.TempPathFactory, chance: random.Random
) -> None:
    memory = tmp_path_factory.mktemp("edits") / "MEMORY.md"
    own = [f"- own line {number}" for number in range(4)]
    with NuggetShelf("memory:") as shelf:
        ids = [keep(shelf, f"Title {n}", f"words {n} that count") for n in range(6)]
        memory.write_text("\n".join(own) + "\n")
        shelf.promote(memory)
        for _ in range(4):
            edit_at_random(memory, chance)
            theirs = own_lines(memory)
            shelf.promote(memory)
            kept = shelf.get_notes(ids)

            assert set(kept) == set(ids)  # at most archived
            assert own_lines(memory) == theirs
            for note in kept.values():
                versions = [note, *earlier_versions(shelf, note.id)]
                assert any(version.content.startswith("words") for version in versions)


def edit_at_random(memory: Path, chance: random.Random) -> None:
    lines = memory.read_text().splitlines() if memory.exists() else []
    for _ in range(chance.randint(1, 3)):
        hand = chance.randrange(7)
        ours = [n for n, line in enumerate(lines) if "**Title" in line]
        if hand == 0:
            lines.insert(chance.randint(0, len(lines)), f"- own line {chance.randrange(4, 99)}")
        elif hand == 1 and ours:
            del lines[chance.choice(ours)]
        elif hand in (2, 3) and ours:
            at = chance.choice(ours)
            lines[at] = lines[at].replace("that count", f"that {chance.randrange(99)} changed")
        elif hand == 4 and ours:
            at = chance.choice(ours)
            lines[at] = lines[at].replace("**Title", "**My Title", 1)
        elif hand == 5 and lines:
            lines.insert(chance.randint(0, len(lines)), lines.pop(chance.randrange(len(lines))))
        elif hand == 6 and chance.random() < 0.2:
            lines = []
    memory.write_text("".join(f"{line}\n" for line in lines))


def own_lines(memory: Path) -> list[str]:
    return [line for line in memory.read_text().splitlines() if "own line" in line]


def earlier_versions(shelf: NuggetShelf, note_id: str) -> list[MemoryNote]:
    commits = shelf.commits()
    return [note for step in commits for note in step.before.put if note.id == note_id]


def test_a_line_is_not_renamed_to_the_key_of_another_fact(shelf: NuggetShelf, memory: Path) -> None:
    for key, value in (("birch use", "spoons"), ("elm use", "chairs")):
        shelf.remember("wood", key, value)
        for session in "abc":
            shelf.recall(key, session=session)
    shelf.promote(memory)
    text = memory.read_text().replace("**birch use**", "**elm use**")
    memory.write_text(text)
    shelf.promote(memory)

    assert "- **elm use**: spoons" in memory.read_text()
    assert shelf.recall("birch use").answer == "spoons"
    assert shelf.recall("elm use").answer == "chairs"
    problem = shelf.memory_file_problems()[str(memory)]
    assert "another fact has the key 'elm use'" in problem


def test_no_temporary_file_is_left(shelf: NuggetShelf, memory: Path) -> None:
    replace(memory, "RS256", "ES256")
    shelf.promote(memory)

    assert os.listdir(memory.parent) == ["MEMORY.md"]


def test_a_clean_up_takes_edits_over_before_it_changes_what_they_are_of(
    shelf: NuggetShelf, memory: Path
) -> None:
    text = "The oven of the kitchen must be cleaned on each Friday after the lunch of the team"
    keep(shelf, "Oven", text)
    keep(shelf, "Oven rule", f"{text}.")
    shelf.promote(memory)

    delete_line(memory, "Oven rule")
    shelf.reflect(limit=100)
    shelf.promote(memory)

    assert content_of(shelf, "Oven") == text
    assert f"**Oven**: {text}" in memory.read_text()
