"""The page within everybody's reach, and out of reach for what is hostile."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from nuggets.domain.limits import NAME_CHARACTERS
from page_visits import VIEWS, Visit, filled
from web_serving import run

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


def test_deep_markdown_is_shown_as_far_as_it_is_sensible_and_then_as_written(
    visit: Visit,
) -> None:
    quotes = ">" * 20_000 + " deep"
    note = visit.shelf.create_note("project", "Deep", f"First.\n\n{quotes}\n\n- last")

    visit.see(note=note.id)

    expect(visit.page.locator(".markdown")).to_contain_text("First.")
    expect(visit.page.locator(".markdown")).to_contain_text("> deep")
    expect(visit.page.locator(".markdown li")).to_have_text("last")
    expect(visit.page.locator(".panel .steps")).to_contain_text("created")


def test_what_a_hand_wrote_into_the_file_leaves_the_page_in_shape(
    visit: Visit, tmp_path: Path
) -> None:
    """As long as the shelf allows: more is refused, also if it comes from graph.json."""
    auth, jwt, _ = filled(visit.shelf)
    visit.see(note=auth)
    page = visit.page
    expect(page.locator(".note h1")).to_have_text("Auth middleware")
    evil = HOSTILE[1]
    long = evil + "W" * (NAME_CHARACTERS - len(evil))
    run(str(tmp_path / "shelf"), "remember", "project", "port", "80")  # and paints the files
    _edit_by_hand(tmp_path / "shelf", auth, title=long, tags=[evil], subject=evil)

    expect(page.locator(".note h1")).to_have_text(long)
    for size in ({"width": 1280, "height": 800}, {"width": 390, "height": 844}):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        for view in VIEWS:
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
    for view in VIEWS:
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
    for view in VIEWS:
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
