"""The commands on facts: what they print, what they count, how they end."""

import shlex
from datetime import date
from pathlib import Path

import pytest

from agent_doors import repository
from command_line import Nuggets
from nuggets import NuggetShelf
from nuggets.domain.records import SCOPES, SOURCES, STABILITIES, TYPES

KEY, VALUE = "shared:auth-handler", "src/auth/middleware.ts:47"


@pytest.fixture(autouse=True)
def _filled(nuggets: Nuggets) -> None:
    nuggets("remember", "locations", KEY, VALUE)


def the_fact(nuggets: Nuggets) -> dict[str, object]:
    [fact] = nuggets("facts", "locations", "--json").json
    found: dict[str, object] = fact
    return found


def test_a_recall_prints_key_value_how_sure_and_how_old(nuggets: Nuggets) -> None:
    done = nuggets("recall", KEY)

    assert done.lines == [
        f"Found: {KEY}",
        f"Value: {VALUE}",
        "Sure: 99 %",
        "Nugget: locations, stored just now",
    ]
    assert (done.code, done.err) == (0, "")


def test_an_answer_that_is_not_sure_says_why(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "opening hours", "9 to 5")
    nuggets("remember", "ops", "mail host", "a.internal")
    nuggets("remember", "ops", "cache host", "b.internal")

    [*_, sure, _] = nuggets("recall", "holiday opening hours").lines
    assert sure.endswith("% ('holiday' is not in the key)")
    assert nuggets("recall", "host").lines[2].endswith("% (others fit as well)")


def test_why_says_how_the_key_matched_and_the_value_was_decoded(nuggets: Nuggets) -> None:
    [*short, match, decoded] = nuggets("recall", "shared:auth-handlre", "--why").lines

    assert short[:2] == [f"Found: {KEY}", f"Value: {VALUE}"]
    assert match.startswith("Match: fuzzy 0.9")
    assert decoded == "Decoded: confidence 1.00, margin 1.00"
    assert "Match: substring 0." in nuggets("recall", "auth-handler", "--why").out


def test_a_miss_says_not_found_and_fails(nuggets: Nuggets) -> None:
    done = nuggets("recall", "favourite colour")

    assert (done.code, done.out, done.err) == (1, "Not found.\n", "")


def test_the_key_of_an_archived_fact_says_so(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "old port", "8080")
    nuggets("note", "archive", "old port")

    for question in ("old port", "what is the old port?"):
        [first, archived, *_] = nuggets("recall", question).lines

        assert first == "Not found."
        assert archived.startswith(
            "old port is archived; bring it back: nuggets note restore fact-project-"
        )


def test_a_query_may_be_several_words(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "test cmd", "make test")

    assert "Value: make test" in nuggets("recall", "test", "cmd").lines
    assert "Value: make test" in nuggets("recall", "test", "--nugget", "project", "cmd").lines


def test_recall_as_json_has_the_documented_shape(nuggets: Nuggets) -> None:
    answer = nuggets("recall", KEY, "--json").json

    assert (
        answer.items()
        >= {
            "answer": VALUE,
            "confidence": pytest.approx(1, abs=0.05),
            "margin": pytest.approx(1, abs=0.05),
            "found": True,
            "key": KEY,
            "nugget": "locations",
            "match": "exact",
            "ratio": 1.0,
        }.items()
    )


def test_a_miss_as_json_is_an_answer_and_no_error(nuggets: Nuggets) -> None:
    done = nuggets("recall", "favourite colour", "--json")

    assert done.code == 1
    assert (done.json["found"], done.json["answer"]) == (False, "")
    assert "notes" not in done.json


def test_what_no_fact_answers_the_notes_do_and_are_marked(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Deployment", "Runs on every merge to main.")

    done = nuggets("recall", "what happens on merge")

    assert done.code == 0
    assert done.lines[0] == "No fact has that key. A note answers:"
    assert "Deployment" in done.lines[1]


def test_the_notes_that_answer_are_in_the_json(nuggets: Nuggets) -> None:
    nuggets("note", "add", "project", "Deployment", "Runs on every merge to main.")

    done = nuggets("recall", "what happens on merge", "--json")

    assert done.code == 0
    assert done.json["found"] is False
    [entry] = done.json["notes"]
    assert entry.keys() == {
        *("note", "score", "vectorScore", "textScore", "relevance", "clearAnswer", "foreign")
    }
    assert entry["clearAnswer"]
    assert entry["note"]["title"] == "Deployment"


def test_notes_that_are_merely_near_are_a_miss(nuggets: Nuggets) -> None:
    nuggets("note", "add", "ops", "TLS certificate renewal", "certbot renews it.")

    done = nuggets("recall", "passport renewal")
    shape = nuggets("recall", "passport renewal", "--json")

    assert (done.code, shape.code) == (1, 1)
    assert done.lines[:2] == ["Not found.", "Nearest:"]
    assert "TLS certificate renewal" in done.lines[2]
    assert [entry["clearAnswer"] for entry in shape.json["notes"]] == [False]


def test_a_key_that_is_a_sibling_of_a_known_one_is_not_found(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "deploy cmd", "make deploy")

    done = nuggets("recall", "rollback cmd")

    assert done.code == 1
    assert done.lines[0] == "Not found."


def test_recall_in_an_unknown_nugget_fails_and_names_those_there_are(nuggets: Nuggets) -> None:
    done = nuggets("recall", KEY, "--nugget", "nope")

    assert done.code == 1
    assert "locations" in done.err


# --- sessions -----------------------------------------------------------------------------------


def test_a_day_is_one_session_by_default(nuggets: Nuggets) -> None:
    nuggets("recall", KEY)
    nuggets("recall", KEY)

    fact = the_fact(nuggets)
    assert fact["hits"] == 1
    assert str(date.today()) in str(fact["last_hit_session"])


def test_the_environment_names_the_session(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session in ("one", "two", "two"):
        monkeypatch.setenv("NUGGETS_SESSION", session)
        nuggets("recall", KEY)

    assert the_fact(nuggets)["hits"] == 2
    assert the_fact(nuggets)["last_hit_session"] == "two"


def test_the_option_beats_the_environment(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_SESSION", "one")

    nuggets("recall", KEY, "--session", "three")

    assert the_fact(nuggets)["last_hit_session"] == "three"


# --- remember, forget, facts --------------------------------------------------------------------


def test_remember_says_where_and_as_what(nuggets: Nuggets) -> None:
    done = nuggets("remember", "project", "test cmd", "make test")

    assert (done.code, done.err) == (0, "")
    assert done.lines == ["Remembered test cmd in project (durable), valid in every project."]


def test_remember_names_the_project_where_it_is_valid(
    nuggets: Nuggets, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository(directory / "shop"))

    here = nuggets("remember", "project", "test cmd", "make test")
    everywhere = nuggets("remember", "prefs", "style", "no semicolons")

    assert here.out.endswith("(durable), valid only in project shop.\n")
    assert everywhere.out.endswith("(durable), valid in every project.\n")


def test_remember_says_which_value_it_replaced(nuggets: Nuggets) -> None:
    new, changed, same = (nuggets("remember", "n", "k", value) for value in ("1\n2", "3", "3"))
    later = nuggets("remember", "n", "k", "4", "--scope", "shared")

    assert [line for line in new.lines + same.lines if line.startswith("was")] == []
    assert changed.lines[1:] == ["was: 1 2"]
    assert later.lines[1:] == ["was: 3"]


@pytest.mark.parametrize(
    "values", [SCOPES, TYPES, SOURCES, STABILITIES], ids=["scope", "type", "source", "stability"]
)
def test_help_lists_the_values_of_metadata(nuggets: Nuggets, values: tuple[str, ...]) -> None:
    for command in (("remember",), ("note", "add"), ("note", "edit")):
        told = " ".join(nuggets(*command, "--help").out.split())

        assert ", ".join(values) in told


def test_remember_as_json_is_the_note(nuggets: Nuggets) -> None:
    note = nuggets("--json", "remember", "project", "test cmd", "make test").json

    assert note["id"].startswith("fact-project-")
    assert (note["title"], note["content"], note["kind"]) == ("test cmd", "make test", "fact")


def test_a_value_comes_from_standard_input(nuggets: Nuggets) -> None:
    nuggets("remember", "n", "poem", "-", stdin="first line\nzweite Zeile: ü\n")

    assert nuggets("recall", "poem", "--json").json["answer"] == "first line\nzweite Zeile: ü"


def test_an_empty_standard_input_is_refused(nuggets: Nuggets) -> None:
    done = nuggets("remember", "n", "poem", "-", stdin=" \n")

    assert done.code == 2
    assert "must not be empty" in done.err


def test_standard_input_that_is_no_text_is_refused(nuggets: Nuggets) -> None:
    done = nuggets("remember", "n", "poem", "-", stdin=b"\xff\xfe\x00")

    assert done.code == 2
    assert "UTF-8" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("n", "k", "-5"),
        ("n", "k", "-x y"),
        ("n", "k", "--", "--json"),
        ("--", "n", "k", "--foo"),
        ("n", "--", "k", "-"),
        ("n", "k", "--", "--"),
    ],
)
def test_a_value_may_look_like_an_option(nuggets: Nuggets, arguments: tuple[str, ...]) -> None:
    done = nuggets("remember", *arguments, stdin="typed")

    wanted = "typed" if arguments[-1] == "-" else arguments[-1]
    assert done.code == 0, done.err
    assert nuggets("recall", "k", "--json").json["answer"] == wanted


def test_metadata_can_be_given(nuggets: Nuggets) -> None:
    note = nuggets(
        *("remember", "n", "k", "v", "--scope", "self", "--stability", "temporary"),
        *("--confidence", "0.3", "--source", "inferred", "--type", "style", "--json"),
    ).json

    given = {key: note[key] for key in ("scope", "stability", "confidence", "source", "type")}
    assert given == {
        "scope": "self",
        "stability": "temporary",
        "confidence": 0.3,
        "source": "inferred",
        "type": "style",
    }


def test_forget_says_what_it_did(nuggets: Nuggets) -> None:
    done = nuggets("forget", "locations", KEY.upper())
    again = nuggets("forget", "locations", KEY)

    assert (done.code, again.code) == (0, 1)
    assert done.lines == [f"Forgot {KEY.upper()}."]
    assert again.out.startswith("Not found")
    assert nuggets("recall", KEY).out == "Not found.\n"


def test_forget_suggests_a_key_that_is_near(nuggets: Nuggets) -> None:
    near, far = nuggets("forget", "locations", "auth-handlr"), nuggets("forget", "locations", "dns")

    assert (near.code, far.code) == (1, 1)
    assert near.lines[1:] == [f"Did you mean {KEY!r}?"]
    assert far.lines[1:] == []
    assert the_fact(nuggets)["hits"] == 0


def test_facts_are_a_table(nuggets: Nuggets) -> None:
    nuggets("recall", KEY)

    head, row = nuggets("facts", "LOCATIONS").lines

    assert head.split() == ["KEY", "HITS", "VALUE"]
    assert row.split() == [KEY, "1", VALUE]


def test_facts_as_json_are_as_in_the_file_and_the_notes_they_are(nuggets: Nuggets) -> None:
    in_file = {"key": KEY, "value": VALUE, "hits": 0, "last_hit_session": ""}
    as_note = {"title": KEY, "content": VALUE, "kind": "fact", "lastHitSession": ""}

    assert the_fact(nuggets).items() >= {**in_file, **as_note}.items()


def test_a_nugget_without_facts_says_so(nuggets: Nuggets) -> None:
    nuggets("clear", "locations", "--yes")

    assert nuggets("facts", "locations").lines == ["No facts yet."]
    assert nuggets("facts", "locations", "--json").json == []


# --- where --------------------------------------------------------------------------------------


def test_the_directory_may_stand_before_and_after_the_command(
    nuggets: Nuggets, directory: Path
) -> None:
    nuggets("--dir", str(directory), "remember", "n", "a", "1")
    nuggets("remember", "n", "b", "2", "--dir", str(directory))
    nuggets(f"--dir={directory}", "note", "add", "n", "c", "3")
    nuggets("note", "--dir", str(directory), "add", "n", "d", "4")

    assert [note.title for note in NuggetShelf(directory).list_notes()] == ["a", "b", "c", "d"]


def test_looking_leaves_no_trace(nuggets: Nuggets, directory: Path) -> None:
    nuggets("recall", "k", "--dir", str(directory / "new"))
    nuggets("list", "--dir", str(directory / "new"))

    assert not (directory / "new").exists()


def test_what_another_project_knows_is_marked(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/webshop/.git")
    nuggets("remember", "project", "test cmd", "pytest")
    own = nuggets("recall", "test cmd").lines
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/blog/.git")

    assert own[-1] == "Nugget: project, stored just now"
    assert nuggets("recall", "test cmd").lines[-1].endswith(" (another project: webshop)")
    assert nuggets("recall", "test cmd", "--json").json["project"] == "/home/me/webshop/.git"
    assert "test cmd (webshop)" in nuggets("facts", "project").lines[1]


def test_what_is_remembered_in_a_repository_belongs_to_it_unless_it_is_about_a_person(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/webshop/.git")
    shop = nuggets("remember", "locations", "auth handler", "src/auth/middleware.ts:47")
    nuggets("remember", "prefs", "indentation", "two spaces")
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/blog/.git")
    nuggets("remember", "locations", "auth handler", "lib/auth.rb:9")

    assert "valid only in project webshop" in shop.out
    assert "Value: lib/auth.rb:9" in nuggets("recall", "auth handler").lines
    assert "Value: two spaces" in nuggets("recall", "indentation").lines
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/webshop/.git")
    assert "Value: src/auth/middleware.ts:47" in nuggets("recall", "auth handler").lines
    monkeypatch.setenv("NUGGETS_PROJECT", "")


def test_a_scope_or_a_project_that_is_named_decides(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_PROJECT", "/home/me/webshop/.git")

    told = nuggets("remember", "locations", "notes folder", "~/notes", "--scope", "user")

    assert "valid in every project" in told.out


def test_recall_names_what_else_may_have_been_meant(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "test cmd", "make test")
    nuggets("remember", "project", "deploy cmd", "fly deploy")
    nuggets("remember", "team", "cmd", "run it")

    assert nuggets("recall", "cmd", "--nugget", "project").lines[-1] == "Also: deploy cmd (project)"
    assert nuggets("recall", "test cmd").lines[-1].startswith("Nugget: project")
    told = nuggets("recall", "cmd", "--nugget", "project", "--json").json
    assert [other["title"] for other in told["also"]] == ["deploy cmd"]


def test_recall_does_not_say_that_it_named_all_when_it_may_not_have(nuggets: Nuggets) -> None:
    for name in ("test", "deploy", "build"):
        nuggets("remember", "project", f"{name} cmd", f"make {name}")
    three = nuggets("recall", "cmd").lines[-1]
    nuggets("remember", "project", "lint cmd", "make lint")
    nuggets("remember", "project", "docs cmd", "make docs")

    assert three.endswith(" cmd (project)")
    assert nuggets("recall", "cmd").lines[-1].endswith(" cmd (project), and maybe more")


def test_facts_without_a_nugget_shows_those_of_all(nuggets: Nuggets) -> None:
    nuggets("remember", "commands", "test cmd", "make test")

    done = nuggets("facts")
    shapes = nuggets("facts", "--json").json

    assert [line.split()[0] for line in done.lines] == ["NUGGET", "commands", "locations"]
    assert {shape["nuggetName"]: shape["value"] for shape in shapes} == {
        "commands": "make test",
        "locations": VALUE,
    }


def test_a_single_text_becomes_a_note_of_the_default_nugget(nuggets: Nuggets) -> None:
    text = "The invoice mailer retries three times. After that it writes to the dead letter queue."

    done = nuggets("remember", text)
    again = nuggets("remember", text)
    [note] = nuggets("note", "list", "--kind", "note", "--json").json

    assert (done.code, done.lines[0].split(" (")[0]) == (
        0,
        "Stored as a note of nugget notes: The invoice mailer retries three times",
    )
    assert (note["nuggetName"], note["content"]) == ("notes", text)
    assert again.lines[0].startswith("Already stored: ")


@pytest.mark.parametrize("name", ["locations", "Locations ", "notes"])
def test_the_name_of_a_nugget_alone_is_refused(nuggets: Nuggets, name: str) -> None:
    nuggets("remember", "locations", "auth handler", VALUE)
    nuggets("remember", "Tea at four")
    before = nuggets("note", "list", "--json").json

    refused = nuggets("remember", name)

    assert (refused.code, refused.out) == (2, "")
    assert f"a key and a value are missing: {name.strip()!r} is a nugget" in refused.err
    assert nuggets("note", "list", "--json").json == before


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Tea at four", "Tea at four"),
        ("# Release steps\n\nTag, build, upload.", "Release steps"),
        ("\n  First line\nsecond line", "First line"),
        ("word " * 40, f"Word {'word ' * 14}word…"),
        ("we deploy on Thursdays", "We deploy on Thursdays"),
        ("src/mail.py sends the mails", "src/mail.py sends the mails"),
        (
            "The mailer retries three times before it gives up, and then writes that to the log",
            "The mailer retries three times before it gives up",
        ),
    ],
)
def test_the_title_of_a_single_text_is_its_beginning(
    nuggets: Nuggets, text: str, title: str
) -> None:
    note = nuggets("remember", "-", "--json", stdin=text).json

    assert note["title"] == title


def test_a_key_without_a_value_is_refused(nuggets: Nuggets) -> None:
    done = nuggets("remember", "locations", "auth handler")

    assert done.code == 2
    assert "give nugget, key and value, or one text" in done.err


@pytest.mark.parametrize("confidence", ["1.5", "-0.1", "7"])
def test_a_confidence_out_of_range_is_refused(nuggets: Nuggets, confidence: str) -> None:
    done = nuggets("remember", "n", "k", "v", f"--confidence={confidence}")

    assert done.code == 2
    assert f"confidence is a number from 0 to 1, not {confidence!r}" in done.err


def test_a_memory_that_is_out_of_date_when_it_is_written_says_so(nuggets: Nuggets) -> None:
    until = ("--valid-until", "2020-01-02")
    written = (
        nuggets("remember", "project", "freeze", "no deploys", *until),
        nuggets("note", "add", "project", "Winter", "There are no deploys.", *until),
        nuggets("note", "edit", "Winter", "--valid-until", "2020-01-03"),
        nuggets("remember", "The office is closed.", "--valid-from", "2990-01-02"),
    )

    assert ["Caution: it is no longer valid." in done.lines for done in written[:3]] == [True] * 3
    assert "Caution: it is not yet valid." in written[3].lines
    assert "Caution" not in nuggets("remember", "project", "freeze", "over").out


@pytest.mark.parametrize(
    "command",
    [
        ("remember", "home", "wifi password", "correct horse battery staple"),
        ("remember", "the wifi password is correct horse battery staple"),
        ("note", "add", "home", "Wifi", "the password is correct horse battery staple"),
    ],
)
def test_a_credential_is_stored_only_on_purpose(nuggets: Nuggets, command: tuple[str, ...]) -> None:
    refused = nuggets(*command)
    stored = nuggets(*command, "--allow-secret")

    assert (refused.code, stored.code) == (2, 0)
    assert "looks like a credential" in refused.err
    assert "--allow-secret" in refused.err


def test_what_names_a_password_is_stored_with_the_command_that_erases_it(nuggets: Nuggets) -> None:
    text = "das Passwort für Staging ist blauer Elefant 7"
    written = (
        nuggets("remember", "ops", "staging", text),
        nuggets("remember", text),
        nuggets("note", "add", "ops", "Staging door", f"{text}."),
        nuggets("note", "edit", "Staging door", f"{text}!"),
    )

    cautions = [[line for line in done.lines if line.startswith("Caution")] for done in written]
    assert [len(found) for found in cautions] == [1] * 4
    [caution] = cautions[0]
    erased = nuggets(*shlex.split(caution.partition("nuggets ")[2]))
    assert erased.out.startswith("Erased")
    assert "Caution" not in nuggets("remember", "ops", "staging", text, "--allow-secret").out
    assert "Caution" not in nuggets("remember", "ops", "host", "staging is on port 8081").out


def test_what_the_next_reflection_archives_is_said_at_once(nuggets: Nuggets) -> None:
    told = nuggets("remember", "house", "temp sensor", "GPIO 4").out
    kept = nuggets("remember", "house", "Temp limit", "-18 C", "--stability", "durable").out
    other = nuggets("remember", "house", "template", "a.html").out

    assert "the next reflection archives it unless it is recalled" in " ".join(told.split())
    assert "archives" not in kept and "archives" not in other
