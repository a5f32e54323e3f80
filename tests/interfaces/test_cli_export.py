"""export: the documented files, lines of JSON, and Markdown; nothing is overwritten."""

import json
import os
from pathlib import Path

import pytest
import yaml

from command_line import Nuggets, NuggetsProcess


@pytest.fixture(autouse=True)
def memories(nuggets: Nuggets) -> None:
    nuggets("remember", "prefs", "editor", "helix")
    nuggets("note", "add", "ops", "Deploys", "By hand.\nNever on Fridays.", "--tag", "work")
    nuggets("note", "add", "ops", "Roll/back: how?", "make back")
    nuggets("link", "Deploys", "Roll/back: how?", "if it goes wrong")


def test_documented_files_make_the_same_shelf_elsewhere(nuggets: Nuggets, tmp_path: Path) -> None:
    done = nuggets("export", "json", str(tmp_path / "out"))
    assert done.lines == [f"Wrote 3 notes in 3 files to {tmp_path / 'out'}"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "graph",
        "ops.nugget.json",
        "prefs.nugget.json",
    ]
    graph = json.loads((tmp_path / "out" / "graph" / "graph.json").read_text())
    assert [note["title"] for note in graph["notes"]] == ["editor", "Deploys", "Roll/back: how?"]
    listed = nuggets("note", "list", "--json").json
    assert nuggets("note", "list", "--json", "--dir", str(tmp_path / "out")).json == listed


def test_a_copy_of_the_documented_files_is_as_they_are(nuggets: Nuggets, tmp_path: Path) -> None:
    directory = Path(nuggets("export", "json", "--json").json["path"])
    nuggets("export", "json", str(tmp_path / "out"))

    for name in ("graph/graph.json", "ops.nugget.json", "prefs.nugget.json"):
        own, copy = directory / name, tmp_path / "out" / name
        head = json.loads(own.read_text())
        del head["recalls"]  # a copy takes none over
        assert json.loads(copy.read_text()) == head
        assert copy.read_bytes().splitlines()[1:] == own.read_bytes().splitlines()[1:]


def test_a_note_per_line_goes_to_a_file_or_to_the_output(
    nuggets_process: NuggetsProcess, tmp_path: Path
) -> None:
    printed = nuggets_process("export", "jsonl", "-")
    titles = [json.loads(line)["title"] for line in printed.lines]
    assert titles == ["editor", "Deploys", "Roll/back: how?"]

    path = tmp_path / "notes.jsonl"
    assert nuggets_process("export", "jsonl", str(path)).code == 0
    assert path.read_text() == printed.out
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("form", "link"),
    [("obsidian", "[[ops/Roll back how]]"), ("markdown", "[Roll back how](Roll%20back%20how.md)")],
)
def test_markdown_has_front_matter_and_links_between_files(
    nuggets: Nuggets, tmp_path: Path, form: str, link: str
) -> None:
    nuggets("export", form, str(tmp_path / "notes"))
    assert sorted(str(p.relative_to(tmp_path)) for p in (tmp_path / "notes").rglob("*.md")) == [
        "notes/ops/Deploys.md",
        "notes/ops/Roll back how.md",
        "notes/prefs/editor.md",
    ]
    text = (tmp_path / "notes" / "ops" / "Deploys.md").read_text()
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    fields = yaml.safe_load(front)
    assert (fields["title"], fields["nugget"], fields["tags"]) == ("Deploys", "ops", ["work"])
    before, time, after = body.partition(" <!-- ")
    assert time and after.endswith("Z -->\n")
    assert before == f"\nBy hand.\nNever on Fridays.\n\n## Links\n\n- {link}: if it goes wrong"


def test_a_bundle_lists_its_folders(nuggets: Nuggets, tmp_path: Path) -> None:
    nuggets("note", "add", "ops", "Index", "a reserved name")
    done = nuggets("export", "okf", str(tmp_path / "okf"), "--json").json
    files = {str(p.relative_to(tmp_path / "okf")): p.read_text() for p in tmp_path.rglob("*.md")}

    assert done["files"] == len(files) == 7
    assert files["index.md"].startswith('---\nokf_version: "0.1"\n---\n')
    assert "- [ops](ops/index.md)" in files["index.md"]
    assert "- [Roll back how](Roll%20back%20how.md)" in files["ops/index.md"]
    assert "ops/note Index.md" in files
    for name, text in files.items():
        if not name.endswith("index.md"):
            assert yaml.safe_load(text.split("---\n")[1])["type"]


@pytest.mark.parametrize("form", ["json", "jsonl", "markdown", "obsidian", "okf"])
def test_nothing_is_overwritten_and_a_dry_run_writes_nothing(
    nuggets: Nuggets, tmp_path: Path, form: str
) -> None:
    place = tmp_path / "place"
    shown = nuggets("export", form, str(place), "--dry-run", "--json").json
    assert (shown["notes"], shown["dryRun"]) == (3, True)
    assert not place.exists()

    place.mkdir()
    (place / "mine").write_text("kept")
    refused = nuggets("export", form, str(place))
    assert refused.code == 1
    assert "nothing is overwritten" in refused.err
    assert os.listdir(place) == ["mine"]


def test_json_without_a_place_refreshes_the_shelfs_own_files(nuggets: Nuggets) -> None:
    graph = Path(os.environ["NUGGETS_DIR"], "graph", "graph.json")
    before = json.loads(graph.read_text())["notes"]
    graph.unlink()
    done = nuggets("export", "json", "--json").json
    assert done["path"] == os.environ["NUGGETS_DIR"]
    assert json.loads(graph.read_text())["notes"] == before


def test_what_makes_no_sense_is_a_usage_error(nuggets: Nuggets) -> None:
    for arguments in (
        ("export", "markdown"),
        ("export", "markdown", "-"),
        ("export", "jsonl", "-", "--json"),
        ("export", "pdf", "x"),
    ):
        assert nuggets(*arguments).code == 2, arguments


def test_undo_takes_back_a_persons_edit_of_a_file(nuggets: Nuggets) -> None:
    path = Path(os.environ["NUGGETS_DIR"]) / "graph" / "graph.json"
    shape = json.loads(path.read_text())
    gone = shape["notes"].pop()["title"]
    path.write_text(json.dumps(shape))
    before = nuggets("note", "list").out
    nuggets("undo")

    assert gone not in before
    assert gone in nuggets("note", "list").out


@pytest.mark.parametrize("keeps_first_line", [True, False])
def test_memories_that_are_missing_in_a_file_all_at_once_are_kept_and_told(
    nuggets: Nuggets, keeps_first_line: bool
) -> None:
    path = Path(os.environ["NUGGETS_DIR"]) / "graph" / "graph.json"
    shape = {**json.loads(path.read_text()), "notes": []}
    path.write_text(json.dumps(shape if keeps_first_line else {"notes": []}))
    told = nuggets("note", "list")
    again = nuggets("note", "list")

    assert "3 memories were missing in graph/graph.json at once, and are kept" in told.err
    assert "Deploys" in told.out
    assert again.err == ""


@pytest.mark.parametrize("form", ["jsonl", "csv", "graphml", "dot"])
def test_a_form_of_one_file_goes_to_standard_output(nuggets: Nuggets, form: str) -> None:
    nuggets("note", "add", "work", "Release", "make release")

    assert "Release" in nuggets("export", form, "-").out
