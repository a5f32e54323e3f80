"""Notes on the page: edited, linked, merged, deleted, and nothing lost on the way."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from nuggets.domain.type_check import NoteMeta
from page_visits import Held, Visit, filled, undo
from web_serving import run


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
    page.get_by_role("button", name="Overwrite with mine").click()
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
    page.get_by_role("button", name="Remove the link to Deploy pipeline").click()
    expect(page.locator(".links")).not_to_contain_text("Deploy pipeline")
    assert len(visit.shelf.get_note(auth).links) == 1


def test_two_notes_are_merged_by_keys_after_a_look_at_the_result(visit: Visit) -> None:
    auth, jwt, _ = filled(visit.shelf)
    visit.see(note=auth)
    page = visit.page
    expect(page.get_by_role("heading", name="Auth middleware")).to_be_visible()

    page.keyboard.press("m")
    expect(page.get_by_label("Title of the other note")).to_be_focused()
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
    expect(panel.locator(".steps")).to_contain_text("linked #4 · by page")

    visit.answered().shelf.delete_note(auth, hard=True)
    expect(panel).to_contain_text("This note was deleted.")

    visit.shelf.undo()
    expect(panel.locator("h1")).to_have_text("Auth middleware")
    expect(panel).not_to_contain_text("This note was deleted.")


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


def test_an_erasure_names_all_that_goes_before_it_is_done(visit: Visit) -> None:
    told: NoteMeta = {"scope": "session", "source": "system", "stability": "temporary"}
    earlier = visit.shelf.create_note(
        "tasks", "An earlier session", "Over long ago.", created_at="2026-01-02", **told
    )
    *_, deploy = filled(visit.shelf)
    later = visit.shelf.create_note("tasks", "Session of today", "Talked of deploys.", **told)
    same = visit.shelf.create_note("ops", "Told again", "Note: Runs on every tag. Always.")
    visit.see(note=deploy)
    page = visit.page

    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Erase for good").click()
    question = page.get_by_role("dialog", name="Erase “Deploy pipeline” for good?")
    for title in (later.title, "transcripts that agents keep", "Deploy pipeline"):
        expect(question).to_contain_text(title)
    expect(question).not_to_contain_text(earlier.title)
    assert later.id in visit.shelf.get_notes([later.id])
    question.get_by_role("button", name="Erase").click()

    expect(page.locator(".toast")).to_contain_text("Erased.")
    left = visit.shelf.get_notes([earlier.id, later.id, same.id, deploy])
    assert set(left) == {earlier.id, same.id}


def test_cautions_and_validity_are_shown(visit: Visit) -> None:
    note = visit.shelf.create_note(
        "ops", "Freeze", "No deploys.", valid_from="2020-01-01", valid_until="2020-02-01"
    )
    visit.see(note=note.id)
    panel = visit.page.locator(".panel")

    expect(panel.get_by_label("Cautions")).to_contain_text("2020")
    expect(panel.locator(".details")).to_contain_text("until")


def test_a_contradiction_is_told_when_it_is_saved(visit: Visit) -> None:
    visit.shelf.create_note("ops", "Tests", "Always use pytest for tests.")
    visit.see(note="new")
    page = visit.page

    page.get_by_label("Nugget").fill("ops")
    page.get_by_label("Title").fill("Style")
    page.get_by_label("Content").fill("Never use pytest for tests.")
    page.get_by_role("button", name="Save").click()

    toast = page.locator(".toast").filter(has_text="contradicts")
    expect(toast).to_contain_text("“Tests”")
    expect(toast.get_by_role("button", name="Undo")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 1024, 700, 390])
def test_the_buttons_of_a_merge_lie_inside_the_window(visit: Visit, width: int) -> None:
    page = visit.page
    page.set_viewport_size({"width": width, "height": 900})
    long = "averylongwordwithoutanyblank" * 20
    first = visit.shelf.create_note("ops", "Pipeline", f"```\n{long} {long}\n```\n\n{long}")
    second = visit.shelf.create_note("ops", "Pipeline two", f"| {long} |\n\n`{long}`")
    visit.shelf.add_link(first.id, second.id, long[:500])
    visit.see(note=first.id)

    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Merge with").click()
    page.get_by_role("option", name="Pipeline two").click()
    expect(page.get_by_label("Preview")).to_be_visible()

    for name in ("Merge", "Cancel"):
        box = page.locator(".panel").get_by_role("button", name=name, exact=True).bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= width


def test_undo_takes_back_what_was_done_here_not_what_others_wrote_since(
    visit: Visit, tmp_path: Path
) -> None:
    auth, *_ = filled(visit.shelf)
    visit.see(note=auth)
    page = visit.page

    page.get_by_role("button", name="Archive").click()
    expect(undo(page, "Archived.")).to_be_visible()
    expect(page.locator(".crumbs")).to_contain_text("archived")
    run(str(tmp_path / "shelf"), "note", "add", "project", "From the terminal", "stays")
    undo(page, "Archived.").click()
    expect(page.locator(".crumbs")).not_to_contain_text("archived")

    assert not visit.shelf.get_note(auth).hidden
    assert visit.shelf.get_note("From the terminal").content == "stays"


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
    page.get_by_role("button", name="Keep theirs").click()
    expect(page.locator(".markdown")).to_have_text("Theirs.")
    page.keyboard.press("e")
    expect(page.get_by_label("Content")).to_have_value("Theirs.")


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
    visit.answered().shelf.delete_note(auth, hard=True)
    expect(hint).to_contain_text("deleted")


NOTICE_WHAT_IS_ASKED_FIRST = """note => {
  const asked = [], send = window.fetch;
  window.fetch = (address, ...options) => (asked.push(address), send(address, ...options));
  new MutationObserver(() => {
    if (document.querySelector(".editor .hint")) window.askedFirst ??= asked.includes(note);
  }).observe(document.body, { childList: true, subtree: true });
}"""


def test_a_changed_note_is_asked_for_before_the_change_is_told(visit: Visit) -> None:
    """Whoever sees the hint and deletes the note then is not asked for it any more."""
    auth, *_ = filled(visit.shelf)
    visit.see_all(note=auth)
    page = visit.page
    page.get_by_role("button", name="Edit").click()
    page.evaluate(NOTICE_WHAT_IS_ASKED_FIRST, f"/api/notes/{auth}")

    visit.shelf.edit_note(auth, content="Theirs.")
    expect(page.locator(".editor .hint")).to_contain_text("changed elsewhere")

    assert page.evaluate("window.askedFirst") is True


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
    visit.answered().shelf.delete_note(jwt, hard=True)
    expect(preview).to_have_count(0)
    expect(page.get_by_role("button", name="Merge", exact=True)).to_be_disabled()


def test_a_draft_survives_a_reload_and_says_so(visit: Visit) -> None:
    auth, *_ = filled(visit.shelf)
    visit.see_all(note=auth)
    page = visit.page
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Content").fill("Half a thought.")

    page.reload()
    expect(page.get_by_role("heading", name="Auth middleware")).to_be_visible()
    page.keyboard.press("e")
    expect(page.get_by_label("Content")).to_have_value("Half a thought.")
    expect(page.locator(".hint")).to_contain_text("not saved yet")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".markdown")).to_have_text("Half a thought.")
    page.reload()
    page.keyboard.press("e")
    expect(page.get_by_label("Content")).to_have_value("Half a thought.")
    expect(page.locator(".hint")).to_have_count(0)


def test_project_and_scope_are_shown_and_chosen(visit: Visit) -> None:
    visit.shelf.create_note("project", "Elsewhere", "text", project="/code/ledger")
    visit.see_all()
    page = visit.page

    page.keyboard.press("n")
    page.get_by_label("Title").fill("Chosen")
    page.locator(".editor").get_by_label("Scope").select_option("shared")
    page.locator(".editor").get_by_label("Project").select_option("ledger")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".crumbs")).to_contain_text("ledger")
    expect(page.locator(".details")).to_contain_text("shared")
    page.keyboard.press("e")
    page.locator(".editor").get_by_label("Project").select_option("none: valid everywhere")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".details")).to_contain_text("none: valid everywhere")

    note = visit.shelf.get_note("Chosen")
    assert (note.scope, note.project) == ("shared", "")
