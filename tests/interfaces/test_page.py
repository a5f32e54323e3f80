"""The page in a real browser, on a real socket, with a real shelf behind it."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    Route,
    expect,
    sync_playwright,
)

from nuggets import NuggetShelf
from system_programs import program
from web_serving import run, served, served_here

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
HOSTILE = (
    "<script>window.hacked = 1</script>",
    '<img src=x onerror="window.hacked = 1">',
    "[click](javascript:window.hacked=1)",
    "[data](data:text/html,<script>window.hacked=1</script>)",
    "![picture](https://evil.example/pixel.png)",
    "<a href='javascript:window.hacked=1'>go</a> <iframe srcdoc='<script>'></iframe>",
    "\u202egnp.exe \u2066isolated\u2069",
    "**" * 400 + "`" * 399,
)


def chromium() -> str:
    """The system's own."""
    found = program("chromium", "chromium")
    if found is None:
        pytest.skip("there is no Chromium here and it cannot be installed: apt install chromium")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


class Visit(NamedTuple):
    """Someone looks at a shelf."""

    page: Page
    shelf: NuggetShelf
    url: str
    complaints: list[str]  # of the browser

    def see(self, view: str = "graph", note: str = "") -> None:
        self.page.goto(f"{self.url}#/{view}/{note}".rstrip("/"))
        expect(self.page.locator(".live .sr-only")).to_have_text("live")

    def see_all(self, view: str = "graph", note: str = "") -> None:
        """Whatever the view asks the server for is there as well."""
        self.see(view, note)
        expect(self.page.locator("canvas")).to_have_attribute("data-notes", re.compile("[1-9]"))
        expect(self.page.get_by_text("Looking…")).to_have_count(0)

    def forgive(self, *told: str) -> None:
        """A test that breaks something hears of that in the console, and of nothing else."""
        assert [one for one in self.complaints if not any(part in one for part in told)] == []
        self.complaints.clear()


@pytest.fixture
def visit(browser: Browser, tmp_path: Path) -> Iterator[Visit]:
    """A new visitor; no error in the console, no request to any other host is forgiven."""
    with NuggetShelf(str(tmp_path / "shelf"), project="", client="page") as shelf:
        with served_here(shelf) as url:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(10_000)
            complaints: list[str] = []
            page.on("console", lambda said: complaints.extend(_complaint(said)))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: complaints.append(dialog.message))
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            yield Visit(page, shelf, url, complaints)
            page.close()
        assert complaints == []
        assert [address for address in asked if not address.startswith((url, "blob:"))] == []


def _complaint(said: ConsoleMessage) -> list[str]:
    """Errors and warnings; a refused save is told there too, and handled by the page."""
    if said.type not in ("error", "warning") or "status of 409" in said.text:
        return []
    return [said.text]


def filled(shelf: NuggetShelf) -> list[str]:
    auth = shelf.create_note(
        "project", "Auth middleware", "Uses **JWT** in `src/auth.py`.\n\n- one\n- two", ["auth"]
    )
    jwt = shelf.create_note("project", "JWT token format", "RS256 signing.", ["auth", "jwt"])
    deploy = shelf.create_note("ops", "Deploy pipeline", "Runs on every tag.", ["ci"])
    shelf.add_link(auth.id, jwt.id, "uses JWT tokens")
    shelf.remember("project", "test cmd", "make test")
    return [auth.id, jwt.id, deploy.id]


def undo(page: Page, said: str) -> Locator:
    """The way back that a message offers."""
    return page.locator(".toast").filter(has_text=said).get_by_role("button", name="Undo")


def test_the_first_visit_helps_to_write_the_first_note(visit: Visit) -> None:
    visit.see()
    page = visit.page

    expect(page.get_by_text("Nothing remembered yet")).to_be_visible()
    expect(page.get_by_text("nuggets remember project")).to_be_visible()
    page.get_by_role("button", name="Write the first note").click()
    page.get_by_label("Title").fill("First thought")
    page.get_by_label("Content").fill("It *works*.")
    page.get_by_label("Tags").fill("one, two")
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("heading", name="First thought")).to_be_visible()
    expect(page.locator(".markdown em")).to_have_text("works")
    expect(page.locator(".tags li")).to_have_text(["one", "two"])
    expect(page.locator("canvas")).to_have_attribute("data-notes", "1")
    assert [note.title for note in visit.shelf.list_notes()] == ["First thought"]


def test_a_note_is_edited_and_the_edit_undone(visit: Visit) -> None:
    auth, *_ = filled(visit.shelf)
    visit.see(note=auth)
    page = visit.page

    expect(page.get_by_role("heading", name="Auth middleware")).to_be_visible()
    page.keyboard.press("e")
    page.get_by_label("Content").fill("Now with OAuth.")
    page.get_by_label("Tags").fill("auth, new tag")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".markdown")).to_have_text("Now with OAuth.")
    expect(page.locator(".tags li")).to_have_text(["auth", "new-tag"])
    step = page.locator(".steps > li").filter(has_text="Edited")
    step.get_by_role("button", name="Undo").click()
    expect(page.locator(".markdown strong")).to_have_text("JWT")
    assert "JWT" in visit.shelf.get_note(auth).content


def test_what_someone_else_changed_meanwhile_is_not_overwritten_unasked(visit: Visit) -> None:
    auth, *_ = filled(visit.shelf)
    visit.see(note=auth)
    page = visit.page

    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Content").fill("Mine.")
    visit.shelf.edit_note(auth, content="Theirs.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".conflict")).to_contain_text("Theirs.")
    assert visit.shelf.get_note(auth).content == "Theirs."
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.locator(".markdown")).to_have_text("Mine.")


def test_notes_are_linked_and_the_link_is_seen_from_both(visit: Visit) -> None:
    auth, _, deploy = filled(visit.shelf)
    visit.see(note=deploy)
    page = visit.page

    page.get_by_role("button", name="Link to").click()
    page.get_by_label("Title of the other note").fill("auth mid")
    page.locator(".choices li").click()
    page.get_by_label("Reason").fill("checks tokens first")
    page.get_by_role("button", name="Link", exact=True).click()
    expect(page.locator(".links")).to_contain_text("checks tokens first")
    page.locator(".links .note-link").click()
    expect(page.get_by_role("heading", name="Auth middleware")).to_be_visible()
    expect(page.locator(".links")).to_contain_text("Deploy pipeline")
    page.get_by_role("button", name="Take the link to Deploy pipeline away").click()
    expect(page.locator(".links")).not_to_contain_text("Deploy pipeline")
    assert len(visit.shelf.get_note(auth).links) == 1


def test_two_notes_are_merged_by_keys_after_a_look_at_the_result(visit: Visit) -> None:
    auth, jwt, _ = filled(visit.shelf)
    visit.see(note=auth)
    page = visit.page
    expect(page.get_by_role("heading", name="Auth middleware")).to_be_visible()

    page.keyboard.press("m")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("jwt")
    page.keyboard.press("Enter")
    preview = page.get_by_label("Preview")
    expect(preview).to_contain_text("RS256 signing.")
    expect(preview).to_contain_text("Uses JWT")
    assert not visit.shelf.get_note(jwt).hidden
    page.get_by_role("radio", name="JWT token format").check()
    expect(page.locator(".preview-title")).to_have_text("JWT token format")
    page.get_by_role("radio", name="Auth middleware").check()
    expect(page.locator(".preview-title")).to_have_text("Auth middleware")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".note:not(.editor) .markdown")).to_contain_text("RS256 signing.")
    assert visit.shelf.get_note(jwt).hidden
    undo(page, "Merged.").click()
    expect(page.locator(".note .markdown")).not_to_contain_text("RS256 signing.")
    assert not visit.shelf.get_note(jwt).hidden


def test_a_note_is_deleted_after_a_question_and_brought_back(visit: Visit) -> None:
    auth, *_ = filled(visit.shelf)
    visit.see(note=auth)
    page = visit.page
    page.get_by_role("button", name="More").focus()

    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    question = page.get_by_role("dialog", name="Delete “Auth middleware”?")
    expect(question).to_contain_text("1 link")
    expect(question).to_contain_text("You can undo this")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    expect(page.get_by_role("button", name="More")).to_be_focused()
    assert visit.shelf.get_note(auth)
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    question.get_by_role("button", name="Delete").click()
    expect(page.locator(".panel")).to_have_count(0)
    expect(page.locator("canvas")).to_have_attribute("data-notes", "3")
    undo(page, "Deleted.").click()
    expect(page.locator("canvas")).to_have_attribute("data-notes", "4")
    assert len(visit.shelf.get_note(auth).links) == 1


def test_a_note_that_someone_else_deletes_while_it_is_read_is_said_to_be_gone(visit: Visit) -> None:
    auth, *_ = filled(visit.shelf)
    visit.see_all(note=auth)
    panel = visit.page.locator(".panel")
    expect(panel.locator(".steps")).to_contain_text("linked by page")

    visit.shelf.delete_note(auth, hard=True)
    expect(panel).to_contain_text("This note is gone.")

    visit.shelf.undo()
    expect(panel.locator("h1")).to_have_text("Auth middleware")
    expect(panel).not_to_contain_text("This note is gone.")


def test_an_erased_note_is_in_no_history(visit: Visit) -> None:
    *_, deploy = filled(visit.shelf)
    visit.see(note=deploy)
    page = visit.page

    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Erase for good").click()
    question = page.get_by_role("dialog", name="Erase “Deploy pipeline” for good?")
    expect(question).to_contain_text("This cannot be undone.")
    question.get_by_role("button", name="Erase").click()
    expect(page.locator(".toast")).to_contain_text("Erased.")
    expect(page.locator(".toast").get_by_role("button", name="Undo")).to_have_count(0)
    expect(page.locator("canvas")).to_have_attribute("data-notes", "3")
    page.keyboard.press("5")
    expect(page.locator(".steps")).to_contain_text("JWT token format")
    expect(page.locator(".steps")).not_to_contain_text("Deploy pipeline")
    assert "Deploy pipeline" not in str(visit.shelf.history(limit=99))


def test_a_nugget_is_cleared_or_removed_by_its_name_and_both_can_be_undone(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see("facts")
    page = visit.page

    page.get_by_role("button", name="More for project").click()
    page.get_by_role("menuitem", name="Forget all facts").click()
    question = page.get_by_role("dialog", name="Forget all facts of “project”?")
    expect(question).to_contain_text("1 fact will be forgotten. Its notes stay.")
    question.get_by_role("button", name="Forget all").click()
    expect(page.get_by_role("tab", name=re.compile("project"))).to_contain_text("0 facts · 2 notes")
    undo(page, "Forgotten.").click()
    expect(page.get_by_role("tab", name=re.compile("project"))).to_contain_text("1 fact · 2 notes")
    page.get_by_role("button", name="More for project").click()
    page.get_by_role("menuitem", name="Remove nugget").click()
    question = page.get_by_role("dialog", name="Remove “project”?")
    expect(question).to_contain_text("1 fact, 2 notes")
    question.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("tab")).to_have_count(1)
    assert not visit.shelf.has("project")
    undo(page, "Removed.").click()
    expect(page.get_by_role("tab")).to_have_count(2)
    assert len(visit.shelf.list_notes(nugget="project")) == 3


def test_undo_takes_back_what_was_done_here_not_what_others_wrote_since(
    visit: Visit, tmp_path: Path
) -> None:
    auth, *_ = filled(visit.shelf)
    visit.see(note=auth)
    page = visit.page

    page.get_by_role("button", name="Archive").click()
    expect(undo(page, "Archived.")).to_be_visible()
    run(str(tmp_path / "shelf"), "note", "add", "project", "From the terminal", "stays")
    undo(page, "Archived.").click()
    expect(page.locator(".crumbs")).not_to_contain_text("archived")

    assert not visit.shelf.get_note(auth).hidden
    assert visit.shelf.get_note("From the terminal").content == "stays"


def test_search_finds_as_you_type_explains_and_lights_up_the_graph(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see()
    page = visit.page

    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search your memory")).to_be_focused()
    page.keyboard.type("authentication")
    expect(page.locator(".entries .entry-title").first).to_have_text("Auth middleware")
    expect(page.locator("canvas")).not_to_have_attribute("data-lit", "0")
    page.locator(".why").first.click()
    expect(page.locator(".why-box").first).to_contain_text("relevance")
    page.get_by_label("Search your memory").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Auth middleware")).to_be_visible()
    page.get_by_label("Search your memory").fill("xylophone quartz")
    expect(page.get_by_text("Nothing is close enough.")).to_be_visible()


def test_a_note_of_the_graph_opens_when_it_is_clicked(visit: Visit) -> None:
    visit.shelf.create_note("project", "Alone in the middle", "text")
    visit.see()
    page = visit.page
    page.locator("html[data-graph=settled]").wait_for()

    box = page.locator("canvas").bounding_box()
    assert box is not None
    above = 30  # the middle: the legend below has its room
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 - above)
    expect(page.locator(".tip")).to_contain_text("Alone in the middle")
    page.mouse.down()
    page.mouse.up()
    expect(page.get_by_role("heading", name="Alone in the middle")).to_be_visible()


def test_what_a_command_writes_appears_by_itself(visit: Visit, tmp_path: Path) -> None:
    filled(visit.shelf)
    visit.see()
    page = visit.page
    expect(page.locator("canvas")).to_have_attribute("data-notes", "4")

    run(str(tmp_path / "shelf"), "note", "add", "project", "From the terminal", "live")

    expect(page.locator("canvas")).to_have_attribute("data-notes", "5")
    expect(page.locator(".entries .entry-title").first).to_have_text("From the terminal")
    expect(page.locator(".toast")).to_contain_text("From the terminal")


def test_what_a_command_recalls_is_seen_in_the_graph(visit: Visit, tmp_path: Path) -> None:
    alone = visit.shelf.create_note("project", "Alone in the middle", "text")
    visit.see()
    page = visit.page
    page.locator("html[data-graph=settled]").wait_for()

    run(str(tmp_path / "shelf"), "note", "show", alone.id, "--session", "s1")

    page.wait_for_function(
        """() => {
          const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
          const middle = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 - 30 };
          const told = document.querySelector(".tip")?.innerText ?? "";
          canvas.dispatchEvent(new PointerEvent("pointerleave"));
          canvas.dispatchEvent(new PointerEvent("pointermove", middle));
          return told.includes("recalled 1×");
        }"""
    )
    expect(page.locator(".toast")).to_have_count(0)


def test_facts_are_asked_remembered_and_forgotten(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see("facts")
    page = visit.page

    page.get_by_label("Recall").fill("test cmnd")
    expect(page.locator(".answer")).to_contain_text("make test")
    expect(page.locator(".answer .chip")).to_have_text("fuzzy")
    expect(page.locator(".measure")).to_contain_text(["key fits", "confidence", "margin"])
    page.get_by_label("Key", exact=True).fill("port")
    page.get_by_label("Value", exact=True).fill("8080")
    page.get_by_role("button", name="Remember").click()
    expect(page.locator("table.facts")).to_contain_text("8080")
    expect(page.get_by_role("tab", name=re.compile("project"))).to_contain_text("2 facts")
    page.get_by_role("button", name="Forget port").click()
    expect(page.locator("table.facts")).not_to_contain_text("8080")
    undo(page, "Forgotten.").click()
    expect(page.locator("table.facts")).to_contain_text("8080")


def test_a_clean_up_is_seen_before_it_is_done_and_can_be_undone(visit: Visit) -> None:
    filled(visit.shelf)
    scratch = visit.shelf.create_note("project", "tmp scratch", "x")
    visit.see("reflection")
    page = visit.page

    expect(page.locator(".plan")).to_contain_text("tmp scratch")
    page.get_by_role("button", name="Apply now").click()
    passed = page.locator(".steps > li").first
    expect(passed).to_contain_text("tmp scratch")
    assert visit.shelf.get_note(scratch.id).hidden
    passed.get_by_role("button", name="Undo").click()
    expect(passed).to_contain_text("undone")
    assert not visit.shelf.get_note(scratch.id).hidden


def test_promotion_and_activity_are_shown(visit: Visit) -> None:
    filled(visit.shelf)
    for session in ("a", "b"):
        visit.shelf.recall("test cmd", session=session)
    visit.see("memory")
    expect(visit.page.locator(".promotions")).to_contain_text("test cmd")
    expect(visit.page.locator(".dots i.on")).to_have_count(2)

    visit.shelf.create_note("project", "Later", "so that the recalls are taken in")
    visit.see("activity")
    expect(visit.page.locator(".plot rect.recalled")).to_have_count(1)
    expect(visit.page.locator(".plot rect:not(.recalled)").first).to_be_visible()
    expect(visit.page.locator(".card")).to_contain_text(
        ["written by page", "Recalls by session", "Steps"]
    )
    expect(visit.page.locator(".sheet .chips")).to_contain_text("2 recalls of 1 note in 2 sessions")
    expect(visit.page.locator(".sessions li")).to_have_count(2)
    expect(visit.page.locator(".sessions li").first).to_contain_text("test cmd")
    expect(visit.page.locator(".steps")).to_contain_text("Deploy pipeline")


def test_hostile_content_stays_text(visit: Visit) -> None:
    notes = [visit.shelf.create_note("project", text[:200], text, [text[:40]]) for text in HOSTILE]
    for other in notes[1:]:
        visit.shelf.add_link(notes[0].id, other.id, HOSTILE[0])
    page = visit.page
    for note, text in zip(notes, HOSTILE, strict=True):
        visit.see(note=note.id)
        expect(page.locator(".note h1")).to_have_text(text[:200].strip())
        expect(page.locator(".links")).to_contain_text("<script>")
        assert page.locator(".note :is(script, img, iframe, object, style)").count() == 0
        links = page.locator(".note a").evaluate_all("all => all.map(a => a.href)")
        assert [to for to in links if not to.startswith("https://evil.example/")] == []
    visit.see("activity")
    expect(page.locator(".steps")).to_contain_text("<script>")

    assert page.evaluate("window.hacked") is None


def test_what_a_hand_wrote_into_the_file_leaves_the_page_in_shape(
    visit: Visit, tmp_path: Path
) -> None:
    """The shelf limits titles; whoever edits graph.json does not."""
    auth, jwt, _ = filled(visit.shelf)
    visit.see(note=auth)
    page = visit.page
    expect(page.locator(".note h1")).to_have_text("Auth middleware")
    evil = HOSTILE[1]
    long = evil + "W" * 100_000
    run(str(tmp_path / "shelf"), "remember", "project", "port", "80")  # and paints the files
    _edit_by_hand(tmp_path / "shelf", auth, title=long, tags=[evil * 900], subject=evil * 900)

    expect(page.locator(".note h1")).to_have_text(long)
    for size in ({"width": 1280, "height": 800}, {"width": 390, "height": 844}):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        for view in ("graph", "facts", "reflection", "memory", "activity"):
            visit.see_all(view)
            expect(page.locator("main h1").first).to_be_attached()
            assert _overflow(page) == 0, (view, size)
    visit.see(note=jwt)
    expect(page.locator(".links")).to_contain_text("<img src=x")
    assert page.locator(".note :is(script, img, iframe)").count() == 0
    visit.see(note=auth)
    expect(page.locator(".note h1")).to_have_text(long)
    page.keyboard.press("e")
    page.get_by_label("Title").fill("Auth again")
    page.get_by_label("Tags").fill("auth")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".note h1")).to_have_text("Auth again")
    assert page.evaluate("window.hacked") is None


def _edit_by_hand(shelf: Path, note_id: str, **changes: Any) -> None:
    path = shelf / "graph" / "graph.json"
    graph = json.loads(path.read_text())
    next(note for note in graph["notes"] if note["id"] == note_id).update(changes)
    path.write_text(json.dumps(graph))


def _overflow(page: Page) -> int:
    """By how much the page, or the sheet on it, is wider than its place."""
    wide: int = page.evaluate(
        """Math.max(...[document.scrollingElement, ...document.querySelectorAll(".sheet")]
        .map(one => one.scrollWidth - one.clientWidth))"""
    )
    return wide


def test_everything_can_be_reached_by_keys(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see()
    page = visit.page

    for key, name in zip("2345", ("Facts", "Reflection", "MEMORY.md", "Activity"), strict=True):
        page.keyboard.press(key)
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("n")
    expect(page.get_by_label("Title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".panel")).to_have_count(0)
    page.locator("canvas").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("+")
    page.keyboard.press("0")
    page.locator(".entry").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".panel")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".panel")).to_have_count(0)
    page.go_back()
    expect(page.locator(".panel")).to_be_visible()


def test_every_view_fits_a_phone(visit: Visit) -> None:
    auth, *_ = filled(visit.shelf)
    visit.shelf.create_note("project", "W" * 300, "m" * 3000)
    page = visit.page
    page.set_viewport_size({"width": 360, "height": 700})
    for view in ("graph", "facts", "reflection", "memory", "activity"):
        visit.see_all(view)
        expect(page.get_by_role("button", name="MEMORY.md")).to_be_in_viewport()
        assert _overflow(page) == 0, view
    visit.see(note=auth)
    expect(page.locator(".panel h1")).to_be_visible()
    panel = page.locator(".panel").bounding_box()
    assert panel is not None
    assert panel["width"] == 360


def test_the_first_visit_fits_a_phone(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 360, "height": 700})
    visit.see()
    expect(visit.page.get_by_text("Nothing remembered yet")).to_be_visible()
    for element in visit.page.locator(".empty > *").all():
        box = element.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360


def test_light_and_dark_follow_the_system_or_the_visitor(visit: Visit) -> None:
    filled(visit.shelf)
    page = visit.page
    ground = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="dark")
    visit.see()
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Colours: auto").click()
    light = page.evaluate(ground)
    page.get_by_role("button", name="Colours: light").click()

    assert dark != light
    assert page.evaluate(ground) == dark
    page.reload()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()


def test_every_control_has_a_name_and_every_view_a_heading(visit: Visit) -> None:
    auth, *_ = filled(visit.shelf)
    page = visit.page
    nameless = """all => all.filter(one => one.checkVisibility() && !(one.ariaLabel
        || one.labels?.length || one.innerText?.trim())).map(one => one.outerHTML)"""
    for view in ("graph", "facts", "reflection", "memory", "activity"):
        visit.see(view, auth)
        expect(page.locator("main h1").first).to_be_attached()
        expect(page.locator(".note h1")).to_be_visible()
        controls = page.locator("button, input, select, textarea, canvas, a[href]")

        assert controls.evaluate_all(nameless) == [], view


def test_a_visitor_who_wants_no_motion_sees_none(visit: Visit) -> None:
    filled(visit.shelf)
    page = visit.page
    page.emulate_media(reduced_motion="reduce")
    visit.see()
    page.locator("html[data-graph=settled]").wait_for()
    page.locator(".entry").first.click()
    expect(page.locator(".note h1")).to_be_visible()

    assert page.evaluate("document.getAnimations().length") == 0


# --- what could be lost, and what comes in an unlucky order -----------------------------------


class Held:
    """Requests that get no answer until the test lets them go."""

    def __init__(self, page: Page, pattern: str) -> None:
        self.asked: list[Route] = []
        self._holds = True
        page.route(pattern, self.hold)

    def hold(self, route: Route) -> None:
        self.asked.append(route)
        if not self._holds:
            route.continue_()

    def let_go(self) -> None:
        self._holds = False
        for route in list(self.asked):
            route.continue_()


def test_undo_is_offered_only_where_something_changed(visit: Visit) -> None:
    auth, _, deploy = filled(visit.shelf)
    visit.see(note=deploy)
    page = visit.page
    page.get_by_role("button", name="Archive").click()
    expect(undo(page, "Archived.")).to_be_visible()
    page.get_by_role("button", name="Dismiss").click()

    visit.see(note=auth)
    page.get_by_role("button", name="Edit").click()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    visit.see("facts")
    page.get_by_label("Key", exact=True).fill("test cmd")
    page.get_by_label("Value", exact=True).fill("make test")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Remembered.")).to_be_visible()

    expect(page.locator(".toast").get_by_role("button", name="Undo")).to_have_count(0)
    assert visit.shelf.get_note(deploy).hidden


def test_an_edit_keeps_tags_with_a_colon_and_sends_no_empty_number(visit: Visit) -> None:
    note = visit.shelf.create_note("project", "Tagged", "text", ["area:auth", "plain"])
    visit.see(note=note.id)
    page = visit.page
    expect(page.locator(".tags li")).to_have_text(["area:auth", "plain"])

    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Confidence").fill("")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Confidence")).to_be_focused()
    page.get_by_label("Confidence").fill("0.5")
    page.get_by_label("Tags").fill("area:auth, plain, more")
    page.keyboard.press("Control+Enter")

    expect(page.locator(".tags li")).to_have_text(["area:auth", "plain", "more"])
    assert visit.shelf.get_note(note.id).confidence == 0.5


def test_what_was_typed_waits_until_it_is_saved_or_dropped(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see_all()
    page = visit.page
    title = page.get_by_label("Title")

    page.keyboard.press("n")
    title.fill("Half a thought")
    page.locator(".crumbs").click()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(title).to_have_value("Half a thought")
    page.locator("canvas").click(position={"x": 5, "y": 5})
    expect(page.locator(".panel")).to_have_count(0)
    expect(page.locator(".toast")).to_contain_text("not saved yet")
    page.go_back()
    expect(title).to_have_value("Half a thought")
    expect(page.locator(".hint")).to_contain_text("not saved yet")
    page.get_by_role("button", name="Cancel").click()
    page.keyboard.press("n")
    expect(title).to_have_value("")


def test_a_kept_edit_overwrites_nobody_either(visit: Visit) -> None:
    auth, *_ = filled(visit.shelf)
    visit.see_all(note=auth)
    page = visit.page
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Content").fill("Mine.")
    page.locator(".entry", has_text="Deploy pipeline").click()
    expect(page.get_by_role("heading", name="Deploy pipeline")).to_be_visible()
    visit.shelf.edit_note(auth, content="Theirs.")

    page.go_back()
    expect(page.locator(".markdown")).to_have_text("Theirs.")
    page.keyboard.press("e")
    expect(page.get_by_label("Content")).to_have_value("Mine.")
    expect(page.get_by_text("changed elsewhere")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".conflict")).to_contain_text("Theirs.")
    page.get_by_role("button", name="Take theirs").click()
    expect(page.locator(".markdown")).to_have_text("Theirs.")
    page.keyboard.press("e")
    expect(page.get_by_label("Content")).to_have_value("Theirs.")


def test_the_nugget_and_the_draft_stay_when_another_nugget_grows(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see_all("facts")
    page = visit.page
    key, value = page.get_by_label("Key", exact=True), page.get_by_label("Value", exact=True)
    key.fill("port")

    for number in range(3):
        visit.shelf.remember("ops", f"key {number}", "value")
    expect(page.get_by_role("tab", name=re.compile("ops"))).to_contain_text("3 facts")
    expect(page.get_by_role("tab", selected=True)).to_contain_text("project")
    expect(key).to_have_value("port")
    held = Held(page, "**/facts")
    value.fill("8080")
    with page.expect_request("**/facts"):
        page.keyboard.press("Enter")
    key.fill("next one")
    held.let_go()
    expect(value).to_have_value("")
    expect(key).to_have_value("next one")
    expect(page.locator("table.facts")).to_contain_text("8080")


def test_a_note_is_saved_once_however_often_the_keys_are_pressed(visit: Visit) -> None:
    visit.see()
    page = visit.page
    held = Held(page, "**/api/notes")
    page.keyboard.press("n")
    page.get_by_label("Title").fill("Once")

    with page.expect_request("**/api/notes"):
        page.keyboard.press("Control+Enter")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Control+Enter")
    held.let_go()
    expect(page.get_by_role("heading", name="Once")).to_be_visible()

    assert [note.title for note in visit.shelf.list_notes()] == ["Once"]
    assert len(held.asked) == 1


def test_a_change_that_is_told_while_the_page_loads_is_seen(visit: Visit) -> None:
    filled(visit.shelf)
    page = visit.page
    first = Held(page, "**/api/graph")
    with page.expect_request("**/api/graph"):
        visit.see()
    before = first.asked[0].fetch()
    with page.expect_request_finished(lambda request: request.url.endswith("/api/status")):
        visit.shelf.create_note("project", "Came meanwhile", "text")  # told, it asks for the status
    page.evaluate("fetch('/api/health')")  # by then it has the answer
    first.asked.pop(0).fulfill(response=before)
    first.let_go()

    expect(page.locator("canvas")).to_have_attribute("data-notes", "5")


def test_a_page_that_could_not_load_tries_again(visit: Visit) -> None:
    filled(visit.shelf)
    page = visit.page

    first = Held(page, "**/api/graph")
    visit.see()
    busy = {"error": {"code": "busy", "message": "Busy."}}
    first.asked.pop(0).fulfill(status=503, json=busy)
    first.let_go()

    expect(page.locator(".toast")).to_contain_text("Busy.")
    expect(page.locator("canvas")).to_have_attribute("data-notes", "4", timeout=20_000)
    visit.forgive("status of 503")


def test_what_could_not_be_asked_is_asked_again_when_the_server_is_back(
    browser: Browser, tmp_path: Path
) -> None:
    with NuggetShelf(str(tmp_path / "shelf"), project="") as shelf:
        filled(shelf)
    with closing(browser.new_page()) as page:
        with served(str(tmp_path / "shelf")) as server:
            page.goto(server.url)
            expect(page.locator("canvas")).to_have_attribute("data-notes", "4")
        expect(page.locator(".live .sr-only")).to_have_text("lost")

        page.keyboard.press("5")
        expect(page.locator(".sheet")).to_contain_text("The server is gone.")
        expect(page.locator(".sheet")).not_to_contain_text("Nothing was done yet.")
        port = server.url.rstrip("/").rpartition(":")[2]
        with served(str(tmp_path / "shelf"), "--port", port):
            expect(page.locator(".steps")).to_contain_text("Deploy pipeline", timeout=30_000)


def test_a_shelf_that_is_put_back_to_an_earlier_day_is_shown_as_it_was(
    browser: Browser, tmp_path: Path
) -> None:
    place, copy = tmp_path / "shelf", tmp_path / "copy"
    with NuggetShelf(str(place), project="") as shelf:
        filled(shelf)
    shutil.copytree(place, copy)
    run(str(place), "note", "add", "project", "Too much", "text")
    with served(str(place)) as server, closing(browser.new_page()) as page:
        page.goto(server.url)
        expect(page.locator("canvas")).to_have_attribute("data-notes", "5")
        expect(page.locator(".live .sr-only")).to_have_text("live")

        for path in [path for path in copy.rglob("*") if path.is_file()]:
            path.rename(place / path.relative_to(copy))

        expect(page.locator("canvas")).to_have_attribute("data-notes", "4")


def test_a_page_that_nobody_saw_shows_what_it_missed(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see_all()
    page = visit.page
    seen = """hidden => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""

    page.evaluate(seen, True)
    visit.shelf.create_note("project", "Unseen", "text")
    with page.expect_request("**/api/events"):
        page.evaluate(seen, False)

    expect(page.locator("canvas")).to_have_attribute("data-notes", "5")
    expect(page.locator(".live .sr-only")).to_have_text("live")


def test_a_note_that_goes_under_the_hand_leaves_nothing_behind(visit: Visit) -> None:
    visit.shelf.create_note("project", "Stays", "text")
    goes = visit.shelf.create_note("project", "Goes", "text")
    visit.see()
    page = visit.page
    page.locator("html[data-graph=settled]").wait_for()
    assert page.evaluate(
        """async () => {
          const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
          for (let x = 0; x < box.width; x += 8) for (let y = 0; y < box.height; y += 8) {
            const place = { clientX: box.x + x, clientY: box.y + y };
            canvas.dispatchEvent(new PointerEvent("pointermove", place));
            await Promise.resolve();
            if (document.querySelector(".tip")?.innerText.includes("Goes")) return true;
          }
          return false;
        }"""
    )

    visit.shelf.delete_note(goes.id, hard=True)

    expect(page.locator("canvas")).to_have_attribute("data-notes", "1")
    expect(page.locator(".tip")).to_have_count(0)
    page.evaluate("new Promise(requestAnimationFrame)")  # one more picture is drawn


NOTICE_WHAT_IS_TOLD = """window.EventSource = class extends EventSource {
  constructor(address) {
    super(address);
    this.addEventListener("change", event => (window.told = JSON.parse(event.data).revision));
  }
}"""


def test_a_note_undone_before_the_graph_knew_it_is_gone(visit: Visit) -> None:
    filled(visit.shelf)
    page = visit.page
    page.add_init_script(NOTICE_WHAT_IS_TOLD)
    visit.see_all()
    held = Held(page, "**/api/status")  # each change that is told waits for it

    page.keyboard.press("n")
    page.get_by_label("Title").fill("Too soon")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".note:not(.editor) h1")).to_have_text("Too soon")
    expect(page.locator(".panel .steps")).to_contain_text("created")
    undo(page, "Remembered.").click()
    expect(page.locator(".toast").filter(has_text="Undone.")).to_be_visible()
    page.wait_for_function("revision => window.told === revision", arg=visit.shelf.revision)
    held.let_go()

    expect(page.locator(".panel")).to_contain_text("This note is gone.")
    page.keyboard.press("e")
    page.keyboard.press("5")
    expect(page.locator(".steps")).to_contain_text("Too soon")
    expect(page.locator(".steps .note-link", has_text="Too soon")).to_have_count(0)
    expect(page.locator(".editor")).to_have_count(0)


def test_only_a_change_of_what_is_edited_is_told_to_the_editor(
    visit: Visit, tmp_path: Path
) -> None:
    auth, *_ = filled(visit.shelf)
    visit.see_all(note=auth)
    page = visit.page
    page.get_by_role("button", name="Edit").click()
    hint = page.locator(".editor .hint")

    run(str(tmp_path / "shelf"), "note", "show", auth, "--session", "s1")
    visit.shelf.create_note("project", "Another", "text")
    expect(page.locator("canvas")).to_have_attribute("data-notes", "5")
    expect(hint).to_have_count(0)
    visit.shelf.edit_note(auth, content="Theirs.")
    expect(hint).to_contain_text("changed elsewhere")
    visit.shelf.delete_note(auth, hard=True)
    expect(hint).to_contain_text("deleted")


def test_a_merge_shows_the_other_note_as_it_is_by_now(visit: Visit) -> None:
    auth, jwt, _ = filled(visit.shelf)
    visit.see_all(note=auth)
    page = visit.page
    expect(page.get_by_role("heading", name="Auth middleware")).to_be_visible()
    page.keyboard.press("m")
    page.keyboard.type("jwt")
    page.keyboard.press("Enter")
    preview = page.get_by_label("Preview")
    expect(preview).to_contain_text("RS256 signing.")

    visit.shelf.edit_note(jwt, content="ES256 by now.")
    expect(preview).to_contain_text("ES256 by now.")
    visit.shelf.delete_note(jwt, hard=True)
    expect(preview).to_have_count(0)
    expect(page.get_by_role("button", name="Merge", exact=True)).to_be_disabled()


def test_a_forgotten_fact_is_no_answer_and_the_next_row_has_the_focus(visit: Visit) -> None:
    filled(visit.shelf)
    visit.shelf.remember("project", "port", "8080")
    visit.see_all("facts")
    page = visit.page
    page.get_by_label("Recall").fill("test cmd")
    expect(page.locator(".answer")).to_contain_text("make test")

    page.get_by_role("button", name="Forget test cmd").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).to_contain_text("No fact answers")
    expect(page.get_by_role("button", name="Forget port")).to_be_focused()


def test_enter_opens_what_was_asked_for_though_the_answer_is_late(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see_all()
    page = visit.page
    held = Held(page, "**/api/search?*")

    with page.expect_request("**/api/search?*"):
        page.keyboard.press("/")
        page.keyboard.type("deploy")
        page.keyboard.press("Enter")
    expect(page.locator(".panel")).to_have_count(0)
    held.let_go()

    expect(page.get_by_role("heading", name="Deploy pipeline")).to_be_visible()


def test_the_arrows_choice_stays_when_someone_writes(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see_all()
    page = visit.page
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.locator(".entries .active .entry-title").inner_text()

    visit.shelf.create_note("project", "On top of the list", "text")
    expect(page.locator(".entries .entry-title").first).to_have_text("On top of the list")
    page.keyboard.press("Enter")

    expect(page.locator(".note h1")).to_have_text(chosen)


def test_the_search_has_the_focus_at_once_from_any_view(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see_all("facts")
    page = visit.page

    page.keyboard.press("/")
    page.keyboard.type("ne")

    expect(page.get_by_label("Search your memory")).to_have_value("ne")
    expect(page.locator(".panel")).to_have_count(0)


def test_an_address_may_name_a_note_by_its_title_and_hold_any_sign(visit: Visit) -> None:
    auth, *_ = filled(visit.shelf)
    visit.see_all(note="Auth%20middleware")
    expect(visit.page.locator(".note .markdown")).to_contain_text("JWT")
    assert visit.page.url.endswith(f"#/graph/{auth}")

    visit.shelf.create_note("project", "100%", "all of it")
    visit.page.goto("about:blank")
    visit.see_all(note="100%")
    expect(visit.page.locator(".note .markdown")).to_have_text("all of it")


def test_the_focus_goes_back_to_where_a_form_was_opened(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see_all()
    page = visit.page
    page.locator(".entry", has_text="Auth middleware").click()
    expect(page.locator(".note .markdown")).to_be_visible()

    page.keyboard.press("e")
    expect(page.get_by_label("Content")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Edit")).to_be_focused()
    page.keyboard.press("f")
    expect(page.locator(".focusing")).to_have_count(1)
    page.go_back()
    expect(page.locator(".panel")).to_have_count(0)
    expect(page.locator(".focusing")).to_have_count(0)


def test_what_is_archived_is_found_where_it_is_shown(visit: Visit) -> None:
    note = visit.shelf.create_note("project", "Deploy pipeline", "Runs on every tag.")
    visit.shelf.delete_note(note.id)
    visit.see()
    page = visit.page

    expect(page.get_by_text("All notes are archived.")).to_be_visible()
    page.get_by_label("Search your memory").fill("deploy")
    expect(page.get_by_text("Nothing is close enough.")).to_be_visible()
    page.get_by_role("button", name="Show archived").click()
    expect(page.locator(".entries .entry-title")).to_have_text(["Deploy pipeline"])
    expect(page.locator("canvas")).to_have_attribute("data-notes", "1")
