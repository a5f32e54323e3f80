import re
import xml.etree.ElementTree as ElementTree

from nuggets import NuggetShelf
from nuggets.interfaces.graph_svg import svg

SVG = "{http://www.w3.org/2000/svg}"


def test_every_note_is_a_circle_and_every_link_one_line(shelf: NuggetShelf) -> None:
    a, b, c = (shelf.create_note("p", title, "text").id for title in "abc")
    shelf.add_link(a, b, "one")
    shelf.add_link(b, c, "two")

    picture = ElementTree.fromstring(svg(shelf.list_notes()))

    assert len(picture.findall(f"{SVG}line")) == 2
    assert len(picture.findall(f"{SVG}circle")) == 3 + 1  # and one in the legend
    assert {t.findtext(f"{SVG}title") for t in picture.findall(f"{SVG}line")} == {"one", "two"}


def test_the_same_notes_give_the_same_picture(shelf: NuggetShelf) -> None:
    for n in range(40):
        shelf.create_note(f"nugget {n % 3}", f"note {n}", "text")
    notes = shelf.list_notes()

    assert svg(notes) == svg(notes)


def test_all_notes_lie_inside_and_apart(shelf: NuggetShelf) -> None:
    for n in range(60):
        shelf.create_note(f"nugget {n % 3}", f"note {n}", "text")

    picture = ElementTree.fromstring(svg(shelf.list_notes(), 600, 400))

    circles = [c for c in picture.findall(f"{SVG}circle") if c.find(f"{SVG}title") is not None]
    places = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in circles]
    assert all(0 < x < 600 and 0 < y < 400 for x, y in places)
    assert len({(round(x), round(y)) for x, y in places}) == 60


def test_archived_notes_are_dashed(shelf: NuggetShelf) -> None:
    note = shelf.create_note("p", "old", "text")
    shelf.delete_note(note.id)

    assert 'class="archived"' in svg(shelf.list_notes(include_hidden=True))


def test_hostile_titles_stay_text(shelf: NuggetShelf) -> None:
    note = shelf.create_note("p", "title", "text")
    title = "</title><script>alert(1)</script>\x00\u202e]]>"

    picture = svg([note._replace(title=title, nugget_name='"><script>')])

    assert ElementTree.fromstring(picture) is not None
    assert "<script" not in picture
    assert "\u202e" not in picture


def test_nothing_makes_an_empty_picture() -> None:
    assert ElementTree.fromstring(svg([])).tag == f"{SVG}svg"


def test_a_new_nugget_recolours_no_other(shelf: NuggetShelf) -> None:
    for name in ("ops", "project"):
        shelf.create_note(name, f"note of {name}", "text")
    before = _colours(svg(shelf.list_notes()))

    shelf.create_note("a new one", "its note", "text")
    after = _colours(svg(shelf.list_notes()))

    assert {title: after[title] for title in before} == before
    assert len(set(after.values())) == 3


def _colours(picture: str) -> dict[str, str]:
    circles = re.findall(r'fill="(#\w+)"><title>([^<]+)</title></circle>', picture)
    return {title: colour for colour, title in circles}
