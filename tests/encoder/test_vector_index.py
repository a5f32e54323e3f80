"""The vectors of notes as an index that the store keeps, with an encoder that counts letters."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from in_memory import InMemoryStore
from nuggets.domain.records import Changes
from nuggets.encoder import vector_index
from nuggets.encoder.quantized_vectors import encode_note
from nuggets.encoder.vector_index import NoteText, VectorIndex
from nuggets.operations.transactions import KINDS
from nuggets.stores.sqlite.store import SqliteStore
from searchable import note

CAT, DOG, TAX = (
    note(1, "cat", "a cat sits"),
    note(2, "dog", "a dog runs"),
    note(3, "tax", "the tax is due"),
)


def letters(text: str) -> list[float]:
    return [text.count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"]


@pytest.fixture
def store() -> Iterator[InMemoryStore]:
    opened = InMemoryStore()
    opened.write(Changes(put=(CAT, DOG)))
    opened.enable_index("encoder")
    yield opened
    opened.close()


def index_of(store: SqliteStore) -> VectorIndex:
    index: VectorIndex = store.indexes["encoder"]
    return index


def encode_all(store: SqliteStore, encoder: str = "letters") -> None:
    with store.exclusive():
        index = index_of(store)
        rows = index.pending(100)
        index.add(encoder, rows, [letters(" ".join(text)) for _, _, text in rows])
        store.touch(())


def nearest(store: SqliteStore, text: str, encoder: str = "letters") -> list[str]:
    with store.reading():
        cosines = index_of(store).compare(encoder, letters(text))
        return [] if cosines is None else cosines.nearest(5)


def test_a_shelf_has_no_vectors_until_they_are_enabled() -> None:
    store = InMemoryStore()
    store.write(Changes(put=(CAT,)))

    assert not store.has_index("encoder")

    store.enable_index("encoder")
    store.enable_index("encoder")

    assert store.has_index("encoder")
    assert index_of(store).counts == (0, 1)


def test_notes_wait_for_the_encoder_and_are_compared_when_they_have_a_vector(
    store: InMemoryStore,
) -> None:
    assert nearest(store, "cat") == []

    encode_all(store)

    assert index_of(store).counts == (2, 0)
    assert nearest(store, "a cat sits") == [CAT.id, DOG.id]
    assert index_of(store).check() == []


def test_a_note_that_changed_waits_again_and_one_that_is_gone_leaves_nothing(
    store: InMemoryStore,
) -> None:
    encode_all(store)

    store.write(Changes(put=(CAT._replace(content="a cat sleeps"), TAX)))
    assert index_of(store).counts == (1, 2)
    assert nearest(store, "cat") == [DOG.id]

    store.write(Changes(put=(DOG._replace(hidden=True),), drop=(CAT.id,)))
    assert index_of(store).counts == (0, 1)
    assert index_of(store).check() == []


def test_a_process_that_compared_before_follows_its_own_changes(store: InMemoryStore) -> None:
    encode_all(store)
    assert nearest(store, "cat") == [CAT.id, DOG.id]

    store.write(Changes(put=(CAT._replace(content="a tax on cats"), TAX), drop=(DOG.id,)))
    assert nearest(store, "cat") == []
    encode_all(store)

    kept = nearest(store, "the tax is due")
    store.indexes["encoder"].forget_traces([])  # reads all vectors again
    assert kept == nearest(store, "the tax is due") == [TAX.id, CAT.id]


def test_what_says_nothing_new_keeps_its_vector(store: InMemoryStore) -> None:
    encode_all(store)

    store.write(Changes(put=(CAT._replace(tags=("pets",), confidence=0.5),)))

    assert index_of(store).counts == (2, 0)


def test_a_vector_of_a_text_that_changed_meanwhile_is_not_kept(store: InMemoryStore) -> None:
    index = index_of(store)
    rows = index.pending(100)
    store.write(Changes(put=(CAT._replace(content="a cat sleeps"),)))
    index.add("letters", rows, [letters(" ".join(text)) for _, _, text in rows])

    store.touch(())

    assert index_of(store).counts == (1, 1)
    assert nearest(store, "dog") == [DOG.id]


def test_vectors_of_another_encoder_are_never_compared_and_go_when_it_encodes(
    store: InMemoryStore,
) -> None:
    encode_all(store, "first")

    assert nearest(store, "cat", "second") == []

    store.write(Changes(put=(TAX,)))
    encode_all(store, "second")

    assert index_of(store).counts == (1, 2)
    assert nearest(store, "cat", "second") == [TAX.id]


def test_disabling_drops_the_vectors_and_later_writes_do_without(store: InMemoryStore) -> None:
    encode_all(store)

    store.disable_index("encoder")
    store.write(Changes(put=(TAX,)))

    assert not store.has_index("encoder")


def test_another_process_may_enable_and_drop_the_vectors(directory: Path) -> None:
    here, there = (SqliteStore(str(directory), KINDS) for _ in range(2))
    here.write(Changes(put=(CAT,)))
    there.enable_index("encoder")
    here.write(Changes(put=(DOG,)))
    encode_all(there)
    with here.reading():
        assert index_of(here).counts == (2, 0)

    there.disable_index("encoder")
    here.write(Changes(put=(TAX,)))

    with here.reading():
        assert not here.has_index("encoder")
        assert len(here.state.notes) == 3
    here.close()
    there.close()


def test_a_doctor_finds_vectors_that_are_left_out(store: InMemoryStore) -> None:
    encode_all(store)
    index = index_of(store)

    index.rebuild([(1, CAT)])

    assert index.check() == ["the vectors are of 1 notes, and 2 should have one"]


def test_of_many_vectors_those_of_the_newest_notes_are_compared(
    store: InMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "MOST_COMPARED", 2)
    store.write(Changes(put=(TAX,)))
    encode_all(store)

    assert set(nearest(store, "cat")) == {DOG.id, TAX.id}


def test_a_title_counts_more_than_as_many_words_of_the_content() -> None:
    class Letters:
        name = "letters"

        def encode(self, texts: Sequence[str]) -> list[list[float]]:
            return [letters(text) for text in texts]

    def share(letter: str) -> float:
        vector = encode_note(Letters(), NoteText("aaa", "bbb"))
        return float(vector[ord(letter) - ord("a")])

    assert share("a") > 1.2 * share("b") > 0
