"""The page shows what is there now, whatever happens meanwhile."""

import re
import shutil
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Browser, expect

from nuggets import NuggetShelf
from page_visits import Held, Visit, filled, undo
from web_serving import run, served


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
    expect(page.locator("canvas")).to_have_attribute("data-notes", "4")
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
        expect(page.locator(".sheet")).to_contain_text("The server is not running.")
        expect(page.locator(".sheet")).not_to_contain_text("No changes yet.")
        port = server.url.rstrip("/").rpartition(":")[2]
        with served(str(tmp_path / "shelf"), "--port", port):
            expect(page.locator(".steps")).to_contain_text("Deploy pipeline")


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

    visit.answered().shelf.delete_note(goes.id, hard=True)

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

    expect(page.locator(".panel")).to_contain_text("This note was deleted.")
    page.keyboard.press("e")
    page.keyboard.press("5")
    expect(page.locator(".steps")).to_contain_text("Too soon")
    expect(page.locator(".steps .note-link", has_text="Too soon")).to_have_count(0)
    expect(page.locator(".editor")).to_have_count(0)


def test_a_link_with_a_code_opens_the_page_once_and_tabs_share_the_session(
    browser: Browser, tmp_path: Path
) -> None:
    with NuggetShelf(str(tmp_path / "shelf"), project="") as shelf:
        filled(shelf)
    with closing(browser.new_context()) as visitor, closing(browser.new_context()) as stranger:
        with served(str(tmp_path / "shelf"), "--require-token") as server:
            page = visitor.new_page()
            page.goto(server.url)
            expect(page.locator("canvas")).to_have_attribute("data-notes", "4")
            assert "code" not in page.url
            second = visitor.new_page()
            second.goto(page.url)
            expect(second.locator("canvas")).to_have_attribute("data-notes", "4")
            late = stranger.new_page()
            late.goto(server.url)
            expect(late.locator("body")).to_contain_text("needs a link with an unused code")
        port = server.url.partition("?")[0].rstrip("/").rpartition(":")[2]
        with served(str(tmp_path / "shelf"), "--require-token", "--port", port):
            page.reload()
            expect(page.locator("canvas")).to_have_attribute("data-notes", "4")
