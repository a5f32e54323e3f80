"""The command that shows the settings and changes config.toml: config."""

import os
from argparse import ArgumentParser

from nuggets.errors import InvalidInput, SettingsError
from nuggets.filesystem.shelf_location import directory_of, shown_location
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_output import one_line, style, warn, wrap_lines
from nuggets.settings import CONFIG_FILE, SETTINGS, Setting, Settings, validate


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=("set", "unset"), help="change config.toml (default: show)"
    )
    parser.add_argument("name", nargs="?", help="the name of a setting")
    parser.add_argument("value", nargs="?", help="its new value")


def _config(call: Call) -> Outcome:
    options = call.options
    if options.action is None:
        return _show(call)
    if options.name is None or (options.value is None) == (options.action == "set"):
        raise InvalidInput("write `config set NAME VALUE` or `config unset NAME`")
    return _change(call, _setting(options.name), options.value)


def _show(call: Call) -> Outcome:
    settings = call.settings
    shape = [
        {
            "name": setting.name,
            "value": _shown_value(settings, setting),
            "origin": settings.origins[setting.name],
            "variable": setting.variable,
            "meaning": setting.meaning,
        }
        for setting in SETTINGS
    ]
    lines = []
    for setting in SETTINGS:
        value = one_line(str(_shown_value(settings, setting))) or '""'
        origin = one_line(f"({settings.origins[setting.name]})")
        lines.append(f"{setting.name} = {style(value, 'bold')}  {style(origin, 'dim')}")
        lines += wrap_lines(f"{setting.variable}: {setting.meaning}", "    ")
    return Outcome(shape, lines, is_read_only=True)


def _shown_value(settings: Settings, setting: Setting) -> object:
    value = settings[setting.name]
    return shown_location(value) if setting.name == "dir" else value


def _setting(name: str) -> Setting:
    for setting in SETTINGS:
        if setting.name == name:
            return setting
    from difflib import get_close_matches

    names = [setting.name for setting in SETTINGS]
    close = get_close_matches(name, names, 1)
    hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}"
    raise InvalidInput(f"there is no setting {name!r}; {hint}")


def _change(call: Call, setting: Setting, text: str | None) -> Outcome:
    """Write a value to config.toml, or remove it (None); comments and the rest stay."""
    directory = directory_of(call.settings["dir"])
    if setting.name == "dir" or not directory:
        raise InvalidInput("config.toml lies in the shelf's directory; use --dir or NUGGETS_DIR")
    value = None if text is None else _parse_value(setting, text)
    path = os.path.join(directory, CONFIG_FILE)
    before = _write_value(path, setting.name, value)
    shape = {"name": setting.name, "value": value, "before": before, "path": path}
    if text is None and before is None:
        return Outcome(shape, [f"Not found: {setting.name} is not set in {one_line(path)}."], 1)
    new = f"{setting.name} = {value!r}" if text is not None else f"Removed {setting.name}"
    was = "" if before is None else f"  (was: {one_line(repr(before))})"
    if call.settings.origins[setting.name] == "environment":
        warn(f"{setting.variable} is set in your environment and takes precedence.")
    return Outcome(shape, [f"{one_line(new)}{was}"])


def _parse_value(setting: Setting, text: str) -> object:
    try:
        return validate(setting, text)
    except ValueError as problem:
        raise InvalidInput(f"{setting.name}: {problem}") from None


def _write_value(path: str, name: str, value: object) -> object:
    """Set or remove (None) one value; returns the value before, None if there was none."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    from nuggets.filesystem.atomic_files import (
        open_plain,
        private_directory,
        remove_leftovers,
        replace_file,
    )

    try:
        with open(path, encoding="utf-8", newline="", opener=open_plain) as file:
            document = tomlkit.parse(file.read())
    except FileNotFoundError:
        document = tomlkit.document()
    except (OSError, UnicodeDecodeError, TOMLKitError) as problem:
        raise SettingsError(f"{path} cannot be read: {problem}. Correct it first") from None
    before = document.unwrap().get(name)
    if value is None:
        document.pop(name, None)
    else:
        document[name] = value
    if value != before:
        private_directory(os.path.dirname(path))
        remove_leftovers(path)
        replace_file(path, [document.as_string().encode()], durable=True)
    return before


COMMANDS = {
    "config": Command(
        (
            "nuggets config",
            "nuggets config set promote_after 5",
            "nuggets config unset promote_after",
        ),
        _config,
        _arguments,
        summary="show every setting and where it came from, or change config.toml",
        changes=True,
    ),
}
