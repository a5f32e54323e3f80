"""Folders of Markdown that other programs write, and what is kept of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from command_line import Nuggets

BUNDLE = {
    "index.md": '---\nokf_version: "0.1"\n---\n\n# Sales\n\n- [tables](tables/index.md)\n',
    "log.md": "# Log\n\n## 2026-05-22\n- **Update**: [orders](tables/orders.md)\n",
    "tables/index.md": "# Tables\n\n- [Orders](orders.md) - one row an order\n",
    "tables/orders.md": (
        "---\ntype: BigQuery Table\ntitle: Orders\ndescription: One row an order.\n"
        "resource: https://example.org/orders\ntags: [sales, revenue]\n"
        "timestamp: 2026-05-28T14:30:00Z\nowner:\n  team: sales\n---\n\n"
        "Joined with [customers](/tables/customers.md) on the id, see "
        "[gone](gone.md), [web](https://example.org/x.md) and ![image](a.png).\n"
    ),
    "tables/customers.md": "---\ntype: BigQuery Table\n---\nOne row a [buyer](orders.md#top).\n",
}
BASIC_MEMORY = {
    "specs/Search.md": (
        "---\ntitle: Search Design\ntype: note\npermalink: specs/search-design\ntags:\n- design\n"
        "schema: v2\n---\n\n# Search Design\n\n## Observations\n"
        "- [decision] Postings in one table #sqlite (measured)\n\n## Relations\n"
        "- implements [[Roadmap]] (phase 1)\n- relates_to [[specs/ideas]]\n"
    ),
    "Roadmap.md": "---\ntitle: Roadmap\npermalink: roadmap\n---\nSee [[specs/search-design]].\n",
}


def write(folder: Path, files: Mapping[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return str(folder)


def imported(nuggets: Nuggets, path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    done = nuggets("import", path, "--json").json
    return done, {note["title"]: note for note in done["added"]}


def test_a_bundle_of_the_open_knowledge_format_comes_in(nuggets: Nuggets, tmp_path: Path) -> None:
    done, notes = imported(nuggets, write(tmp_path / "kb", BUNDLE))
    orders, customers = notes["Orders"], notes["customers"]

    assert done["form"] == "a bundle of the Open Knowledge Format"
    assert notes.keys() == {"Orders", "customers"}
    assert {"sales", "revenue", "bigquery", "table", "tables"} <= set(orders["tags"])
    assert orders["updatedAt"] == "2026-05-28T14:30:00.000Z"
    assert customers["id"] in {link["to"] for link in orders["links"]}
    assert done["relationsLeftOut"] == 1
    assert orders["frontMatter"] == {
        "type": "BigQuery Table",
        "description": "One row an order.",
        "resource": "https://example.org/orders",
        "owner": {"team": "sales"},
    }
    assert nuggets("import", str(tmp_path / "kb")).lines[0] == "Nothing new."


def test_files_called_index_are_notes_where_not_every_file_has_a_type(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    files = {"index.md": "Start here: [[a]]", "a.md": "text", "b.md": "---\ntype: x\n---\ntext"}
    _, notes = imported(nuggets, write(tmp_path / "notes", files))
    assert notes.keys() == {"index", "a", "b"}


def test_a_project_of_basic_memory_comes_in(nuggets: Nuggets, tmp_path: Path) -> None:
    done, notes = imported(nuggets, write(tmp_path / "bm", BASIC_MEMORY))
    search, roadmap = notes["Search Design"], notes["Roadmap"]

    assert done["form"] == "a folder of basic-memory"
    assert {"design", "sqlite", "specs"} <= set(search["tags"])
    assert ("implements", roadmap["id"]) in {(at["reason"], at["to"]) for at in search["links"]}
    assert done["relationsLeftOut"] == 1
    assert "- [decision] Postings in one table #sqlite (measured)" in search["content"]
    assert search["frontMatter"]["schema"] == "v2"


def test_what_came_in_with_its_fields_goes_out_and_comes_back(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    imported(nuggets, write(tmp_path / "kb", BUNDLE))
    nuggets("export", "okf", str(tmp_path / "out"))
    elsewhere = ("--dir", str(tmp_path / "elsewhere"))
    shown = nuggets("import", str(tmp_path / "out"), "--dry-run", *elsewhere)
    nuggets("import", str(tmp_path / "out"), *elsewhere)

    assert shown.lines[0] == "Recognised: a bundle of the Open Knowledge Format."
    ours = nuggets("note", "list", "--json").json
    assert nuggets("note", "list", "--json", *elsewhere).json == ours
    assert "One row an order." in str(ours)


@pytest.mark.parametrize("name", ["../outside.md", "/etc/hostname.md", "%2e%2e/outside.md"])
def test_a_link_that_leads_out_of_the_folder_is_no_link(
    nuggets: Nuggets, tmp_path: Path, name: str
) -> None:
    (tmp_path / "outside.md").write_text("outside")
    done, notes = imported(nuggets, write(tmp_path / "kb", {"a.md": f"[x]({name})"}))
    assert done["relationsLeftOut"] == 1
    assert [note["content"] for note in notes.values()] == [f"[x]({name})"]


def test_a_credential_in_a_field_is_named_and_left_out(nuggets: Nuggets, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    text = f"---\ntitle: Deploy\ngithub: {token[:40]}\n---\nBy hand.\n"
    done, notes = imported(nuggets, write(tmp_path / "kb", {"a.md": text}))
    assert not notes and len(done["credentials"]) == 1


def test_a_bundle_that_says_so_may_have_a_concept_without_a_type(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    folder = write(tmp_path, {**BUNDLE, "tables/untyped.md": "No front matter.\n"})
    done = nuggets("import", folder, "--json").json

    assert done["form"] == "a bundle of the Open Knowledge Format"
    titles = [note["title"] for note in done["added"]]
    assert sorted(titles) == ["Orders", "customers", "untyped"]


def test_a_memory_of_claude_code_is_called_and_linked_by_its_name(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    files = {
        "feedback_tests.md": "---\nname: real-database\ntype: feedback\n---\nNo mocks.\n",
        "user_role.md": "---\nname: user-role\n---\nWrites Rust. See [[real-database]].\n",
    }
    files["wrong.md"] = "---\nname: [1, 2]\n---\nNo name.\n"
    tests, role, wrong = nuggets("import", write(tmp_path, files), "--json").json["added"]

    assert wrong["title"] == "wrong"
    assert (tests["title"], role["title"]) == ("real-database", "user-role")
    assert [link["to"] for link in role["links"]] == [tests["id"]]


def test_a_rule_of_cursor_keeps_the_files_that_it_applies_to(
    nuggets: Nuggets, tmp_path: Path
) -> None:
    rules = {
        "api.mdc": "---\ndescription: >\n  REST\nglobs: [src/**/*.ts]\n---\n- Validate with zod\n",
        "make.mdc": "---\ndescription:\nglobs: **/Makefile\nalwaysApply: true\n---\n- Use tabs\n",
        "plain.mdc": "---\ndescription:\nglobs:\nalwaysApply: true\n---\n- Never commit .env\n",
    }
    added = nuggets("import", write(tmp_path, rules), "--json").json["added"]

    assert [note["content"] for note in added] == [
        "Validate with zod\n\nApplies to: REST; src/**/*.ts",
        "Use tabs\n\nApplies to: **/Makefile",
        "Never commit .env",
    ]
