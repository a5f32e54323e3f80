"""Vectors of a shelf in a PostgreSQL database."""

from collections.abc import Sequence

from nuggets import NuggetShelf
from postgresql_server import Server

CONCEPTS = ({"car", "vehicle"}, {"fix", "repaired"}, {"bread", "oven"})


def concepts(texts: Sequence[str]) -> list[list[float]]:
    """How many words of a text belong to each concept."""
    split = [text.lower().replace(".", " ").split() for text in texts]
    return [
        [0.01 + sum(word in concept for word in words) for concept in CONCEPTS] for words in split
    ]


def titles(shelf: NuggetShelf) -> set[str]:
    found = shelf.search_notes("who can fix the car", 10, session=None)
    return {result.note.title for result in found}


def fill(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "Garage", "They repaired our vehicle on Monday.")
    shelf.create_note("n", "Street", "The car is parked on the left.")
    shelf.create_note("n", "Kitchen", "Bake bread in the hot oven.")


def test_a_note_in_other_words_is_found_and_removing_leaves_the_neighbours_vectors(
    postgresql_server: Server,
) -> None:
    urls = [postgresql_server.url(f"meaning {number}") for number in range(2)]
    with (
        NuggetShelf(urls[0], project="", encoder=concepts) as shelf,
        NuggetShelf(urls[1], project="", encoder=concepts) as neighbour,
    ):
        fill(shelf)
        fill(neighbour)
        assert titles(shelf) == {"Street"}
        shelf.encoder.update()
        assert titles(shelf) == {"Street", "Garage"}
        assert titles(neighbour) == {"Street"}
        assert neighbour.encoder.status()[-2:] == (0, 0)

        neighbour.encoder.update()
        assert shelf.encoder.remove()

        assert titles(shelf) == {"Street"}
        assert titles(neighbour) == {"Street", "Garage"}
        assert neighbour.encoder.status()[-2:] == (3, 0)


def test_another_process_follows_changes_in_vectors_that_were_made_meanwhile(
    postgresql_url: str,
) -> None:
    with (
        NuggetShelf(postgresql_url, project="") as other,
        NuggetShelf(postgresql_url, project="", encoder=concepts) as shelf,
    ):
        fill(other)
        shelf.encoder.update()
        assert titles(shelf) == {"Street", "Garage"}

        other.edit_note("Garage", content="It is closed.")
        other.purge("Kitchen")

        assert titles(shelf) == {"Street"}
        assert shelf.encoder.status()[-2:] == (1, 1)
        shelf.encoder.update_waiting(60)
        assert shelf.encoder.status()[-2:] == (2, 0)
        assert list(shelf.checkup()) == []
