"""An index that one process keeps and another takes up."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggets.records import Changes, MemoryNote, NoteFilterOptions, NoteLink
from nuggets.search import index as index_module
from nuggets.search import reading
from nuggets.search.index import WORTH_KEEPING, SearchIndex
from nuggets.search.keeping import FORMAT, fingerprint
from searchable import index_of, linked, note

WORDS = "red green blue walk walked jump token server anna bob Straße 設定 createNote May 5 2025 ?"
SOME_WORDS = st.lists(st.sampled_from(WORDS.split()), max_size=6).map(" ".join)
IDS = st.integers(0, 7)
QUERIES = ("red walk", "tokne server", "anna 5 May 2025", "when did bob jump", "strasse", "設定")


@st.composite
def shelves(draw: st.DrawFn) -> dict[str, MemoryNote]:
    numbers = draw(st.lists(IDS, unique=True, max_size=8))
    made = [
        note(
            number,
            draw(SOME_WORDS),
            draw(SOME_WORDS),
            *draw(st.lists(st.sampled_from(["s1", "s2", "s3"]), max_size=3, unique=True)),
            links=tuple(
                NoteLink(note(other, "", "").id, "next", "")
                for other in draw(st.lists(IDS, max_size=3, unique=True))
                if other != number
            ),
            hidden=draw(st.booleans()),
        )
        for number in numbers
    ]
    return {one.id: one for one in made}


@pytest.fixture(autouse=True)
def every_note_is_worth_keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "WORTH_KEEPING", 0)


def kept_by(index: SearchIndex) -> bytes:
    index.search("anything")
    kept = index.to_keep()
    assert kept is not None
    return b"".join(kept)


def taken_up(kept: bytes, *notes: MemoryNote) -> SearchIndex:
    index = SearchIndex(kept)
    index.apply(Changes(put=notes))
    return index


def answers(index: SearchIndex) -> list[list[tuple[str, float]]]:
    return [
        [(r.note.id, round(r.relevance, 7)) for r in index.search(query, 10, filters)]
        for query in QUERIES
        for filters in (NoteFilterOptions(), NoteFilterOptions(include_hidden=True, tag="s1"))
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(shelves(), min_size=1, max_size=3), shelves())
def test_an_index_taken_up_answers_like_one_made_afresh(
    before: list[dict[str, MemoryNote]], now: dict[str, MemoryNote]
) -> None:
    index = SearchIndex()
    held: dict[str, MemoryNote] = {}
    for notes in before:  # with gaps, links to nobody and several runs
        gone = tuple(held.keys() - notes.keys())
        index.apply(Changes(put=tuple(notes.values()), drop=gone))
        index.search("red")
        held = notes

    assert answers(taken_up(kept_by(index), *now.values())) == answers(index_of(*now.values()))
    assert answers(index) == answers(index_of(*held.values()))


def test_an_index_taken_up_goes_on_following_changes() -> None:
    notes = [note(i, f"matter {i}", f"content {i} of number{i}") for i in range(5)]
    index = taken_up(kept_by(index_of(*notes)), *notes)
    index.search("anything")

    edited = notes[2]._replace(content="a walrus")
    index.apply(Changes(put=(edited, note(9, "late", "comes later")), drop=(notes[0].id,)))

    assert index.search("walrus")[0].note == edited
    assert index.search("late")[0].note.title == "late"
    assert notes[0] not in [r.note for r in index.search("number0 content")]


def test_only_what_is_new_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = [note(i, f"matter {i}", f"content {i}") for i in range(20)]
    kept = kept_by(index_of(*notes))
    read: list[str] = []

    def watched(some, vocabulary):  # type: ignore[no-untyped-def]
        read.extend(one.id for one in some)
        return reading.read(some, vocabulary)

    monkeypatch.setattr("nuggets.search.collection.read", watched)
    notes[3] = notes[3]._replace(content="changed")
    late = note(77, "late", "")
    taken_up(kept, *notes[1:], late).search("content")

    assert sorted(read) == sorted([notes[3].id, late.id])


def test_what_is_gone_is_not_in_an_index_taken_up() -> None:
    a, b = linked(note(1, "walrus", "tusks"), note(2, "seal", "whiskers"))
    index = taken_up(kept_by(index_of(a, b)), b._replace(links=()))

    assert index.search("walrus tusks") == []
    assert [r.note.title for r in index.search("seal")] == ["seal"]


def test_no_word_of_a_note_that_is_gone_is_kept() -> None:
    stays = note(1, "walrus", "tusks", "animals")
    goes = note(2, "Hunter2 the password", "sesame createSesame öffne", "vault")
    index = index_of(stays, goes)
    index.search("sesame")
    index.apply(Changes(drop=(goes.id,)))

    kept = kept_by(index)

    for word in ("hunter", "password", "sesame", "createSesame", "createsesam", "vault", goes.id):
        assert word.encode() not in kept
    assert "öffne".encode() not in kept
    assert b"walrus" in kept
    assert index.search("walrus")
    assert index.search("sesame") == []
    assert [r.note.id for r in taken_up(kept, stays).search("animals")] == [stays.id]


def test_nor_one_of_an_earlier_version_of_a_note() -> None:
    before = note(1, "walrus", "sesames")
    now = before._replace(content="tusks")
    index = taken_up(kept_by(index_of(before)), now, note(2, "door", "sesame"))

    assert b"sesames" not in kept_by(index)
    assert index.search("tusks")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda kept: b"",
        lambda kept: b"\0",
        lambda kept: kept[: len(kept) // 2],
        lambda kept: kept[:-9] + bytes([kept[-9] ^ 1]) + kept[-8:],
        lambda kept: kept.replace(FORMAT.encode(), b"nuggets search index 0"),
        lambda kept: b"{}\n" + kept,
    ],
)
def test_bytes_that_are_no_index_do_no_harm(spoil) -> None:  # type: ignore[no-untyped-def]
    notes = [note(i, f"matter {i}", f"content {i}") for i in range(5)]
    index = taken_up(spoil(kept_by(index_of(*notes))), *notes)

    assert answers(index) == answers(index_of(*notes))
    assert index.search("matter 3")[0].note == notes[3]


def test_names_that_cannot_be_written_down_are_no_reason_to_fail() -> None:
    index = index_of(note(1, "a", "b")._replace(subject="user:\nprimary"))
    index.search("a")

    assert index.to_keep() is None
    assert index.search("a")


def test_a_few_new_notes_are_not_worth_keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "WORTH_KEEPING", WORTH_KEEPING)
    few = [note(i, f"n{i}", "x") for i in range(WORTH_KEEPING - 1)]
    index = index_of(*few)
    index.search("n1")
    assert index.to_keep() is None

    index.apply(Changes(put=(note(WORTH_KEEPING, "one", "more"),)))
    index.search("n1")

    assert index.to_keep() is not None
    assert index.to_keep() is None, "it was just kept"


@pytest.mark.parametrize(
    "change",
    [
        {"title": "other"},
        {"content": "other"},
        {"tags": ("other",)},
        {"nugget_name": "other"},
        {"kind": "fact"},
        {"subject": "other"},
        {"scope": "shared"},
        {"type": "style"},
        {"created_at": "2020-01-01T00:00:00.000Z"},
        {"confidence": 0.5},
        {"stability": "temporary"},
        {"links": (NoteLink("note-n-00000009", "r", ""),)},
    ],
)
def test_whatever_an_index_looks_at_is_in_the_fingerprint(change: dict[str, object]) -> None:
    one = note(1, "title", "content")

    assert fingerprint(one._replace(**change)) != fingerprint(one)  # type: ignore[arg-type]
    assert fingerprint(one._replace(hits=7, last_accessed_at="x")) == fingerprint(one)
