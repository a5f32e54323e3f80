"""What goes out in a form that claims it comes back equal; the others say what they drop."""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from command_line import Nuggets
from example_counts import example_count
from nuggets import MemoryNote, NuggetShelf
from nuggets.interfaces.importers import Records
from nuggets.interfaces.importers.recognition import read_path

WHOLE_FORMS = {
    **{"jsonl": "notes.jsonl", "markdown": "notes", "obsidian": "vault", "okf": "bundle"},
    "csv": "notes.csv",
}
SIGNS = st.characters(codec="utf-8", exclude_characters="\0")
TEXTS = st.text(SIGNS | st.sampled_from("\n\r\t,\"'#-[]|:= `"), min_size=1)
TITLES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=60)


def notes_of(shelf: NuggetShelf) -> dict[str, MemoryNote]:
    return {note.id: note for note in shelf.list_notes(include_hidden=True)}


def import_into_empty(path: str) -> dict[str, MemoryNote]:
    found = Records()
    read_path(path, found)
    assert found.problems == []
    with NuggetShelf(":memory:", project="") as shelf:
        assert shelf.import_memories(found.notes).refused == ()
        return notes_of(shelf)


def fill(shelf: NuggetShelf, texts: list[tuple[str, str]]) -> None:
    ids = []
    for number, (title, text) in enumerate(texts):
        if title.strip() and text.strip():
            ids.append(shelf.create_note("ops", f"{title} {number}", text, ["one", title[:9]]).id)
            shelf.remember("prefs", f"{title} {number}", text, valid_until="2030-01-02")
    for first, second in pairwise(ids):
        shelf.add_link(first, second, "goes before")
    for note_id in ids[1:2]:
        shelf.delete_note(note_id)


@pytest.mark.parametrize("form", WHOLE_FORMS)
@given(texts=st.lists(st.tuples(TITLES, TEXTS), min_size=1, max_size=4))
@settings(
    max_examples=example_count(12), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_what_goes_out_comes_back_equal(form: str, texts: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as folder, NuggetShelf(":memory:", project="") as shelf:
        fill(shelf, texts)
        path = str(Path(folder, WHOLE_FORMS[form]))
        shelf.export(form, path)
        before = notes_of(shelf)

        assert not before or import_into_empty(path) == before


def test_a_text_that_looks_like_our_own_marks_comes_back(tmp_path: Path) -> None:
    with NuggetShelf(":memory:", project="") as shelf:
        text = "---\nid: 1\n---\n# Title\n\n## Links\n\n- [[ops/Other]]: no link"
        first = shelf.create_note("ops", "# Links", text)
        shelf.add_link(first.id, shelf.create_note("ops", "Other", "## Links").id, "[[x]]: y")
        for form, name in WHOLE_FORMS.items():
            shelf.export(form, tmp_path / name)
            assert import_into_empty(str(tmp_path / name)) == notes_of(shelf), form


def test_an_edited_file_of_the_export_brings_the_edit(nuggets: Nuggets, tmp_path: Path) -> None:
    nuggets("note", "add", "ops", "Deploys", "By hand.")
    nuggets("note", "add", "ops", "Rollback", "make back")
    nuggets("export", "markdown", str(tmp_path / "notes"))
    file = tmp_path / "notes" / "ops" / "Deploys.md"
    text = file.read_text().replace("By hand.", "By the robot, see [[ops/Rollback]].")
    updated = text.partition("updated: ")[2].partition("\n")[0]
    file.write_text(text.replace(f"updated: {updated}", 'updated: "2999-01-01T00:00:00.000Z"'))
    done = nuggets("import", str(tmp_path / "notes"))

    assert done.lines == [
        "Updated 1 note:",
        "  ~ ops: Deploys",
        "Left as it is: 1 already here.",
    ]
    assert "By the robot" in nuggets("note", "show", "Deploys").out


def test_some_of_the_notes_go_out(nuggets: Nuggets, tmp_path: Path) -> None:
    nuggets("note", "add", "ops", "Deploys", "By hand.", "--tag", "work")
    nuggets("note", "add", "home", "Tea", "Green.")
    path = tmp_path / "work.csv"

    assert nuggets("export", "csv", str(path), "--tag", "work").code == 0
    assert "Deploys" in path.read_text() and "Tea" not in path.read_text()
    assert len(nuggets("export", "jsonl", "-", "--nugget", "home").lines) == 1
    assert nuggets("export", "json", str(tmp_path / "x"), "--nugget", "home").code == 2


def test_graphs_have_titles_and_each_link_once(nuggets: Nuggets, tmp_path: Path) -> None:
    nuggets("note", "add", "ops", 'De<pl"oys\\', "By hand.")
    nuggets("note", "add", "ops", "Rollback", "make back")
    nuggets("link", 'De<pl"oys\\', "Rollback", "if it & all fails")
    nuggets("export", "graphml", str(tmp_path / "g.graphml"))
    nuggets("export", "dot", str(tmp_path / "g.dot"))
    root = ElementTree.parse(tmp_path / "g.graphml").getroot()
    space = "{http://graphml.graphdrawing.org/xmlns}"
    texts = [data.text for data in root.iter(f"{space}data")]

    assert texts.count('De<pl"oys\\') == 1 and texts.count("if it & all fails") == 1
    assert len(list(root.iter(f"{space}edge"))) == 1
    lines = (tmp_path / "g.dot").read_text().splitlines()
    assert sum(" -- " in line for line in lines) == 1
    assert any('[label="De<pl\\"oys\\\\"]' in line for line in lines)


def test_a_backup_and_a_file_of_a_shelf_come_in(nuggets: Nuggets, tmp_path: Path) -> None:
    nuggets("remember", "prefs", "editor", "helix")
    nuggets("backup", str(tmp_path / "b.db"))
    nuggets("export", "json", str(tmp_path / "out"))
    for source in (tmp_path / "b.db", tmp_path / "out" / "graph" / "graph.json"):
        elsewhere = ("--dir", str(tmp_path / f"from-{source.name}"))
        assert nuggets("import", str(source), *elsewhere).code == 0
        assert "helix" in nuggets("recall", "editor", *elsewhere).out
