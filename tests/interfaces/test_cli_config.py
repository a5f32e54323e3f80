"""`config` shows the settings, and changes config.toml without touching anything else in it."""

from pathlib import Path

import pytest

from command_line import Nuggets


@pytest.fixture
def file(nuggets: Nuggets) -> Path:
    return Path(nuggets("config", "--json").json[0]["value"]) / "config.toml"


def value_of(nuggets: Nuggets, name: str) -> tuple[object, str]:
    [setting] = (s for s in nuggets("config", "--json").json if s["name"] == name)
    return setting["value"], setting["origin"]


def test_a_value_that_is_set_counts_from_then_on(nuggets: Nuggets, file: Path) -> None:
    done = nuggets("config", "set", "promote_after", "5")

    assert (done.code, done.lines) == (0, ["promote_after = 5"])
    assert value_of(nuggets, "promote_after") == (5, str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    assert nuggets("config", "set", "promote_after", "4").lines == ["promote_after = 4  (was: 5)"]


def test_comments_and_other_settings_stay(nuggets: Nuggets, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# mine\nreflection_hour = 7  # early\npromote_after = 2\n")

    nuggets("config", "set", "reflection_minute", "30")
    nuggets("config", "unset", "promote_after")

    assert file.read_text() == "# mine\nreflection_hour = 7  # early\nreflection_minute = 30\n"


def test_a_value_that_is_unset_is_the_default_again(nuggets: Nuggets) -> None:
    nuggets("config", "set", "memory_file", "~/MEMORY.md")
    done = nuggets("config", "unset", "memory_file", "--json")

    assert (done.json["value"], done.json["before"]) == (None, "~/MEMORY.md")
    assert value_of(nuggets, "memory_file") == ("", "default")
    assert nuggets("config", "unset", "memory_file").code == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("set", "promote_after", "0"), "promote_after: 0 is not at least 1"),
        (("set", "promote_after", "often"), "a whole number is expected"),
        (("set", "promote_aftr", "5"), "did you mean promote_after?"),
        (("set", "promote_after"), "config set NAME VALUE"),
        (("unset",), "config unset NAME"),
        (("unset", "promote_after", "5"), "config unset NAME"),
        (("set", "dir", "/tmp/x"), "use --dir or NUGGETS_DIR"),
    ],
)
def test_what_cannot_be_set_says_what_to_do(
    nuggets: Nuggets, file: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = nuggets("config", *arguments)

    assert done.code == 2
    assert says in done.err
    assert not file.exists()


def test_an_environment_that_takes_precedence_is_mentioned(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_PROMOTE_AFTER", "9")

    done = nuggets("config", "set", "promote_after", "5")

    assert (done.code, "NUGGETS_PROMOTE_AFTER" in done.err) == (0, True)
    assert value_of(nuggets, "promote_after") == (9, "environment")
