import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from command_line import Nuggets
from enough_sessions import ENOUGH_SESSIONS
from nuggets import NuggetShelf
from nuggets.domain.limits import SESSION_CHARACTERS
from nuggets.interfaces.rest.operation_definition import REVISION
from web_serving import AppClient, client


@pytest.fixture
def web(shelf: NuggetShelf) -> Iterator[AppClient]:
    with client(shelf) as found:
        yield found


def created(web: AppClient, title: str, content: str = "text", **more: Any) -> dict[str, Any]:
    body = {"nugget": "project", "title": title, "content": content, **more}
    answer = web.post("/api/notes", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_an_empty_shelf_has_empty_answers(web: AppClient) -> None:
    assert web.get("/api/graph").json() == {"revision": 0, "nodes": []}
    assert web.get("/api/status").json()["nuggets"] == []
    assert web.get("/api/search", params={"query": "anything"}).json() == []
    assert web.get("/api/history").json() == []
    assert web.get("/api/activity").json() == {"revision": 0, "steps": [], "recalls": []}


def test_a_note_that_was_created_is_found_by_search_and_in_the_graph(web: AppClient) -> None:
    note = created(web, "Auth middleware", "JWT with RS256", tags=["auth"])

    found = web.get("/api/search", params={"query": "authentication"}).json()
    assert [result["note"]["id"] for result in found] == [note["id"]]
    assert [node["title"] for node in web.get("/api/graph").json()["nodes"]] == ["Auth middleware"]


def test_an_edit_keeps_what_was_not_given(web: AppClient) -> None:
    note = created(web, "Deploy", "by hand", tags=["ci"])

    edited = web.patch(f"/api/notes/{note['id']}", json={"content": "by machine"}).json()

    assert edited["content"] == "by machine"
    assert edited["title"] == "Deploy"
    assert "ci" in edited["tags"]


def test_an_edit_of_what_someone_else_changed_is_a_conflict(web: AppClient) -> None:
    note = created(web, "Deploy", "one")
    at = f"/api/notes/{note['id']}"
    web.patch(at, json={"content": "two"})

    late = web.patch(at, json={"content": "three", "expected": note["updatedAt"]})

    assert code(late) == (409, "conflict")
    assert web.get(at).json()["content"] == "two"


def test_links_are_seen_from_both_ends_and_can_be_taken_away(web: AppClient) -> None:
    a, b = created(web, "A")["id"], created(web, "B")["id"]

    linked = web.post("/api/links", json={"a": a, "b": b, "reason": "why"}).json()
    assert linked["added"] is True
    assert [note["id"] for note in linked["notes"]] == [a, b]
    assert web.get(f"/api/notes/{b}").json()["links"][0]["to"] == a
    gone = web.delete("/api/links", params={"a": a, "b": b, "reason": "why"})
    assert gone.json() == {"removed": True}
    assert web.get(f"/api/notes/{b}").json()["links"] == []


def test_archiving_and_restoring_a_note(web: AppClient) -> None:
    note = created(web, "Old")
    at = f"/api/notes/{note['id']}"

    assert web.delete(at).json()["hidden"] is True
    assert web.get("/api/notes").json() == []
    assert web.post(f"{at}/restore", json={}).json()["hidden"] is False
    assert len(web.get("/api/notes").json()) == 1


def test_merging_archives_the_other_note(web: AppClient) -> None:
    one, other = created(web, "One", "a line")["id"], created(web, "Other", "another")["id"]

    merged = web.post(f"/api/notes/{one}/merge", json={"source": other}).json()

    assert "another" in merged["content"]
    assert web.get(f"/api/notes/{other}").json()["hidden"] is True


def test_a_merge_can_be_seen_before_it_is_done(web: AppClient) -> None:
    one, other = created(web, "One", "a line")["id"], created(web, "Other", "another")["id"]
    at = f"/api/notes/{one}/merge"

    seen = web.get(at, params={"source": other}).json()

    assert web.get(f"/api/notes/{one}").json()["content"] == "a line"
    done = web.post(at, json={"source": other}).json()
    assert (seen["title"], seen["content"], seen["tags"]) == (
        done["title"],
        done["content"],
        done["tags"],
    )
    assert code(web.get(at, params={"source": one})) == (400, "invalid_input")


def test_a_purge_erases_a_note_from_the_history_too(web: AppClient) -> None:
    note = created(web, "Code", "swordfish")["id"]

    told = web.post(f"/api/notes/{note}/purge", json={}).json()["erased"]

    assert "Code" in told[0]
    assert code(web.get(f"/api/notes/{note}")) == (404, "not_found")
    assert "swordfish" not in web.get("/api/history").text


def test_a_purge_names_the_notes_that_it_was_merged_with_apart(web: AppClient) -> None:
    code_note, vault = (
        created(web, "Code", "swordfish")["id"],
        created(web, "Vault", "There.")["id"],
    )
    web.post(f"/api/notes/{vault}/merge", json={"source": code_note})

    told = web.post(f"/api/notes/{code_note}/purge", json={}).json()

    assert "note 'Code' in project" in told["erased"]
    assert not any("Vault" in place for place in told["erased"])
    assert [(note["id"], note["title"]) for note in told["mergedWith"]] == [(vault, "Vault")]


def test_facts_are_remembered_recalled_and_forgotten(web: AppClient) -> None:
    at = "/api/nuggets/project/facts"
    web.post(at, json={"key": "test cmd", "value": "make test"})

    found = web.get("/api/recall", params={"query": "test cmnd"}).json()
    assert (found["answer"], found["match"]) == ("make test", "fuzzy")
    assert [fact["title"] for fact in web.get(at).json()] == ["test cmd"]
    assert web.get("/api/nuggets/project").json()["fact_count"] == 1
    assert web.delete(at, params={"key": "test cmd"}).json() == {
        "forgotten": 1,
        "nugget": "project",
        "key": "test cmd",
    }
    assert web.get("/api/recall", params={"query": "test cmd"}).json()["found"] is False


def test_looking_counts_nothing_and_recalling_in_a_session_counts_once(web: AppClient) -> None:
    fact = web.post("/api/nuggets/p/facts", json={"key": "port", "value": "80"}).json()
    at = f"/api/notes/{fact['id']}"
    before = web.get(at).json()
    for path in ("/api/recall?query=port", "/api/search?query=port", at, "/api/graph"):
        web.get(path)

    assert web.get(at).json() == before
    for _ in range(2):
        web.post("/api/recall", json={"query": "port", "session": "s1"})
    assert web.get(at).json()["hits"] == 1


def test_a_session_may_be_as_long_as_the_shelf_allows(web: AppClient, shelf: NuggetShelf) -> None:
    note = created(web, "Long talk")
    said = {"query": "Long talk", "session": "s" * SESSION_CHARACTERS}

    assert web.post("/api/recall", json=said).status_code == 200
    assert shelf.get_note(note["id"], session=None).last_hit_session == said["session"]
    said["session"] += "s"
    assert code(web.post("/api/recall", json=said)) == (400, "invalid_input")


def test_the_history_can_be_undone_step_by_step(web: AppClient) -> None:
    note = created(web, "Deploy", "one")
    at = f"/api/notes/{note['id']}"
    web.patch(at, json={"content": "two"})

    steps = web.get(f"{at}/history").json()
    assert [step["action"] for step in steps] == ["edit_note", "create_note"]
    assert steps[0]["notes"][0]["before"]["content"] == "one"
    web.post("/api/undo", json={"revision": steps[0]["revision"]})
    assert web.get(at).json()["content"] == "one"
    assert code(web.post("/api/undo", json={"revision": 999})) == (404, "not_found")


def test_a_large_step_shows_its_first_notes_and_how_many_there_were(
    shelf: NuggetShelf, web: AppClient
) -> None:
    with shelf.batch():
        for n in range(30):
            shelf.create_note("project", f"note {n}", "text")

    step = web.get("/api/history").json()[0]

    assert (len(step["notes"]), step["noteCount"]) == (20, 30)


def test_a_clean_up_is_previewed_applied_and_undone(shelf: NuggetShelf, web: AppClient) -> None:
    note = created(web, "tmp scratch", "x")
    revision = shelf.revision

    planned = web.get("/api/reflection").json()
    assert [change["type"] for change in planned["changes"]] == ["hide"]
    assert shelf.revision == revision
    assert web.post("/api/reflection", json={}).json()["hidden"] == 1
    passes = web.get("/api/reflections").json()
    assert passes[0]["notes"][0]["id"] == note["id"]
    web.post("/api/undo", json={"revision": passes[0]["revision"]})
    assert web.get(f"/api/notes/{note['id']}").json()["hidden"] is False


def test_promotion_says_what_is_close_and_writes_only_where_it_is_told(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "MEMORY.md"
    monkeypatch.setenv("NUGGETS_MEMORY_FILE", str(path))
    shelf = NuggetShelf("memory:", project="")
    shelf.remember("project", "port", "80")
    with client(shelf) as web:
        for session in ENOUGH_SESSIONS:
            web.post("/api/recall", json={"query": "port", "session": session})

        planned = web.get("/api/promotion").json()
        assert planned["promoteAfter"] == len(ENOUGH_SESSIONS)
        assert [(n["title"], n["outcome"], n["hits"]) for n in planned["notes"]] == [
            ("port", "new", len(ENOUGH_SESSIONS))
        ]
        assert not path.exists()
        assert code(web.post("/api/promotion", json={"path": "/tmp/x.md"}))[0] == 400
        assert web.post("/api/promotion", json={}).json() == {"promoted": 1}
    assert "**port**: 80" in path.read_text()


def test_without_a_memory_file_the_page_is_told_how_to_name_one(
    web: AppClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUGGETS_MEMORY_FILE", raising=False)

    assert "NUGGETS_MEMORY_FILE" in web.get("/api/promotion").json()["problem"]


def test_activity_tells_writes_by_client_and_recalls_by_session(
    shelf: NuggetShelf, web: AppClient
) -> None:
    shelf.remember("project", "port", "80")
    shelf.recall("port", session="s1")
    shelf.remember("project", "host", "here")

    told = web.get("/api/activity").json()

    assert [step["client"] for step in told["steps"]] == ["python", "python"]


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "/api/search", None, (400, "invalid_input")),
        ("GET", "/api/search?query=", None, (400, "invalid_input")),
        ("GET", "/api/search?query=a&limit=0", None, (400, "invalid_input")),
        ("GET", "/api/search?query=a&limit=many", None, (400, "invalid_input")),
        ("GET", "/api/search?query=a&query=b", None, (400, "invalid_input")),
        ("GET", "/api/search?query=a&unknown=1", None, (400, "invalid_input")),
        ("GET", "/api/notes?include_hidden=maybe", None, (400, "invalid_input")),
        ("GET", "/api/notes/nothing-here", None, (404, "not_found")),
        ("GET", "/api/nuggets/none", None, (404, "not_found")),
        ("GET", "/api/nowhere", None, (404, "not_found")),
        ("PUT", "/api/notes", {}, (405, "not_allowed")),
        ("POST", "/api/notes", {}, (400, "invalid_input")),
        ("POST", "/api/notes", [], (400, "invalid_input")),
        ("POST", "/api/undo", {"revision": True}, (400, "invalid_input")),
        ("POST", "/api/undo", {}, (404, "not_found")),
        ("POST", "/api/links", {"a": "x", "b": "y", "because": "z"}, (400, "invalid_input")),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(
    web: AppClient, method: str, path: str, body: Any, expected: tuple[int, str]
) -> None:
    assert code(web.request(method, path, json=body)) == expected


@pytest.mark.parametrize(
    "body", ["", "{", '{"a": NaN}', '{"title": "a", "title": "b"}', "[" * 99999]
)
def test_a_body_that_is_no_json_is_refused(web: AppClient, body: str) -> None:
    headers = {"Content-Type": "application/json"}

    assert code(web.post("/api/notes", content=body, headers=headers)) == (400, "invalid_input")


def test_half_a_character_is_refused(web: AppClient) -> None:
    body = '{"nugget": "p", "title": "\\ud800", "content": "x"}'

    answer = web.post("/api/notes", content=body, headers={"Content-Type": "application/json"})

    assert code(answer) == (400, "invalid_input")


def test_the_page_and_its_files_are_served(web: AppClient) -> None:
    assert "<title>Nuggets</title>" in web.get("/").text
    for name in ("app.js", "layout.js", "style.css", "icon.svg"):
        assert web.get(f"/{name}").status_code == 200
    assert web.get("/../serve.py").status_code == 404
    assert web.get("/%2e%2e/serve.py").status_code == 404
    assert code(web.get("/nothing.js")) == (404, "not_found")


def test_a_purged_note_is_in_no_answer_about_the_past(web: AppClient, shelf: NuggetShelf) -> None:
    note = created(web, "Code", "swordfish")
    shelf.delete_note(note["id"], hard=True)
    shelf.purge(note["id"])
    steps = web.get("/api/history").json()

    assert [step["action"] for step in steps][-1] == "create_note"
    assert all(one["before"] or one["after"] for step in steps for one in step["notes"])
    assert "swordfish" not in web.get("/api/history").text


def test_a_write_names_the_step_it_made_and_nothing_else_does(
    web: AppClient, shelf: NuggetShelf
) -> None:
    made = web.post("/api/notes", json={"nugget": "p", "title": "One", "content": "text"})
    note = made.json()
    at = f"/api/notes/{note['id']}"
    assert made.headers[REVISION] == str(shelf.revision)

    shelf.remember("p", "port", "80")  # by another door
    assert REVISION not in web.patch(at, json={"content": "text"}).headers
    assert (
        REVISION
        not in web.post("/api/nuggets/p/facts", json={"key": "port", "value": "80"}).headers
    )
    assert REVISION not in web.post("/api/recall", json={"query": "port", "session": "s"}).headers
    assert REVISION not in web.get(at).headers
    edited = web.patch(at, json={"content": "other"})
    assert edited.headers[REVISION] == str(shelf.revision)
    undone = web.post("/api/undo", json={"revision": int(edited.headers[REVISION])})
    assert undone.headers[REVISION] == str(shelf.revision)
    assert web.get(at).json()["content"] == "text"


def test_each_of_many_writers_is_told_its_own_step(web: AppClient, shelf: NuggetShelf) -> None:
    def write(number: int) -> tuple[int, str]:
        shelf.remember("p", f"key {number}", "by another door")
        body = {"nugget": "p", "title": f"Note {number}", "content": "text"}
        answer = web.post("/api/notes", json=body)
        return int(answer.headers[REVISION]), answer.json()["id"]

    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(write, range(24)))

    steps = {step.revision: step for step in shelf.commits()}
    assert [steps[revision].changes.put[0].id for revision, _ in told] == [note for _, note in told]


def settled(answer: Any) -> Any:
    """Without what is another in each shelf: the random part of ids, who asked, and times."""
    text = re.sub(r"note-project-[0-9a-f]{8}", "note-id", json.dumps(answer))
    text = re.sub(r'"client": "\w+"', '"client": "someone"', text)
    return json.loads(re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "some time", text))


def test_what_was_undone_and_deleted_is_told_as_the_command_tells_it(
    web: AppClient, nuggets: Nuggets
) -> None:
    nuggets("note", "add", "project", "T", "C")
    note = created(web, "T", "C")
    for command, answer in (
        (("history",), web.get("/api/history")),
        (("note", "archive", "T"), web.delete(f"/api/notes/{note['id']}")),
        (("undo",), web.post("/api/undo", json={})),
        (
            ("note", "delete", "T", "--hard"),
            web.delete(f"/api/notes/{note['id']}", params={"hard": "true"}),
        ),
    ):
        assert settled(answer.json()) == settled(nuggets(*command, "--json").json)


def test_activity_and_history_are_told_from_a_revision_on(web: AppClient) -> None:
    created(web, "First", "text")
    created(web, "Second", "text")

    activity = web.get("/api/activity", params={"since": 1}).json()
    history = web.get("/api/history", params={"since": 1}).json()

    assert activity["revision"] == 2
    assert [step["revision"] for step in activity["steps"]] == [2]
    assert [step["revision"] for step in history] == [2]
    assert web.get("/api/activity", params={"since": 2}).json()["steps"] == []


def test_what_the_undo_of_a_clean_up_left_is_told(shelf: NuggetShelf, web: AppClient) -> None:
    for title in ("Port", "Mail"):
        shelf.create_note("n", title, "Sends in batches.\nSends in batches.")
    shelf.reflect()
    revision = shelf.revision
    port = shelf.edit_note("Port", "Port 9090 today.")

    assert web.get("/api/undoable", params={"revisions": f"{revision}"}).json()["revisions"]
    answer = web.post("/api/undo", json={"revision": revision}).json()
    assert answer["left"] == [
        {
            "noteId": port.id,
            "title": "Port",
            "reason": "changed since",
            "revision": shelf.revision - 1,
        }
    ]
    assert [note["before"]["title"] for note in answer["undone"]["notes"]] == ["Mail"]


def test_which_steps_can_be_undone_is_told(web: AppClient) -> None:
    note = created(web, "Port", "80")
    web.patch(f"/api/notes/{note['id']}", json={"content": "8080"})

    answer = web.get("/api/undoable", params={"revisions": "1,2,99"})
    assert answer.json() == {"revisions": [2]}
    web.post("/api/undo", json={"revision": 2})
    answer = web.get("/api/undoable", params={"revisions": "1,2,3"})
    assert answer.json() == {"revisions": [1, 3]}
    for wrong in ("", "1,,2", "one", "9" * 30):
        assert web.get("/api/undoable", params={"revisions": wrong}).status_code == 400


def test_an_explanation_is_that_of_the_search(web: AppClient) -> None:
    note = created(web, "Auth middleware", "Uses JWT tokens.")
    [found] = web.get("/api/search", params={"query": "jwt"}).json()

    told = web.get(f"/api/notes/{note['id']}/explanation", params={"query": "jwt"}).json()

    assert told["words"]
    assert told["relevance"] == pytest.approx(found["relevance"])


def test_a_note_is_given_to_a_project_and_taken_out_again(web: AppClient) -> None:
    given = {"nugget": "p", "title": "t", "content": "c", "project": "/code/shop"}
    note = web.post("/api/notes", json=given).json()
    assert note["project"] == "/code/shop"
    assert web.get("/api/graph").json()["nodes"][0]["project"] == "/code/shop"

    assert web.patch(f"/api/notes/{note['id']}", json={"project": ""}).json()["project"] == ""
