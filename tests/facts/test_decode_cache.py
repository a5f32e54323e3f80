from struct import pack

import pytest

from fact_oracle import fact_note
from fact_shelf import FactShelf, fact_database
from nuggets.domain.records import Changes, NuggetConfig
from nuggets.facts.decode_cache import DECODES_REMEMBERED, DecodeCache, Page

SMALL = NuggetConfig("project", dims=1024)  # pages of four facts


def shelf_of(*values: str) -> FactShelf:
    shelf = FactShelf()
    notes = [fact_note(f"key number {i}", value) for i, value in enumerate(values)]
    shelf.apply(Changes(put=tuple(notes), put_nuggets=(SMALL,)))
    return shelf


def kept_rows(shelf: FactShelf) -> list[tuple[int, bytes]]:
    shelf.index.save()
    return shelf.database.execute("SELECT page, decoded FROM fact_pages ORDER BY page").fetchall()


def test_what_was_decoded_is_offered_once() -> None:
    shelf = shelf_of("x", "y")
    offered = [shelf.index.has_unsaved]

    shelf.recall("key number 1")
    offered.append(shelf.index.has_unsaved)
    shelf.index.save()
    offered.append(shelf.index.has_unsaved)
    shelf.recall("key number 1")
    offered.append(shelf.index.has_unsaved)

    assert offered == [False, True, False, False]


def test_an_unchanged_page_answers_from_what_was_kept() -> None:
    shelf = shelf_of("x", "y", "x")
    before = shelf.recall("key number 1")
    shelf.index.save()

    another = shelf.another_process()

    assert another.recall("key number 1") == before
    assert not another.has_unsaved


def test_what_is_kept_is_the_decode_and_not_the_note() -> None:
    shelf = shelf_of("x", "y")
    shelf.recall("key number 1")
    shelf.index.save()

    wrong = pack("<IddIdd", 0, 1.0, 1.0, 0, 0.75, 0.5)
    shelf.database.execute("UPDATE fact_pages SET decoded = ?", (wrong,))
    result = shelf.another_process().recall("key number 1")

    assert (result.answer, result.confidence, result.margin) == ("x", 0.75, 0.5)


@pytest.mark.parametrize("change", ["value made equal", "fact added", "nugget configured"])
def test_a_page_that_changed_is_decoded_again(change: str) -> None:
    shelf = shelf_of("x", "y", "x")
    shelf.recall("key number 1")
    shelf.index.save()
    first = shelf.notes[next(iter(shelf.notes))]

    shelf.apply(
        {
            "value made equal": Changes(put=(first._replace(content="y"),)),
            "fact added": Changes(put=(fact_note("another", "z"),)),
            "nugget configured": Changes(put_nuggets=(SMALL._replace(banks=2),)),
        }[change]
    )
    another = shelf.another_process()
    result = another.recall("key number 1")

    assert result.answer == "y"
    assert another.has_unsaved
    fresh = FactShelf()
    fresh.apply(Changes(put=tuple(shelf.notes.values()), put_nuggets=tuple(shelf.nuggets.values())))
    assert result == fresh.recall("key number 1")


def test_another_value_in_the_same_pattern_needs_no_decode() -> None:
    shelf = shelf_of("x", "y")
    shelf.recall("key number 1")
    shelf.index.save()
    second = list(shelf.notes.values())[1]

    shelf.apply(Changes(put=(second._replace(content="new"),)))
    another = shelf.another_process()

    assert another.recall("key number 1").answer == "new"
    assert not another.has_unsaved


def test_the_next_facts_need_no_decode_if_their_values_are_new() -> None:
    shelf = shelf_of("x", "y")
    shelf.recall("key number 1")
    shelf.index.save()

    shelf.apply(Changes(put=(fact_note("another", "z"),)))
    another = shelf.another_process()
    result = another.recall("another")

    assert result.answer == "z"
    assert not another.has_unsaved
    fresh = FactShelf()
    fresh.apply(Changes(put=tuple(shelf.notes.values()), put_nuggets=tuple(shelf.nuggets.values())))
    assert result.confidence == pytest.approx(fresh.recall("another").confidence)


def test_pages_without_a_repeated_value_share_one_decode() -> None:
    shelf = shelf_of(*map(str, range(12)))

    for i in range(12):
        assert shelf.recall(f"key number {i}").answer == str(i)

    assert len(kept_rows(shelf)) == 1


def test_a_page_keeps_its_last_decode_only() -> None:
    shelf = shelf_of("x", "x", "y")
    shelf.recall("key number 1")
    assert len(kept_rows(shelf)) == 1

    shelf.apply(Changes(put=(fact_note("another", "x"),)))
    shelf.recall("key number 1")

    assert len(kept_rows(shelf)) == 1


def test_a_kept_decode_that_was_cut_off_is_made_anew() -> None:
    shelf = shelf_of("x", "y")
    expected = shelf.recall("key number 1")
    shelf.index.save()
    shelf.database.execute("UPDATE fact_pages SET decoded = substr(decoded, 1, 20) WHERE page = -2")

    another = shelf.another_process()

    assert another.check() == ["nugget project: stored decode -2: incomplete"]
    assert another.recall("key number 1") == expected


def test_a_check_finds_what_the_algebra_decodes_otherwise() -> None:
    shelf = shelf_of("x", "y", "x", "z", "u", "v")
    for i in (0, 5):
        shelf.recall(f"key number {i}")
    shelf.index.save()
    assert shelf.index.check() == []

    wrong = pack("<IddIdd", 0, 1.0, 1.0, 0, 0.75, 0.5)
    shelf.database.execute("UPDATE fact_pages SET decoded = ? WHERE page = -2", (wrong,))

    (fault,) = shelf.another_process().check()
    assert fault.startswith(
        "nugget project: stored decode -2: position 1 is stored as (0, 0.75, 0.5)"
    )


def test_a_check_leaves_out_what_nobody_reads() -> None:
    shelf = shelf_of("x", "y")
    shelf.recall("key number 1")
    shelf.index.save()
    shelf.database.execute("UPDATE fact_pages SET decoded = x'00', fingerprint = 'of old'")

    assert shelf.index.check() == []


def test_traces_of_a_note_are_gone_with_it() -> None:
    shelf = shelf_of("x", "y", "secret")
    shelf.recall("key number 2")
    shelf.index.save()
    shelf.recall("key number 1")

    shelf.index.forget_traces([list(shelf.notes)[2]])
    shelf.index.save()

    assert not shelf.recall("key number 2").found
    assert shelf.recall("key number 1").answer == "y"
    assert kept_rows(shelf) and "number 2" not in "".join(shelf.database.iterdump())


def test_more_decodes_than_are_remembered_are_right() -> None:
    config = NuggetConfig("project", dims=64, ortho_iters=0)
    pages = DecodeCache(fact_database())
    patterns = [tuple(map(int, f"{n:011b}"[::-1])) for n in range(1024 + DECODES_REMEMBERED + 9)]
    patterns = [pattern for pattern in patterns if pattern[0] == 0 and any(pattern)]
    made = [Page("project", config, number, pattern) for number, pattern in enumerate(patterns)]
    first = pages.verdict(made[0], 3)

    for page in made:
        pages.verdict(page, 0)

    assert pages.verdict(made[0], 3) == pytest.approx(first, abs=1e-6)
