"""The note graph as documented, through the public API: what no other test shows."""

import json
from pathlib import Path
from typing import Any

import pytest

from nuggets import GraphNoteMetaInput, Nugget, NuggetShelf
from nuggets.errors import InvalidInput
from nuggets.interfaces.mcp.server import FEW_TOOLS
from nuggets.search.weights import WEIGHTS


def graph(directory: Path) -> dict[str, Any]:
    shape: dict[str, Any] = json.loads((directory / "graph" / "graph.json").read_text())
    return shape


def test_notes_of_all_nuggets_lie_in_one_file_beside_one_file_of_facts_each(
    directory: Path,
) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.create_note("project", "One", "first")
        shelf.create_note("locations", "Two", "second")
        shelf.remember("locations", "k", "v")

    owners = {note["title"]: note["nuggetName"] for note in graph(directory)["notes"]}

    assert owners == {"One": "project", "Two": "locations", "k": "locations"}
    assert [path.name for path in (directory / "graph").glob("*.json")] == ["graph.json"]
    assert sorted(path.name for path in directory.glob("*.json")) == [
        "locations.nugget.json",
        "project.nugget.json",
    ]


def test_without_a_directory_it_is_dot_nuggets_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUGGETS_DIR")
    nugget = Nugget("project")
    nugget.create_note("Auth", "JWT")
    nugget.shelf.close()

    assert graph(Path("~/.nuggets").expanduser())["notes"][0]["title"] == "Auth"


def test_the_graph_holds_a_recipe_of_each_vector_and_no_vector(directory: Path) -> None:
    with NuggetShelf(directory) as shelf:
        shelf.create_note("n", "Auth handler", "In the file src/auth.ts.", ["Files"])

    [note] = graph(directory)["notes"]
    basis = note["vector"]["basis"]

    assert set(note["vector"]) == {"seed", "basis"}
    assert {"title:auth", "title:handler", "tag:files", "content:src", "kind:note"} <= set(basis)
    assert note["vector"]["seed"] == len("|".join(basis))
    assert all(isinstance(part, str) for part in basis)


def test_a_recipe_has_at_most_twenty_parts_however_long_the_note(shelf: NuggetShelf) -> None:
    words = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    note = shelf.create_note("n", words, words * 50, [f"tag{n}" for n in range(30)])

    assert len(note.vector.basis) == 20


def test_the_graph_of_many_notes_stays_small(directory: Path) -> None:
    with NuggetShelf(directory) as shelf, shelf.batch():
        for number in range(100):
            shelf.create_note("n", f"Note {number}", f"Some words about the matter {number}.")

    size = (directory / "graph" / "graph.json").stat().st_size

    assert size / 100 < 16384 / 10  # a tenth of a byte for each element of each vector


def test_metadata_given_in_a_record_override_what_is_inferred(shelf: NuggetShelf) -> None:
    given = GraphNoteMetaInput(type="relationship", scope="shared", confidence=0.5)

    note = shelf.create_note("n", "Ada and Grace", "They work together.", meta=given)
    edited = shelf.edit_note(note.id, meta=GraphNoteMetaInput(type="style"))
    fact = shelf["n"].remember("Ada", "works with Grace", meta=given, confidence=0.25)
    alike = shelf.create_note("n", "Copied", "The same.", meta=note.metadata)
    plain = shelf.create_note("n", "Plain", "As a mapping.", meta={"scope": "self"})

    assert (note.type, note.scope, note.confidence) == ("relationship", "shared", 0.5)
    assert (edited.type, edited.scope, edited.confidence) == ("style", "shared", 0.5)
    assert (fact.type, fact.scope, fact.confidence) == ("relationship", "shared", 0.25)
    assert alike.metadata == note.metadata
    assert plain.scope == "self"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"meta": ["self"]}, "meta must be a GraphNoteMetaInput or a mapping"),
        ({"meta": {"colour": "red"}}, "no metadata called colour"),
        ({"meta": GraphNoteMetaInput(scope="all")}, "scope must be one of"),  # type: ignore[arg-type]
        ({"meta": GraphNoteMetaInput(confidence=None, valid_from="soon")}, "valid_from: 'soon'"),
        ({"tags": GraphNoteMetaInput()}, "tags must be a list of texts"),
        ({"created_at": GraphNoteMetaInput()}, "created_at: "),
        ({"kind": "note"}, "no metadata called kind"),
    ],
)
def test_an_error_names_the_argument_that_is_wrong(
    shelf: NuggetShelf, wrong: dict[str, Any], named: str
) -> None:
    with pytest.raises(InvalidInput, match=named):
        shelf.create_note("n", "Ada and Grace", "They work together.", **wrong)


@pytest.mark.parametrize(
    "word", ["title", "body", "mark", "rocket", "shared", "relationship", "apollo"]
)
def test_each_documented_field_is_searched(shelf: NuggetShelf, word: str) -> None:
    note = shelf.create_note(
        "apollo",
        "Some title",
        "Some body",
        ["mark"],
        subject="team:rocket",
        scope="shared",
        type="relationship",
    )
    shelf.create_note("n", "Pancakes", "Flour and eggs")

    assert [found.note.id for found in shelf.search_notes(word)] == [note.id]


def test_more_words_in_common_make_a_better_text_score(shelf: NuggetShelf) -> None:
    both = shelf.create_note("n", "First", "red kite flying over hills")
    one = shelf.create_note("n", "Second", "red barn standing near rivers")

    score = {r.note.id: r.text_score for r in shelf.search_notes("red kite")}

    assert score[both.id] > score[one.id] > 0


def test_stop_words_do_not_make_a_match(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "The of and", "What is this that it was for")
    wanted = shelf.create_note("n", "Deploying", "Tag, push, wait")

    found = shelf.search_notes("what is the way of deploying")

    assert found[0].note.id == wanted.id
    assert found[0].text_score > 2 * max((r.text_score for r in found[1:]), default=0.0)


@pytest.mark.parametrize(
    ("better", "worse", "difference"),
    [
        ({"stability": "durable"}, {"stability": "temporary"}, 0.05),
        ({"scope": "user"}, {"scope": "shared"}, 0.03),
        ({"scope": "self"}, {"scope": "project"}, 0.03),
        ({"confidence": 1.0}, {"confidence": 0.2}, 0.04),
    ],
)
def test_metadata_lift_a_note_a_little(
    shelf: NuggetShelf, better: dict[str, Any], worse: dict[str, Any], difference: float
) -> None:
    common: dict[str, Any] = {
        "subject": "a:b",
        "scope": "shared",
        "type": "note",
        "stability": "durable",
        "confidence": 0.9,
        "project": "",
    }
    lifted = shelf.create_note("n", "Kite", "red kite", **{**common, **better})
    plain = shelf.create_note("n", "Kite", "red kite", **{**common, **worse})

    relevance = {r.note.id: r.relevance for r in shelf.search_notes("kite")}

    assert relevance[lifted.id] - relevance[plain.id] == pytest.approx(difference, abs=1e-6)


def test_metadata_lift_a_note_by_no_more_than_0_13(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "Kite", "red kite", scope="user", confidence=1.0)

    [found] = shelf.search_notes("kite")

    lift = found.relevance - 0.42 * found.vector_score - 0.48 * found.text_score
    assert lift == pytest.approx(0.13, abs=1e-6)


def test_scores_are_the_softmax_of_relevance_at_the_documented_temperature(
    shelf: NuggetShelf,
) -> None:
    shelf.create_note("n", "Red kite", "a red kite over red hills")
    shelf.create_note("n", "Barn", "an old red barn")

    first, second = shelf.search_notes("red kite")

    assert WEIGHTS.temperature == 0.35
    assert first.score > second.score
    assert first.score / second.score == pytest.approx(
        2.718281828 ** ((first.relevance - second.relevance) / 0.35), rel=1e-3
    )


def test_the_pi_extension_offers_the_documented_graph_tools() -> None:
    text = (Path(__file__).parent.parent / ".pi" / "extensions" / "nuggets.ts").read_text()

    tools = {name: text.partition(f'"{name}",')[2].partition("tool(")[0] for name in PI_TOOLS}

    for name, (arguments, command) in PI_TOOLS.items():
        assert tools[name], name
        assert all(f"{argument}:" in tools[name] for argument in arguments)
        assert command in tools[name]


def test_agents_are_told_when_to_write_a_note_instead_of_a_fact() -> None:
    told = {tool.name: tool.listed.description or "" for tool in FEW_TOOLS}

    assert "create_note" in told["remember"]
    assert "more than a sentence" in told["create_note"]


PI_TOOLS = {
    "createNote": (("title", "content"), '"create_note"'),
    "addLink": (("note1", "note2", "reason"), '"add_link"'),
    "editNote": (("noteId", "newContent"), '"edit_note"'),
    "searchNotes": (("query",), '"search_notes"'),
}


def test_a_query_that_is_a_tag_or_the_subject_word_for_word_lifts_its_note(
    shelf: NuggetShelf,
) -> None:
    shelf.create_note("kb", "One", "alpha", ["code-review"], subject="team:backend")
    shelf.create_note("kb", "Two", "beta", ["review-code"], subject="backend:team")

    for query in ("code-review", "team:backend"):
        first, second = shelf.search_notes(query, session=None)
        assert (first.note.title, second.note.title) == ("One", "Two")
        assert first.text_score > second.text_score
