"""What is read together is of one moment, and a question is understood once."""

from pathlib import Path

from nuggets import NuggetShelf

QUERY = "how are checkout tokens signed"


def filled(shelf: NuggetShelf) -> None:
    shelf.create_note("project", "Checkout tokens", "They are signed with RS256.")
    shelf.create_note("project", "Invoices", "Tokens of invoices are signed by hand.")
    shelf.create_note("project", "Feed", "Sorted by date.")


def test_inside_nothing_changes_that_others_write(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path) as shelf, NuggetShelf(tmp_path) as other:
        filled(shelf)
        with shelf.snapshot():
            before = shelf.search_notes(QUERY, session=None)
            other.remember("project", "tokens", "signed with Ed25519")
            assert shelf.search_notes(QUERY, session=None) == before
            assert not shelf.recall("tokens").found
        assert shelf.recall("tokens").found


def test_recalls_inside_are_counted_when_it_ends(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path) as shelf:
        shelf.remember("project", "port", "80")
        with shelf.snapshot():
            assert shelf.recall("port", session="one").found
            assert shelf.facts("project")[0].hits == 0
        assert shelf.facts("project")[0].hits == 1


def test_what_is_not_saved_yet_is_read_as_well() -> None:
    with NuggetShelf("memory:", auto_save=False) as shelf:
        filled(shelf)
        with shelf.snapshot():
            found = shelf.search_notes(QUERY)
            assert found[0].note.title == "Checkout tokens"
            assert shelf.explain(QUERY, found[0].note.id).found
            assert shelf.get_note("Feed", session="one").hits == 1
            assert len(shelf.list_notes()) == 3


def test_an_explanation_is_the_same_with_and_without_the_search_before_it(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path) as shelf:
        filled(shelf)
        shelf.add_link("Feed", "Checkout tokens", "both are signed")
    with NuggetShelf(tmp_path) as shelf, NuggetShelf(tmp_path) as afresh:
        found = shelf.search_notes(QUERY, session=None)
        assert len(found) > 1
        for result in found:
            explained = shelf.explain(QUERY, result.note.id)
            assert explained == afresh.explain(QUERY, result.note.id)
            assert abs(explained.relevance - result.relevance) < 1e-6


def test_a_search_among_unsaved_notes_keeps_nobody_from_writing(tmp_path: Path) -> None:
    gathering, other = NuggetShelf(tmp_path, auto_save=False), NuggetShelf(tmp_path)
    filled(gathering)
    with gathering.snapshot():
        [best, *_] = gathering.search_notes(QUERY, session=None)
        other.create_note("project", "Checkout tokens", "They are signed with Ed25519.")
        assert gathering.search_notes(QUERY, session=None)[0] == best

    contents = {found.note.content for found in gathering.search_notes(QUERY, session=None)}
    assert {"They are signed with RS256.", "They are signed with Ed25519."} <= contents


def test_unsaved_notes_are_found_as_if_they_were_saved(tmp_path: Path) -> None:
    gathering = NuggetShelf(tmp_path, auto_save=False, project="")
    filled(gathering)
    gathering.remember("project", "port", "80")
    gathering.delete_note("Feed", hard=True)
    gathering.remember("project", "port", "8080")

    assert gathering.recall("port").answer == "8080"
    assert not gathering.search_notes("sorted by date")
    before = [(f.note.title, f.score) for f in gathering.search_notes(QUERY, session=None)]
    gathering.save_all()
    saved = NuggetShelf(tmp_path, project="")
    assert [(f.note.title, f.score) for f in saved.search_notes(QUERY, session=None)] == before
