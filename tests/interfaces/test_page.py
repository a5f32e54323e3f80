"""The page in a real browser, on a real socket, with a real shelf behind it."""

import re

from playwright.sync_api import expect

from page_visits import Held, Visit, filled, undo


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


def test_search_finds_as_you_type_explains_and_lights_up_the_graph(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see()
    page = visit.page

    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search your memory")).to_be_focused()
    page.keyboard.type("authentication")
    expect(page.locator(".entries .entry-title").first).to_have_text("Auth middleware")
    expect(page.locator("canvas")).not_to_have_attribute("data-lit", "0")
    with page.expect_request("**/explanation?*"):  # only now: it takes longer than the search
        page.locator(".why").first.click()
    expect(page.locator(".why-box").first).to_contain_text("relevance")
    expect(page.locator(".why-box .reasons").first).to_contain_text("authentication in")
    page.get_by_label("Search your memory").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Auth middleware")).to_be_visible()
    page.get_by_label("Search your memory").fill("xylophone quartz")
    expect(page.get_by_text("No matches.")).to_be_visible()


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


def test_facts_are_asked_remembered_and_forgotten(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see("facts")
    page = visit.page

    page.get_by_label("Recall").fill("test cmnd")
    expect(page.locator(".answer")).to_contain_text("make test")
    expect(page.locator(".answer .measure")).to_contain_text("sure")
    page.get_by_label("Recall").fill("test cmd for staging")
    expect(page.locator(".answer")).to_contain_text("'staging' is not in the key")
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
        ["written by page", "Recalls by session", "Changes"]
    )
    expect(visit.page.locator(".sheet .chips")).to_contain_text("2 recalls of 1 note in 2 sessions")
    expect(visit.page.locator(".sessions li")).to_have_count(2)
    expect(visit.page.locator(".sessions li").first).to_contain_text("test cmd")
    expect(visit.page.locator(".steps")).to_contain_text("Deploy pipeline")


def test_a_forgotten_fact_is_no_answer_and_the_next_row_has_the_focus(visit: Visit) -> None:
    filled(visit.shelf)
    visit.shelf.remember("project", "port", "8080")
    visit.see_all("facts")
    page = visit.page
    page.get_by_label("Recall").fill("test cmd")
    expect(page.locator(".answer")).to_contain_text("make test")

    page.get_by_role("button", name="Forget test cmd").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).to_contain_text("No fact matches")
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


def test_what_is_archived_is_found_where_it_is_shown(visit: Visit) -> None:
    note = visit.shelf.create_note("project", "Deploy pipeline", "Runs on every tag.")
    visit.shelf.delete_note(note.id)
    visit.see()
    page = visit.page

    expect(page.get_by_text("All notes are archived.")).to_be_visible()
    page.get_by_label("Search your memory").fill("deploy")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.get_by_role("button", name="Show archived").click()
    expect(page.locator(".entries .entry-title")).to_have_text(["Deploy pipeline"])
    expect(page.locator("canvas")).to_have_attribute("data-notes", "1")


def test_a_result_quotes_the_note_with_all_its_signs(visit: Visit) -> None:
    text = "C# compiles if a > b and `x*y` matches src/**/*.ts; see #12"
    visit.shelf.create_note("project", "Signs", text)
    visit.shelf.create_note("project", "Late", f"{'Something else. ' * 30}{text}")
    visit.see()

    visit.page.get_by_label("Search your memory").fill("compiles matches")
    quotes = visit.page.locator(".entry-text")
    expect(quotes).to_have_count(2)

    assert all(text in quote for quote in quotes.all_inner_texts())
