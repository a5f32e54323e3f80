"""Commands that look after the shelf: doctor, config."""

from argparse import ArgumentParser

from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import table
from nuggets.settings import SETTINGS


def _no_arguments(parser: ArgumentParser) -> None:
    pass


def _config(call: Call) -> Outcome:
    settings = call.settings
    shape = [
        {
            "name": setting.name,
            "value": settings[setting.name],
            "origin": settings.origins[setting.name],
            "variable": setting.variable,
            "meaning": setting.meaning,
        }
        for setting in SETTINGS
    ]
    rows = [
        (s.name, str(settings[s.name]) or "-", settings.origins[s.name], s.variable, s.meaning)
        for s in SETTINGS
    ]
    return Outcome(shape, table(("SETTING", "VALUE", "FROM", "VARIABLE", "MEANING"), rows))


COMMANDS = {
    "config": Command(
        "show every setting, its value and where it came from",
        ("nuggets config", "NUGGETS_DIR=/tmp/other nuggets config --json"),
        _no_arguments,
        _config,
    ),
}
