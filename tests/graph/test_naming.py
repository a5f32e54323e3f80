import pytest

from graph_samples import by_id, sample
from nuggets.domain.names_and_tags import checked_nugget_name
from nuggets.errors import Ambiguous, InvalidInput, NotFound
from nuggets.operations.argument_checks import resolve

AUTH = sample(0xA1B2C3D4, title="Auth middleware")
TOKEN = sample(0xA1FF0000, title="Café tokens")
OTHER = sample(0xDEADBEEF, title="auth MIDDLEWARE", nugget="project")
NOTES = by_id(AUTH, TOKEN, OTHER)


def test_an_id_names_a_note_in_every_nugget() -> None:
    assert resolve(NOTES, AUTH.id) is AUTH
    assert resolve(NOTES, f" {AUTH.id} ", nugget="project") is AUTH


def test_a_title_names_a_note_whatever_its_case_and_composition() -> None:
    assert resolve(NOTES, " CAFE\u0301 tokens ") is TOKEN
    assert resolve(NOTES, "Auth Middleware", nugget="Project") is OTHER


def test_the_beginning_of_an_id_names_a_note_when_it_is_the_only_one() -> None:
    assert resolve(NOTES, "note-learnings-a1b") is AUTH
    assert resolve(NOTES, "NOTE-P") is OTHER


def test_the_beginning_of_two_ids_names_neither_whoever_asks() -> None:
    ours, theirs = AUTH._replace(project="/ours"), TOKEN._replace(project="/theirs", hidden=True)

    with pytest.raises(Ambiguous):
        resolve(by_id(ours, theirs), "note-learnings-a1", project="/ours")


def test_the_whole_tail_of_an_id_names_a_note_and_a_part_of_it_does_not() -> None:
    assert resolve(NOTES, "deadbeef") is OTHER
    with pytest.raises(NotFound):
        resolve(NOTES, "dead")
    with pytest.raises(NotFound):
        resolve(NOTES, "learnings-a1b2c3d4")


def test_a_title_wins_over_the_beginning_of_an_id() -> None:
    titled = sample(9, title="note-project")

    assert resolve(by_id(*NOTES.values(), titled), "note-project") is titled


@pytest.mark.parametrize("name", ["note", "note-", "n"])
def test_a_kind_alone_names_no_note(name: str) -> None:
    with pytest.raises(NotFound):
        resolve(by_id(AUTH), name)


def test_an_ambiguous_name_lists_the_candidates() -> None:
    with pytest.raises(Ambiguous) as refusal:
        resolve(NOTES, "auth middleware")

    for note in (AUTH, OTHER):
        assert f"{note.id} ({note.title!r} in {note.nugget_name})" in str(refusal.value)
    with pytest.raises(Ambiguous, match="2 notes"):
        resolve(NOTES, "note-learnings-a1")


HERE, THERE = "/home/me/here/.git", "/home/me/there/.git"
OURS, THEIRS, EVERYBODYS = (
    sample(n, title="test cmd", kind="fact")._replace(project=project)
    for n, project in enumerate((HERE, THERE, ""))
)


def test_of_equal_names_the_project_that_asks_means_its_own() -> None:
    notes = by_id(THEIRS, EVERYBODYS, OURS)

    assert resolve(notes, "test cmd", project=HERE) is OURS
    assert resolve(notes, "test cmd", project=THERE) is THEIRS
    assert resolve(notes, "test cmd", project="") is EVERYBODYS
    assert resolve(notes, "test cmd", project="/home/me/elsewhere/.git") is EVERYBODYS
    assert resolve(by_id(THEIRS), "test cmd", project=HERE) is THEIRS
    assert resolve(notes, THEIRS.id, project=HERE) is THEIRS


def test_of_equal_names_in_one_project_none_is_meant() -> None:
    twin = OURS._replace(id="fact-other-00000009", nugget_name="other")

    with pytest.raises(Ambiguous, match="2 notes"):
        resolve(by_id(OURS, twin, THEIRS), "test cmd", project=HERE)


def test_one_in_sight_wins_over_an_archived_one_of_the_project() -> None:
    notes = by_id(OURS._replace(hidden=True), THEIRS)

    assert resolve(notes, "test cmd", project=HERE) is THEIRS


def test_the_candidates_say_which_project_they_belong_to() -> None:
    with pytest.raises(Ambiguous) as refusal:
        resolve(by_id(OURS, THEIRS, EVERYBODYS), "test cmd")

    for note, home in ((OURS, ", project here"), (THEIRS, ", project there"), (EVERYBODYS, "")):
        assert f"{note.id} ('test cmd' in learnings{home})" in str(refusal.value)


def test_a_long_list_of_candidates_says_how_many_more() -> None:
    with pytest.raises(Ambiguous, match=r"any of 12 notes.*and 2 more"):
        resolve(by_id(*(sample(n, title="x") for n in range(12))), "x")


def test_of_equal_titles_the_one_in_sight_is_meant() -> None:
    hidden = OTHER._replace(hidden=True)

    assert resolve(by_id(AUTH, hidden), "auth middleware") is AUTH
    assert resolve(by_id(hidden), "auth middleware") is hidden


def test_a_name_that_means_nothing_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(NotFound, match=r"'nowhere'.*list the notes"):
        resolve(NOTES, "nowhere")
    with pytest.raises(NotFound, match="in nugget 'project'"):
        resolve(NOTES, "Café tokens", nugget="project")
    with pytest.raises(NotFound, match="did you mean 'Auth middleware'"):
        resolve(NOTES, "auth midleware")
    with pytest.raises(InvalidInput, match="its id, its title"):
        resolve(NOTES, " ")


@pytest.mark.parametrize(
    "name",
    [
        *("project", "My notes", "a-b_c.d", "v1.2", "設定", "हिन्दी", "Übung", "x" * 64, "9", "-"),
        *("graph", "journal", "console", "nully", "com", "com10", "a.con"),
    ],
)
def test_names_of_nuggets_are_taken_as_they_are(name: str) -> None:
    assert checked_nugget_name(name) == name


def test_the_name_of_a_nugget_is_composed() -> None:
    assert checked_nugget_name("Cafe\u0301") == "Café"


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("", "1 to 64"),
        ("x" * 65, "this one has 65"),
        ("𠀀" * 64, "200 bytes"),
        ("a/b", "only letters.*'/'"),
        ("a\\b", "only letters"),
        ("/etc", "only letters"),
        ("a:b", "only letters"),
        ("a\tb", "only letters"),
        ("a\nb", "only letters"),
        ("a%2fb", "only letters"),
        ("a\u202eb", "only letters"),
        ("a\u200bb", "only letters"),
        ("a²", "only letters"),
        ("😀", "only letters"),
        ("~", "only letters"),
        ("a\0", "NUL"),
        ("\ud800", "surrogate"),
        ("..", "begin or end"),
        (".hidden", "begin or end"),
        ("dot.", "begin or end"),
        ("blank ", "begin or end"),
        (" blank", "begin or end"),
        (" ", "begin or end"),
        ("CON", "device"),
        ("nul.txt", "device"),
        ("Com1", "device"),
        ("lpt9.a.b", "device"),
        ("aux .x", "device"),
    ],
)
def test_a_name_that_is_no_safe_file_is_refused_with_what_is_allowed(
    name: str, complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        checked_nugget_name(name)
