"""The commands on notes and the graph."""

import json
from pathlib import Path

import pytest

from agent_doors import repository
from command_line import Nuggets, Prepare
from nuggets import NuggetShelf


@pytest.fixture(autouse=True)
def _filled(prepare: Prepare) -> None:
    prepare(
        "note add project 'Auth middleware' 'Uses JWT with RS256.' --tag auth",
        "note add project 'JWT format' 'Signed tokens.' --tag auth",
    )


def note(nuggets: Nuggets, name: str) -> dict[str, object]:
    found: dict[str, object] = nuggets("note", "show", name, "--json").json
    return found


def test_add_says_its_title_and_id(nuggets: Nuggets) -> None:
    done = nuggets("note", "add", "n", "Title", "Content")

    [line] = done.lines
    assert done.code == 0
    assert line.startswith("Noted Title (note-n-")


def test_content_comes_from_standard_input(nuggets: Nuggets) -> None:
    nuggets("note", "add", "n", "Steps", "-", stdin="one\r\ntwo  \n\n\n\nthree\n")

    assert note(nuggets, "Steps")["content"] == "one\ntwo\n\nthree"


def test_without_content_and_without_a_terminal_it_is_a_usage_error(nuggets: Nuggets) -> None:
    done = nuggets("note", "add", "n", "Empty")

    assert done.code == 2
    assert "EDITOR" in done.err


def test_show_prints_the_whole_note(nuggets: Nuggets) -> None:
    nuggets("link", "Auth middleware", "JWT format", "uses")

    text = nuggets("note", "show", "auth MIDDLEWARE").out

    for part in ("Auth middleware", "Uses JWT with RS256.", "tags: auth, project", "JWT format"):
        assert part in text
    assert "(uses)" in text


def test_showing_a_note_counts_for_the_session(nuggets: Nuggets) -> None:
    nuggets("note", "show", "JWT format", "--session", "s1")
    nuggets("note", "show", "JWT format", "--session", "s2")

    assert note(nuggets, "JWT format")["hits"] == 3  # and today's


def test_edit_changes_content_title_tags_and_metadata(nuggets: Nuggets) -> None:
    done = nuggets(
        *("note", "edit", "Auth middleware", "New words.", "--title", "Auth"),
        *("--tag", "x", "--tag", "y", "--stability", "temporary", "--json"),
    )

    after = done.json
    assert (after["title"], after["content"], after["stability"]) == (
        "Auth",
        "New words.",
        "temporary",
    )
    assert after["tags"][:2] == ["x", "y"]


def test_an_edit_without_a_difference_says_so(nuggets: Nuggets) -> None:
    done = nuggets("note", "edit", "JWT format", "Signed tokens.")

    assert done.code == 0
    assert done.out.startswith("No change")


def test_an_edit_of_what_is_archived_says_so(nuggets: Nuggets) -> None:
    nuggets("note", "archive", "JWT format")

    done = nuggets("note", "edit", "JWT format", "New words.")

    assert "Caution: it is archived" in done.out
    assert "nuggets note restore" in done.out


def test_edit_takes_standard_input(nuggets: Nuggets) -> None:
    nuggets("note", "edit", "JWT format", "-", stdin="from a pipe")

    assert note(nuggets, "JWT format")["content"] == "from a pipe"


@pytest.mark.parametrize(
    ("command", "stdin"),
    [
        (("note", "edit", "JWT format", "-"), ""),
        (("note", "edit", "JWT format", "-"), " \n"),
        (("note", "edit", "JWT format", ""), ""),
        (("note", "add", "project", "Empty", "-"), " \n"),
    ],
)
def test_a_text_that_is_missing_wipes_no_note_and_makes_none(
    nuggets: Nuggets, command: tuple[str, ...], stdin: str
) -> None:
    done = nuggets(*command, stdin=stdin)

    assert (done.code, done.out) == (2, "")
    assert "nothing was changed" in done.err
    assert [one["content"] for one in nuggets("note", "list", "--json").json] == [
        *("Uses JWT with RS256.", "Signed tokens.")
    ]


def test_a_title_may_be_all_there_is_to_say(nuggets: Nuggets) -> None:
    assert nuggets("note", "add", "project", "Empty", "").code == 0


def test_hide_restore_and_delete(nuggets: Nuggets) -> None:
    hidden = nuggets("note", "archive", "JWT format")
    listed = nuggets("note", "list").out
    with_all = nuggets("note", "list", "--all").out
    restored = nuggets("note", "restore", "JWT format")
    deleted = nuggets("note", "delete", "JWT format", "--hard")
    again = nuggets("note", "delete", "JWT format", "--hard")

    assert "JWT format" not in listed
    assert "JWT format (archived)" in with_all
    assert [done.code for done in (hidden, restored, deleted, again)] == [0, 0, 0, 1]


def test_delete_archives_like_in_python_and_drops_with_hard(nuggets: Nuggets) -> None:
    archived = nuggets("note", "delete", "JWT format", "--json").json
    dropped = nuggets("note", "delete", "Auth middleware", "--hard", "--json").json

    assert archived["hidden"] is True
    assert dropped["deleted"] == 1
    assert nuggets("note", "restore", "JWT format").code == 0
    assert nuggets("note", "show", "Auth middleware").code == 1


def test_merge_unites_two_notes(nuggets: Nuggets) -> None:
    gone = note(nuggets, "JWT format")["id"]
    done = nuggets("note", "merge", "Auth middleware", "JWT format", "--reason", "same", "--json")

    assert done.json["content"] == "Uses JWT with RS256.\nSigned tokens."
    assert note(nuggets, str(gone))["hidden"] is True
    assert note(nuggets, "JWT format")["title"] == "Auth middleware"


def test_a_merge_across_projects_says_so(nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/webshop/.git")
    nuggets("note", "add", "project", "Deploys", "By hand.")
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/blog/.git")
    nuggets("note", "add", "project", "Releases", "On Friday.")
    nuggets("note", "add", "project", "Hosts", "Two.")

    same = nuggets("note", "merge", "Releases", "Hosts")
    other = nuggets("note", "merge", "Releases", "Deploys")
    everywhere = nuggets("note", "merge", "JWT format", "Releases")

    assert len(same.lines) == 1
    assert other.lines[1:] == ["The merged text was valid in webshop, and is now valid in blog."]
    assert everywhere.lines[1:] == [
        "The merged text was valid in blog, and is now valid everywhere."
    ]


def test_a_list_marks_what_belongs_to_another_project(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/webshop/.git")
    nuggets("note", "add", "project", "Deploys", "By hand.")
    own = nuggets("note", "list").out
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/blog/.git")

    assert "Deploys\n" in own
    assert "Deploys (webshop)\n" in nuggets("note", "list").out
    assert "JWT format\n" in nuggets("note", "list").out


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ((), 2),
        (("--nugget", "project"), 2),
        (("--tag", "auth"), 2),
        (("--kind", "fact"), 0),
        (("--scope", "session"), 0),
        (("--type", "style"), 0),
        (("--subject", "nobody"), 0),
    ],
)
def test_list_filters(nuggets: Nuggets, options: tuple[str, ...], count: int) -> None:
    done = nuggets("note", "list", *options, "--json")

    assert done.code == 0
    assert len(done.json) == count


@pytest.mark.parametrize("command", [("note", "list"), ("search", "jwt"), ("recall", "jwt")])
def test_an_unknown_nugget_is_an_error_not_an_empty_answer(
    nuggets: Nuggets, command: tuple[str, ...]
) -> None:
    done = nuggets(*command, "--nugget", "nope", "--json")

    assert done.code == 1
    assert done.json["error"]["code"] == "not_found"


def test_a_key_of_two_projects_names_the_one_of_this_project(
    nuggets: Nuggets, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "there"):
        monkeypatch.chdir(repository(directory / name))
        nuggets("remember", "project", "test cmd", f"make {name}")
    monkeypatch.chdir(directory / "here")

    shown = nuggets("note", "show", "test cmd", "--json").json
    edited = nuggets("note", "edit", "test cmd", "make test")
    monkeypatch.chdir(directory)
    neither = nuggets("note", "show", "test cmd")

    assert shown["content"] == "make here"
    assert edited.code == 0
    assert neither.code == 1
    assert ", project here)" in neither.err
    assert ", project there)" in neither.err


def test_an_empty_list_says_so(nuggets: Nuggets) -> None:
    assert nuggets("note", "list", "--kind", "fact").lines == ["No notes."]


# --- search -------------------------------------------------------------------------------------


def test_search_shows_score_title_id_and_words(nuggets: Nuggets) -> None:
    first, second, *_ = nuggets("search", "authentication").lines

    assert first.startswith("[0.")
    assert "Auth middleware" in first
    assert "note-project-" in first
    assert second.strip() == "Uses JWT with RS256."


def test_search_as_json_has_the_documented_shape(nuggets: Nuggets) -> None:
    [best, *_] = nuggets("search", "jwt", "--json").json

    assert best.keys() == {
        "note",
        "score",
        "vectorScore",
        "textScore",
        "relevance",
        "clearAnswer",
        "foreign",
    }


def test_a_search_without_a_result_fails(nuggets: Nuggets) -> None:
    done = nuggets("search", "zebra", "crossing")
    as_json = nuggets("search", "zebra", "crossing", "--json")

    assert (done.code, done.out) == (1, "Nothing found.\n")
    assert (as_json.code, as_json.json) == (1, [])


def test_search_keeps_the_limit(nuggets: Nuggets) -> None:
    assert len(nuggets("search", "jwt", "--limit", "1", "--json").json) == 1


def test_why_shows_what_made_a_score(nuggets: Nuggets) -> None:
    plain = nuggets("search", "authentication", "middleware")
    why = nuggets("search", "authentication", "middleware", "--why")
    as_json = nuggets("search", "authentication", "middleware", "--why", "--json").json

    assert len(why.lines) > len(plain.lines)
    assert "middleware" in "\n".join(set(why.lines) - set(plain.lines))
    assert all(entry["why"] for entry in as_json)


def test_a_search_counts_for_the_session(nuggets: Nuggets) -> None:
    nuggets("search", "signed tokens", "--limit", "1", "--session", "s1")

    assert nuggets("note", "show", "JWT format", "--session", "s1", "--json").json["hits"] == 1


# --- links and the tree -------------------------------------------------------------------------


def test_link_and_unlink_say_whether_anything_changed(nuggets: Nuggets) -> None:
    names = ("Auth middleware", "JWT format")

    linked = nuggets("link", *names, "uses")
    again = nuggets("link", *names, "USES")
    unlinked = nuggets("unlink", *names)
    unlinked_again = nuggets("unlink", *names)

    assert [linked.out, again.out] == ["Linked.\n", "Already linked.\n"]
    assert [done.code for done in (linked, again, unlinked, unlinked_again)] == [0, 0, 0, 1]


def test_link_as_json_says_whether_it_was_added(nuggets: Nuggets) -> None:
    names = ("Auth middleware", "JWT format")

    assert nuggets("link", *names, "--json").json["added"] is True
    assert nuggets("link", *names, "--json").json["added"] is False
    assert nuggets("unlink", *names, "--json").json == {"removed": True}


def test_the_tree_shows_neighbours_below_a_note(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Keys", "Where they are.")
    nuggets("link", "Auth middleware", "JWT format", "uses")
    nuggets("link", "JWT format", "Keys", "signed with")

    root, first, second = nuggets("graph", "Auth middleware").lines

    assert root.startswith("Auth middleware")
    assert first == "└─ JWT format  (uses)"
    assert second == "   └─ Keys  (signed with)"


def test_the_tree_stops_at_its_depth(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Keys", "Where they are.")
    nuggets("link", "Auth middleware", "JWT format", "uses")
    nuggets("link", "JWT format", "Keys", "signed with")

    assert len(nuggets("graph", "Auth middleware", "--depth", "1").lines) == 2
    assert len(nuggets("graph", "Auth middleware", "--depth", "0").lines) == 1


def test_a_ring_of_links_ends(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Keys", "Where they are.")
    for a, b in (("Auth middleware", "JWT format"), ("JWT format", "Keys"), ("Keys", "Auth mid")):
        nuggets("link", a, b if b != "Auth mid" else "Auth middleware")

    lines = nuggets("graph", "--depth", "99").lines

    assert len(lines) == 4
    assert lines[3].endswith("  (related)  ↑ shown above")


def linked_notes(nuggets: Nuggets, *links: str) -> None:
    for name in dict.fromkeys(name for link in links for name in link.split("-")):
        nuggets("note", "add", "maze", name, f"Text of {name}.")
    for link in links:
        assert nuggets("link", *link.split("-"), f"why {link}").code == 0


def test_a_note_stands_where_it_is_nearest_so_that_what_is_in_reach_is_shown(
    nuggets: Nuggets,
) -> None:
    linked_notes(nuggets, "TS-TA", "TA-TB", "TB-TX", "TS-TC", "TC-TX", "TX-TY")

    assert nuggets("graph", "TS", "--depth", "3").lines[1:] == [
        "├─ TA  (why TS-TA)",
        "│  └─ TB  (why TA-TB)",
        "└─ TC  (why TS-TC)",
        "   └─ TX  (why TC-TX)",
        "      ├─ TB  (why TB-TX)  ↑ shown above",
        "      └─ TY  (why TX-TY)",
    ]


@pytest.mark.parametrize("command", [("graph",), ("graph", "--depth", "1"), ("graph", "NA")])
def test_every_link_in_reach_has_one_line(nuggets: Nuggets, command: tuple[str, ...]) -> None:
    links = ("NA-NB", "NB-NC", "NC-NA", "NC-ND", "ND-NE", "NE-NF")
    linked_notes(nuggets, *links)
    shape = nuggets(*command, "--json").json
    said = nuggets(*command).out

    assert {link["reason"] for link in shape["links"]} >= {f"why {link}" for link in links[:4]}
    assert all(said.count(link["reason"]) == 1 for link in shape["links"])
    assert said.count("why ") == len(shape["links"])


def test_what_hangs_together_is_one_tree(nuggets: Nuggets) -> None:
    linked_notes(nuggets, "NA-NB", "NB-NC", "NC-NA", "NC-ND", "ND-NE", "NE-NF", "OA-OB")
    tops = [line for line in nuggets("graph").lines if line[0].isalpha()]

    assert [top.split()[0] for top in tops] in (["NC", "OA"], ["NC", "OB"])


def test_a_long_chain_goes_on_in_a_tree_of_its_own(nuggets: Nuggets, directory: Path) -> None:
    with NuggetShelf(directory, project="") as shelf, shelf.batch():
        ids = [shelf.create_note("n", f"Link {i:03}", f"{i}").id for i in range(250)]
        for i in range(249):
            shelf.add_link(ids[i], ids[i + 1], f"why {i}.")
    lines = nuggets("--dir", str(directory), "graph").lines

    assert all("\n".join(lines).count(f"why {i}.") == 1 for i in range(249))
    assert max(map(len, lines)) < 400


def test_what_is_archived_is_marked_in_the_graph(nuggets: Nuggets) -> None:
    linked_notes(nuggets, "NA-NB", "NB-NC", "NC-ND")
    nuggets("note", "archive", "NB")

    assert nuggets("graph", "NB").lines[0].startswith("NB (archived)  note-maze-")
    assert nuggets("graph", "NA").lines[1:] == ["└─ NB (archived)  (why NA-NB)"]
    assert 'label="NB (archived)", style="rounded,dashed"' in nuggets("graph", "NA", "--dot").out
    assert "NB" not in nuggets("graph").out


def test_notes_of_one_title_are_told_apart_in_the_graph(nuggets: Nuggets) -> None:
    linked_notes(nuggets, "NA-NB")
    twin = nuggets("note", "add", "maze", "NB", "Another text.", "--json").json["id"]
    nuggets("link", "NA", twin, "twin")

    assert nuggets("graph", "NA").lines[2] == f"└─ NB ({twin[-8:]})  (twin)"


def test_two_links_to_one_note_are_one_branch_with_both_reasons(nuggets: Nuggets) -> None:
    nuggets("link", "Auth middleware", "JWT format", "uses")
    nuggets("link", "Auth middleware", "JWT format", "explains")

    assert nuggets("graph", "Auth middleware").lines[1:] == ["└─ JWT format  (uses; explains)"]


def test_without_links_there_is_no_graph(nuggets: Nuggets) -> None:
    assert nuggets("graph").lines == ["No links yet."]


def test_dot_is_quoted_graphviz(nuggets: Nuggets) -> None:
    nuggets("note", "edit", "JWT format", "--title", 'a "quoted"\\ title')
    nuggets("link", "Auth middleware", 'a "quoted"\\ title', 'say "why"')

    first, *body, last = nuggets("graph", "--dot").lines

    assert (first, last) == ("graph nuggets {", "}")
    assert any(r'[label="a \"quoted\"\\ title"];' in line for line in body)
    assert sum(" -- " in line for line in body) == 1


def test_the_graph_as_json_has_nodes_and_links(nuggets: Nuggets) -> None:
    nuggets("link", "Auth middleware", "JWT format", "uses")

    shape = nuggets("graph", "--json").json

    assert len(shape["nodes"]) == 2
    [link] = shape["links"]
    assert link.keys() == {"from", "to", "reason", "createdAt"}
    assert {link["from"], link["to"]} == {node["id"] for node in shape["nodes"]}


def test_a_look_at_the_graph_leaves_no_trace(nuggets: Nuggets) -> None:
    nuggets("link", "Auth middleware", "JWT format", "uses")
    before = nuggets("note", "list", "--json").json
    nuggets("graph", "Auth middleware")

    assert nuggets("note", "list", "--json").json == before


def test_the_same_shape_of_a_note_is_printed_everywhere(nuggets: Nuggets) -> None:
    [listed] = [n for n in nuggets("note", "list", "--json").json if n["title"] == "JWT format"]
    shown = note(nuggets, "JWT format")
    [found, *_] = nuggets("search", "signed", "--json").json

    assert listed.keys() == shown.keys() == found["note"].keys()
    assert json.dumps(listed["tags"]) == json.dumps(shown["tags"])


def test_a_second_note_of_one_title_is_pointed_out(nuggets: Nuggets) -> None:
    first = nuggets("note", "add", "n", "Plan", "one")
    second = nuggets("note", "add", "n", "plan", "two")

    assert len(first.lines) == 1
    assert "Another note has the same title: note-n-" in second.lines[1]


def test_a_note_that_says_just_the_same_is_not_made_again(nuggets: Nuggets) -> None:
    nuggets("note", "add", "n", "Plan", "one")
    again = nuggets("note", "add", "n", "plan", "one")

    assert again.lines[0].startswith("Already stored: Plan (note-n-")
    assert len(nuggets("note", "list", "--nugget", "n", "--json").json) == 1


def test_what_is_said_of_a_note_that_is_there_is_taken_over(nuggets: Nuggets) -> None:
    nuggets("note", "add", "n", "Plan", "one", "--stability", "temporary", "--tag", "mine")
    again = nuggets(
        "note", "add", "n", "plan", "one", "--stability", "durable", "--tag", "learnings"
    )

    assert again.lines[0].startswith("Already stored, with other metadata now: Plan (note-n-")
    assert again.lines[0] != nuggets("note", "add", "n", "plan", "one").lines[0]
    (note,) = nuggets("note", "list", "--nugget", "n", "--json").json
    assert note["stability"] == "durable" and {"mine", "learnings"} < {*note["tags"]}


def test_one_of_another_project_is_not_for_it_is_not_meant_by_the_title(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/webshop/.git")
    nuggets("note", "add", "project", "Deploys", "By hand.")
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/blog/.git")
    here = nuggets("note", "add", "project", "Deploys", "By a robot.")
    everybodys = nuggets("note", "add", "project", "JWT format", "Signed here too.")

    assert len(here.lines) == 1
    assert note(nuggets, "Deploys")["content"] == "By a robot."
    assert "Another note has the same title" in everybodys.lines[1]


def test_an_archived_neighbour_is_marked(nuggets: Nuggets) -> None:
    nuggets("note", "add", "n", "Plan", "one")
    nuggets("note", "add", "n", "Old plan", "two")
    nuggets("link", "Plan", "Old plan", "before")
    nuggets("note", "archive", "Old plan")

    assert "Old plan (archived)  (before)" in nuggets("note", "show", "Plan").out


def test_showing_a_note_says_how_often_it_was_recalled_before(nuggets: Nuggets) -> None:
    nuggets("note", "add", "n", "Title", "text")
    shown = [
        nuggets("note", "show", "Title", "--session", session).out for session in ("a", "a", "b")
    ]

    assert "recalled in 0 sessions before this;" in shown[0]
    assert "recalled in 1 session before this;" in shown[1]
    assert "recalled in 1 session before this;" in shown[2]


def test_a_search_that_finds_nothing_names_what_is_archived(nuggets: Nuggets) -> None:
    nuggets("note", "archive", "JWT format")

    done = nuggets("search", "signed tokens")

    assert done.code == 1
    assert "JWT format is archived; bring it back: nuggets note restore" in done.out


def test_a_note_that_says_next_to_nothing_is_stored_with_a_caution(nuggets: Nuggets) -> None:
    assert "the next reflection archives it" in nuggets("note", "add", "ops", "short", "ok").out
