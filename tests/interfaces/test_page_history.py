"""The history on the page: only what is new is loaded, and undo is offered where it works."""

from playwright.sync_api import Locator, expect

from page_visits import Visit, filled


def _step(visit: Visit, revision: int) -> Locator:
    number = visit.page.get_by_title(f"Revision {revision}", exact=True)
    return visit.page.locator(".sheet .step").filter(has=number)


def test_undo_is_offered_only_where_it_works_and_by_the_number_that_is_shown(visit: Visit) -> None:
    note = visit.shelf.create_note("project", "Port", "80")
    visit.shelf.edit_note(note.id, content="8080")
    visit.shelf.edit_note(note.id, content="9090")
    visit.see("activity")
    last, middle = _step(visit, 3), _step(visit, 2)
    expect(last.get_by_role("button", name="Undo")).to_be_visible()
    expect(middle.get_by_role("button")).to_have_count(1)  # the link to the note

    last.get_by_role("button", name="Undo").click()
    expect(middle.get_by_role("button", name="Undo")).to_be_visible()
    expect(last).to_contain_text("undone")
    expect(_step(visit, 4)).to_contain_text("undone: #3")

    assert visit.shelf.get_note(note.id).content == "8080"


def test_an_undo_is_redone_and_that_undone_again(visit: Visit) -> None:
    note = visit.shelf.create_note("project", "Port", "80")
    visit.shelf.edit_note(note.id, content="8080")
    visit.see("activity")

    _step(visit, 2).get_by_role("button", name="Undo").click()
    expect(_step(visit, 3).get_by_role("button", name="Undo")).to_have_count(0)
    _step(visit, 3).get_by_role("button", name="Redo").click()
    expect(_step(visit, 4)).to_contain_text("redone: #2")
    assert visit.shelf.get_note(note.id).content == "8080"
    _step(visit, 4).get_by_role("button", name="Undo").click()
    expect(_step(visit, 5)).to_be_visible()

    assert visit.shelf.get_note(note.id).content == "80"


def test_the_message_after_an_undo_offers_to_redo(visit: Visit) -> None:
    auth, *_ = filled(visit.shelf)
    visit.see(note=auth)
    page = visit.page

    page.get_by_role("button", name="Archive").click()
    page.locator(".toast").get_by_role("button", name="Undo").click()
    page.locator(".toast").get_by_role("button", name="Redo").click()
    expect(page.locator(".toast", has_text="Redone.")).to_be_visible()

    assert visit.shelf.get_note(auth).hidden


def test_a_fact_that_is_remembered_again_makes_the_undo_of_its_loss_impossible(
    visit: Visit,
) -> None:
    visit.shelf.remember("project", "port", "80")
    visit.shelf.forget("project", "port")
    visit.see("activity")
    forgotten = _step(visit, 2)
    expect(forgotten.get_by_role("button", name="Undo")).to_be_visible()

    visit.shelf.remember("project", "port", "8080")
    expect(_step(visit, 3)).to_be_visible()
    expect(forgotten.get_by_role("button", name="Undo")).to_have_count(0)


def test_an_open_history_asks_only_for_what_is_new(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see_all("activity")
    expect(_step(visit, 5)).to_be_visible()
    asked: list[str] = []
    visit.answered().page.on("request", lambda request: asked.append(request.url))

    visit.shelf.create_note("project", "Later", "text")
    expect(_step(visit, 6)).to_be_visible()

    loaded = [url.partition("/api/")[2] for url in visit.answered() and asked]
    assert "activity?since=5" in loaded
    assert "history?limit=60&since=5" in loaded
    assert "undoable?revisions=6" in loaded
    assert "graph" not in loaded
