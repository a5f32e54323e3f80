"""Sessions with agents on the page."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from page_visits import Visit, visited
from session_samples import PROJECT, keep_sessions


def test_the_last_session_of_the_project_is_open_and_the_others_are_a_click_away(
    browser: Browser, tmp_path: Path
) -> None:
    with visited(browser, tmp_path, PROJECT) as visit:
        keep_sessions(visit.shelf)
        visit.see("sessions")
        page = visit.page
        goals = page.locator(".session-head b")

        expect(goals).to_have_text(["Shorten the deploy pipeline", "Move orders to UUID keys"])
        expect(page.locator(".session-text")).to_have_count(1)
        expect(page.locator(".session-text dt")).to_have_text("Open")
        expect(page.locator(".session-text dd")).to_have_text(["one", "two *"])
        expect(page.locator(".session-head").first).to_contain_text("claude-code")
        expect(page.get_by_text("before it: ")).to_contain_text("Move orders to UUID keys")
        page.get_by_role("button", name="Shorten the deploy pipeline").first.click()
        expect(page.locator(".session-text")).to_have_count(0)
        expect(page.get_by_role("button", name="here", exact=True)).to_be_visible()
        page.get_by_role("button", name="All projects").click()
        expect(goals).to_have_count(3)
        expect(page.locator(".session-head").first).to_contain_text("there")


def test_sessions_are_searched_as_one_types(visit: Visit) -> None:
    keep_sessions(visit.shelf)
    visit.see()
    page = visit.page
    page.keyboard.press("6")
    goals = page.locator(".session-head b")

    expect(goals).to_have_count(3)
    page.get_by_label("Search sessions").fill("orders with UUID")
    expect(goals).to_have_text(["Move orders to UUID keys"])
    page.get_by_label("Search sessions").fill("kangaroos")
    expect(page.get_by_text("No session is about that.")).to_be_visible()
    page.get_by_label("Search sessions").fill("")
    expect(goals).to_have_count(3)


def test_a_session_that_is_noted_appears_and_can_be_undone(visit: Visit) -> None:
    visit.see("sessions")
    page = visit.page
    expect(page.get_by_text("No session was noted yet.")).to_be_visible()
    expect(page.get_by_text("nuggets connect claude-code")).to_be_visible()

    keep_sessions(visit.shelf)
    expect(page.locator(".session-head")).to_have_count(3)
    page.get_by_role("button", name="Note, history, undo").click()
    expect(page.locator(".note h1")).to_contain_text("Another project")
    page.locator(".note .steps").get_by_role("button", name="Undo").click()
    expect(page.locator(".session-head")).to_have_count(2)
