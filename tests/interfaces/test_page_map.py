"""The map that people know by heart: places and colours stay when notes come."""

import json
from math import hypot

from playwright.sync_api import Page, expect

from nuggets import NuggetShelf
from page_visits import Visit, filled

Places = dict[str, tuple[float, float]]


def _filled_areas(shelf: NuggetShelf) -> None:
    """Three nuggets of almost the same size: one more note changes which is the largest."""
    with shelf.batch():
        for number in range(60):
            name = f"area {number % 3}"
            note = shelf.create_note(name, f"Note {number}", "text")
            if number % 4 == 3:
                shelf.add_link(f"Note {number - 3}", note.id, "belongs together")


def _places(page: Page, count: int) -> Places:
    """Where each note lies, once nothing moves."""
    expect(page.locator("canvas")).to_have_attribute("data-notes", str(count))
    page.locator("html[data-graph=settled]").wait_for()
    stored = json.loads(page.evaluate("localStorage.getItem('nuggets.positions')"))
    numbers = stored["at"]
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return dict(zip(stored["ids"], pairs, strict=True))


def _moved(before: Places, after: Places) -> list[float]:
    """How far each note moved that moved at all, the farthest first."""
    ways = [hypot(after[i][0] - x, after[i][1] - y) for i, (x, y) in before.items()]
    return sorted((way for way in ways if way > 1), reverse=True)


def test_a_new_note_moves_only_those_beside_it(visit: Visit) -> None:
    _filled_areas(visit.shelf)
    visit.see()
    before = _places(visit.page, 60)

    new = visit.shelf.create_note("area 2", "One more", "text")
    after = _places(visit.page, 61)

    assert new.id in after
    moved = _moved(before, after)
    assert len(moved) <= 12
    assert moved[:1] < [30]


def test_a_new_nugget_moves_nobody_and_recolours_nothing(visit: Visit) -> None:
    _filled_areas(visit.shelf)
    visit.see()
    before = _places(visit.page, 60)
    colours = _colours(visit.page)

    visit.shelf.create_note("aaa", "First of its nugget", "text")
    after = _places(visit.page, 61)

    assert _moved(before, after) == []
    now = _colours(visit.page)
    assert {name: now[name] for name in colours} == colours
    assert now["aaa"] not in colours.values()


def _colours(page: Page) -> dict[str, str]:
    found: dict[str, str] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".legend .chip:has(i)")].map(
        chip => [chip.innerText, getComputedStyle(chip.querySelector("i")).backgroundColor]))"""
    )
    return found


def test_places_and_colours_are_the_same_after_a_reload(visit: Visit) -> None:
    _filled_areas(visit.shelf)
    visit.see()
    _places(visit.page, 60)
    visit.shelf.create_note("aaa", "First of its nugget", "text")
    before = _places(visit.page, 61)
    colours = _colours(visit.page)

    visit.page.reload()

    assert _moved(before, _places(visit.page, 61)) == []
    assert _colours(visit.page) == colours


RECORD_NAMES = """
const write = CanvasRenderingContext2D.prototype.fillText;
window.names = {};
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  if (this.font.startsWith("650 ")) window.names[text] = [x, y, this.measureText(text).width];
  return write.call(this, text, x, y);
};
"""


def test_names_of_nuggets_do_not_cover_each_other(visit: Visit) -> None:
    with visit.shelf.batch():
        for number in range(300):
            visit.shelf.create_note(f"area {number % 3}", f"Note {number}", "text")
    visit.page.set_viewport_size({"width": 360, "height": 700})
    visit.page.add_init_script(RECORD_NAMES)
    visit.see()
    _places(visit.page, 300)
    for name in ("customer interviews", "release checklists", "meeting minutes", "house rules"):
        visit.shelf.create_note(name, f"First of {name}", "text")
    _places(visit.page, 304)
    visit.page.get_by_role("button", name="Show all").click()

    names = visit.page.wait_for_function(
        "Object.keys(window.names).length === 7 && Object.values(window.names)"
    ).json_value()
    for at, (x, y, wide) in enumerate(names):
        for other_x, other_y, other_wide in names[:at]:
            assert abs(y - other_y) >= 15 or abs(x - other_x) >= (wide + other_wide) / 2


def test_a_nugget_filter_hides_no_search_result_without_a_word(visit: Visit) -> None:
    filled(visit.shelf)
    visit.see_all()
    page = visit.page
    page.locator(".legend").get_by_role("button", name="ops").click()
    expect(page.locator("canvas")).to_have_attribute("data-notes", "1")

    page.get_by_label("Search your memory").fill("jwt tokens")
    expect(page.locator(".entries .entry-title").first).to_have_text("JWT token format")
    expect(page.locator(".finder-head")).to_contain_text("outside the filter")
    expect(page.locator("canvas")).not_to_have_attribute("data-notes", "1")
    page.get_by_role("button", name="ops", exact=True).first.click()
    expect(page.locator(".finder-head")).not_to_contain_text("outside the filter")


def test_the_legend_of_a_phone_opens_and_reaches_every_nugget(visit: Visit) -> None:
    for number in range(20):
        visit.shelf.create_note(f"area {number:02d}", f"Note {number}", "text")
    page = visit.page
    page.set_viewport_size({"width": 360, "height": 700})
    visit.see_all()
    last = page.locator(".legend").get_by_role("button", name="area 19")
    expect(last).to_have_count(0)

    page.get_by_role("button", name="Legend").click()
    page.get_by_role("button", name="13 more").click()
    last.click()

    expect(page.locator("canvas")).to_have_attribute("data-notes", "1")
    expect(page.get_by_role("button", name="Legend")).to_contain_text("filtered")


def test_notes_of_one_project_can_be_chosen(visit: Visit) -> None:
    visit.shelf.create_note("project", "Ours", "text", project="/code/shop")
    visit.shelf.create_note("project", "Theirs", "text", project="/code/ledger")
    visit.shelf.create_note("project", "Everybody's", "text", project="")
    visit.see_all()
    page = visit.page

    page.locator(".finder").get_by_label("Project").select_option("shop")
    expect(page.locator(".entries .entry-title")).to_have_text(["Ours"])
    page.locator(".finder").get_by_label("Project").select_option("No project")
    expect(page.locator(".entries .entry-title")).to_have_text(["Everybody's"])
    expect(page.locator("canvas")).to_have_attribute("data-notes", "1")
