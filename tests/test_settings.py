"""Settings: where values come from, which source wins, and what happens to nonsense."""

from pathlib import Path

import pytest

from nuggets.errors import SettingsError
from nuggets.settings import SETTINGS, load

NUMBERS = [setting for setting in SETTINGS if isinstance(setting.default, int)]


def environment(directory: Path, **more: str) -> dict[str, str]:
    return {"NUGGETS_DIR": str(directory), **more}


def test_without_anything_every_setting_has_its_default() -> None:
    settings = load({}, {})

    assert {setting.name: settings[setting.name] for setting in SETTINGS} == {
        setting.name: setting.default for setting in SETTINGS
    }
    assert set(settings.origins.values()) == {"default"}
    assert settings.warnings == ()


def test_the_file_beats_the_default(directory: Path) -> None:
    (directory / "config.toml").write_text('session = "from file"\n')

    settings = load(environment(directory), {})

    assert settings["session"] == "from file"
    assert settings.origins["session"] == str(directory / "config.toml")


def test_the_environment_beats_the_file(directory: Path) -> None:
    (directory / "config.toml").write_text('session = "from file"\n')

    settings = load(environment(directory, NUGGETS_SESSION="from environment"), {})

    assert settings["session"] == "from environment"
    assert settings.origins["session"] == "environment"


def test_the_command_line_beats_everything(directory: Path) -> None:
    settings = load({"NUGGETS_DIR": "/from/environment"}, {"dir": str(directory)})

    assert settings["dir"] == str(directory)
    assert settings.origins["dir"] == "command line"


def test_an_option_that_was_not_given_takes_no_part(directory: Path) -> None:
    settings = load(environment(directory), {"dir": None})

    assert settings.origins["dir"] == "environment"


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_empty_variable_is_one_that_is_not_set(setting: object) -> None:
    name, variable = setting.name, setting.variable  # type: ignore[attr-defined]

    settings = load({variable: ""}, {})

    assert settings.origins[name] == "default"
    assert settings.warnings == ()


def test_an_empty_directory_is_not_the_one_you_stand_in(directory: Path) -> None:
    settings = load(environment(directory), {"dir": ""})

    assert settings["dir"] == str(directory)
    assert len(settings.warnings) == 1


@pytest.mark.parametrize("named", ["/elsewhere", ""])
def test_a_file_in_the_directory_cannot_name_another(directory: Path, named: str) -> None:
    (directory / "config.toml").write_text(f'dir = "{named}"\n')

    with pytest.raises(SettingsError, match="NUGGETS_DIR or use --dir"):
        load(environment(directory), {})


def test_the_file_of_a_url_is_found(directory: Path) -> None:
    (directory / "config.toml").write_text('session = "s"\n')

    assert load({"NUGGETS_DIR": f"file://{directory}"}, {})["session"] == "s"


def test_an_unknown_setting_is_warned_about(directory: Path) -> None:
    (directory / "config.toml").write_text("colour = 'red'\n")

    [warning] = load(environment(directory), {}).warnings

    assert "colour" in warning
    assert "config.toml" in warning


def test_a_wrong_type_in_the_file_is_warned_about(directory: Path) -> None:
    (directory / "config.toml").write_text("session = 5\n")

    settings = load(environment(directory), {})

    assert settings["session"] == ""
    assert len(settings.warnings) == 1


@pytest.mark.parametrize(
    "broken", [b"session = ", b"= 1", b"\xff\xfe", b"session = 'a'\nsession = 'b'", b"[["]
)
def test_a_broken_file_is_a_clear_error_that_names_it(directory: Path, broken: bytes) -> None:
    (directory / "config.toml").write_bytes(broken)

    with pytest.raises(SettingsError, match=r"config\.toml"):
        load(environment(directory), {})

    assert (directory / "config.toml").read_bytes() == broken


def test_a_directory_instead_of_the_file_is_a_clear_error(directory: Path) -> None:
    (directory / "config.toml").mkdir()

    with pytest.raises(SettingsError, match=r"config\.toml"):
        load(environment(directory), {})


@pytest.mark.parametrize("nonsense", ["soon", "1.5", "1e3", "0x10", "--", "9" * 40, "nan"])
@pytest.mark.parametrize("setting", NUMBERS)
def test_a_number_that_makes_no_sense_is_the_default_and_one_warning(
    setting: object, nonsense: str
) -> None:
    name = setting.name  # type: ignore[attr-defined]
    variable = setting.variable  # type: ignore[attr-defined]

    settings = load({variable: nonsense}, {})

    assert settings[name] == setting.default  # type: ignore[attr-defined]
    assert len(settings.warnings) == 1
    assert variable in settings.warnings[0]


@pytest.mark.parametrize("variable", ["QUIET_HOURS_START", "QUIET_HOURS_END"])
def test_any_negative_hour_turns_quiet_hours_off(variable: str) -> None:
    settings = load({variable: "-7"}, {})

    assert settings[variable.lower()] == -7
    assert settings.warnings == ()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MEMORY_REFLECTION_HOUR", "24"),
        ("MEMORY_REFLECTION_HOUR", "-1"),
        ("MEMORY_REFLECTION_MINUTE", "60"),
        ("MEMORY_REFLECTION_MAX_NOTES", "0"),
        ("HEARTBEAT_INTERVAL_MS", "0"),
        ("QUIET_HOURS_END", "24"),
    ],
)
def test_a_number_out_of_its_range_is_warned_about(variable: str, value: str) -> None:
    [warning] = load({variable: value}, {}).warnings

    assert variable in warning
    assert value in warning


def test_every_setting_has_a_name_a_variable_and_a_meaning_of_its_own() -> None:
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    assert len({setting.variable for setting in SETTINGS}) == len(SETTINGS)
    assert all(setting.meaning for setting in SETTINGS)


@pytest.mark.parametrize("hour", ["3.7", "inf", "true", "'nine'"])
def test_an_hour_in_the_file_is_a_whole_number(directory: Path, hour: str) -> None:
    (directory / "config.toml").write_text(f"reflection_hour = {hour}\n")

    settings = load({}, {"dir": str(directory)})

    assert settings["reflection_hour"] == 9
    assert "whole number" in settings.warnings[0]
