"""Bad input from outside: a clear error that says what to do, and nothing lost."""

import os
from pathlib import Path

import pytest

from command_line import Nuggets, NuggetsProcess, Prepare

MEBIBYTE = 1024 * 1024


@pytest.fixture(autouse=True)
def _filled(prepare: Prepare) -> None:
    prepare("remember n known value", "note add n Note words")


def is_untouched(nuggets: Nuggets) -> bool:
    notes = nuggets("note", "list", "--all", "--json").json
    return [(note["title"], note["content"]) for note in notes] == [
        ("known", "value"),
        ("Note", "words"),
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("remember", "n", "", "v"), 2, "key must not be empty"),
        (("remember", "n", "  ", "v"), 2, "key must not be empty"),
        (("remember", "n", "known", ""), 2, "value must not be empty"),
        (("remember", "n", "known", "  "), 2, "value must not be empty"),
        (("remember", "", "k", "v"), 2, "1 to 64 characters"),
        (("remember", "../x", "k", "v"), 2, "letters, digits"),
        (("remember", "CON", "k", "v"), 2, "device"),
        (("remember", ".hidden", "k", "v"), 2, "dot"),
        (("remember", "x" * 300, "k", "v"), 2, "64 characters"),
        (("remember", "n", "x" * 513, "v"), 2, "512"),
        (("remember", "n", "known", "v", "--scope", "world"), 2, "scope must be one of"),
        (("remember", "n", "known", "v", "--confidence", "high"), 2, "number from 0 to 1"),
        (("remember", "n", "known", "v", "--confidence", "nan"), 2, "number from 0 to 1"),
        (("recall", "x", "--nugget", "nope"), 1, "there is no nugget 'nope'"),
        (("forget", "nope", "k"), 1, "there is no nugget 'nope'"),
        (("facts", "nope"), 1, "there are: n"),
        (("status", "nope"), 1, "there are: n"),
        (("clear", "nope", "--yes"), 1, "there is no nugget"),
        (("remove", "nope", "--yes"), 1, "there is no nugget"),
        (("note", "add", "n", "", "c"), 2, "title must not be empty"),
        (("note", "show", "nope"), 1, "no note is called 'nope'"),
        (("note", "show", ""), 2, "name a note"),
        (("note", "edit", "nope", "x"), 1, "no note is called 'nope'"),
        (("note", "edit", "Note", "--title", " "), 2, "title must not be empty"),
        (("note", "delete", "nope"), 1, "no note is called 'nope'"),
        (("note", "merge", "Note", "Note"), 2, "itself"),
        (("note", "merge", "Note", "nope"), 1, "no note is called 'nope'"),
        (("link", "Note", "Note"), 2, "itself"),
        (("link", "Note", "nope"), 1, "no note is called 'nope'"),
        (("link", "Note", "known", "r" * 513), 2, "512"),
        (("search", ""), 2, "query is empty"),
        (("search", "x", "--limit", "0"), 2, "at least 1"),
        (("search", "x", "--limit", "-1"), 2, "at least 1"),
        (("graph", "nope"), 1, "no note is called 'nope'"),
        (("list", "--dir", ""), 2, "empty"),
        (("remember", "n", "k", "v", "--dir", "redis://x"), 1, "no store is known for redis:"),
        (("list", "--dir", "sqlite:/tmp/x.db"), 1, "no store is known for sqlite:"),
        (("note", "merge", "Note", "known"), 2, "its key 'known' would answer no more"),
    ],
)
def test_bad_input_is_named_and_nothing_changes(
    nuggets: Nuggets, arguments: tuple[str, ...], code: int, says: str
) -> None:
    done = nuggets(*arguments)

    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert is_untouched(nuggets)


def test_an_ambiguous_name_lists_the_candidates(nuggets: Nuggets) -> None:
    nuggets("note", "add", "m", "note", "c")

    done = nuggets("note", "delete", "Note", "--hard")

    assert done.code == 1
    assert "note-n-" in done.err
    assert "note-m-" in done.err


def test_a_mebibyte_is_kept_and_a_byte_more_is_refused(nuggets: Nuggets) -> None:
    kept = nuggets("remember", "n", "big", "-", stdin="x" * MEBIBYTE)
    refused = nuggets("remember", "n", "big", "-", stdin="y" * (MEBIBYTE + 1))

    assert (kept.code, refused.code) == (0, 2)
    assert str(MEBIBYTE) in refused.err
    assert nuggets("recall", "big", "--json").json["answer"] == "x" * MEBIBYTE


def test_nul_is_refused(nuggets: Nuggets) -> None:
    done = nuggets("remember", "n", "known", "-", stdin=b"a\0b")

    assert done.code == 2
    assert "NUL" in done.err
    assert is_untouched(nuggets)


@pytest.mark.parametrize(
    "arguments",
    [
        (b"remember", b"n", b"key", b"\xff\xfe"),
        (b"remember", b"n", b"k\xe9y", b"v"),
        (b"remember", b"n\xff", b"key", b"v"),
        (b"recall", b"\xff"),
        (b"recall", b"known", b"--session", b"\xff"),
        (b"search", b"\xff"),
        (b"note", b"add", b"n", b"t", b"c", b"--tag", b"\xff"),
        (b"note", b"show", b"\xff"),
    ],
)
def test_arguments_that_are_no_utf8_are_refused(
    nuggets: Nuggets, nuggets_process: NuggetsProcess, arguments: tuple[bytes, ...]
) -> None:
    done = nuggets_process(*arguments)

    assert (done.code, done.out) == (2, "")
    assert "UTF-8" in done.err
    assert is_untouched(nuggets)


@pytest.mark.parametrize("arguments", [(b"list", b"--bog\xffus"), (b"bog\xffus",)])
def test_a_usage_error_with_such_bytes_is_still_one(
    nuggets_process: NuggetsProcess, arguments: tuple[bytes, ...]
) -> None:
    plain = nuggets_process(*arguments)
    as_json = nuggets_process(*arguments, b"--json")

    assert plain.code == as_json.code == 2
    assert "Traceback" not in plain.err
    assert as_json.json["error"]["code"] == "invalid_input"


def test_a_session_from_the_environment_that_is_no_utf8_is_refused(
    nuggets: Nuggets, nuggets_process: NuggetsProcess
) -> None:
    done = nuggets_process("recall", "known", env={"NUGGETS_SESSION": os.fsdecode(b"\xff")})

    assert done.code == 2
    assert "Traceback" not in done.err


@pytest.mark.parametrize("arguments", [("remember", "n", "k", "v"), ("list",), ("recall", "k")])
def test_a_file_where_the_directory_should_be_is_a_clear_error(
    nuggets: Nuggets, directory: Path, arguments: tuple[str, ...]
) -> None:
    (directory / "file").write_text("precious")

    done = nuggets("--dir", str(directory / "file"), *arguments)

    assert (done.code, done.out) == (1, "")
    assert str(directory / "file") in done.err
    assert (directory / "file").read_text() == "precious"


@pytest.mark.parametrize("place", ["n.nugget.json", "graph/graph.json"])
def test_a_directory_where_a_file_should_be_is_a_clear_error(
    nuggets: Nuggets, directory: Path, place: str
) -> None:
    (directory / place).mkdir(parents=True)

    done = nuggets("--dir", str(directory), "list")

    assert done.code == 1
    assert place in done.err


@pytest.mark.parametrize(
    "content",
    [b"{", b"", b"null", b"[]", b'{"version": 3, "notes": 5}', b'{"version":3,"notes":[NaN]}'],
)
def test_a_damaged_file_is_named_and_never_overwritten(
    nuggets: Nuggets, directory: Path, content: bytes
) -> None:
    nuggets("--dir", str(directory), "remember", "n", "k", "v")
    path = directory / "graph" / "graph.json"
    path.write_bytes(content)

    done = nuggets("--dir", str(directory), "remember", "n", "other", "v")
    recalled = nuggets("--dir", str(directory), "recall", "other", "--json")

    assert done.code == recalled.code == 0
    assert recalled.json["answer"] == "v"
    for said in (done, recalled):
        assert "graph.json" in said.err
        assert "doctor --fix" in said.err
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"{", b"", b'{"version": 4, "name": "n", "facts": [5]}'])
def test_a_damaged_file_found_at_the_first_opening_keeps_everything_out(
    nuggets: Nuggets, directory: Path, content: bytes
) -> None:
    path = directory / "n.nugget.json"
    path.write_bytes(content)

    done = nuggets("--dir", str(directory), "remember", "m", "k", "v")

    assert done.code == 1
    assert "n.nugget.json" in done.err
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "query",
    ["a", "😀", "\u202e", ".*", "(", "[", "\\", "%", "'", '"', "-- -x", "*" * 500, "word " * 10000],
)
def test_no_query_breaks_recall_or_search(nuggets: Nuggets, query: str) -> None:
    recalled = nuggets("recall", query)
    searched = nuggets("search", query)

    assert recalled.code in (0, 1)
    assert searched.code in (0, 1)
    assert recalled.err == searched.err == ""
