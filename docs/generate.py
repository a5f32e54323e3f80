"""Writes docs/settings.md and docs/cli.md from the program itself. Run it with `make docs`.

Built from the commands' arguments, not from their help texts: those look different in every
version of Python.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from nuggets.interfaces.cli import MODULES, Argument, Command, find
from nuggets.interfaces.cli.help_and_demo import GLOBAL_HELP
from nuggets.settings import SETTINGS, Setting

DOCS = Path(__file__).resolve().parent
NOTICE = "<!-- Written by docs/generate.py; change the program and run `make docs`. -->"
REPEATED = 3  # commands with the same argument: it is told once, before all of them

# Variables that are no settings: other programs' conventions, which we follow.
CONVENTIONS = {
    "VISUAL": "the editor that `nuggets note add` and `nuggets note edit` open",
    "EDITOR": "the same, where `VISUAL` is not set",
    "XDG_CONFIG_HOME": "where programs keep their settings, for `nuggets connect` and "
    "`nuggets import --discover`",
    "XDG_DATA_HOME": "where programs keep their data, for `nuggets import --discover`",
    "NUGGETS_STORE": "the shelf, before NUGGETS_DIR; a directory or the URL of a database",
    "NUGGETS_HOOK_SECONDS": "deadline of a hook, for slow machines; 1 by default",
    "NO_COLOR": "if set, nothing is coloured",
    "TERM": "`dumb`: nothing is coloured",
    "DISPLAY": "without it, and without the next, no browser is opened on Linux",
    "WAYLAND_DISPLAY": "see above",
    "OPENBLAS_NUM_THREADS": "set to 1 for a command unless you set it: threads cost more than "
    "they bring",
    "CLAUDE_PROJECT_DIR": "set by a host: the project that its hooks and servers work for",
    "CURSOR_VERSION": "set by a host: tells its hooks from those of others",
}


def pages() -> dict[str, str]:
    """Name and text of every generated page."""
    return {"settings.md": settings_page(), "cli.md": cli_page()}


def settings_page() -> str:
    settings = (
        (f"`{one.name}`", f"`{one.variable}`", _default(one), one.meaning) for one in SETTINGS
    )
    variables = ((f"`{name}`", meaning) for name, meaning in CONVENTIONS.items())
    return _page(
        NOTICE,
        "# Settings",
        "This page lists every setting. `nuggets config` shows their values and where each came "
        "from.",
        "```console\n"
        "$ nuggets config set reflection_hour 7\n"
        "$ nuggets config set quiet_hours_start -1    # no quiet hours\n"
        "$ nuggets config unset reflection_hour\n"
        "```",
        "This writes `config.toml` in the shelf's directory. A variable of the environment comes "
        "before that file, an option of the command line before both. "
        "`dir` cannot stand in the file, which lies in that directory; in Python it is "
        "`save_dir`. A value that makes no sense is reported and the default holds.",
        _table(("in config.toml", "variable", "default (allowed)", "meaning"), settings),
        "## Other variables",
        _table(("variable", "meaning"), variables),
    )


def cli_page() -> str:
    commands = {
        name: found for names in MODULES.values() for name in names if (found := find(name))
    }
    shared = _shared(commands)
    return _page(
        NOTICE,
        "# Commands",
        "This page has every command with examples, as `nuggets COMMAND --help` shows it.",
        f"```\n{GLOBAL_HELP}\n```",
        "The exit code is 0 when something was found or done (a list may be empty), 1 when "
        "nothing was found or the command failed, 2 when the call was wrong, 130 after Ctrl-C. "
        "In a pipe no line is cut. What follows `--` is no option.",
        "These arguments mean the same wherever a command does not say otherwise:",
        "\n".join(shared),
        *(part for group in MODULES for part in _group(group, commands, shared)),
    )


def _shared(commands: dict[str, Command]) -> list[str]:
    """The lines on arguments that several commands would repeat word for word, in their order."""
    lines = Counter(
        _line(argument) for command in commands.values() for argument in command.arguments
    )
    return [line for line, times in lines.items() if times >= REPEATED]


def _group(title: str, commands: dict[str, Command], shared: list[str]) -> Iterator[str]:
    yield f"## {title}"
    for name in MODULES[title]:
        yield from _command(name, commands[name], shared)


def _command(name: str, command: Command, shared: list[str]) -> Iterator[str]:
    arguments = command.arguments
    yield f"### nuggets {name}"
    yield f"{command.summary[:1].upper()}{command.summary[1:]}."
    examples = [f"$ {example}" for example in _examples(name, command)]
    if examples:
        yield "\n".join(("```console", *examples, "```"))
    own = [line for line in map(_line, arguments) if line not in shared]
    others = [_name(argument) for argument in arguments if _line(argument) in shared]
    if arguments:
        yield "\n".join([*own, *([f"- {', '.join(others)}"] if others else [])])


def _examples(name: str, command: Command) -> list[str]:
    """Without those that only repeat the name, or that show again that there is `--json`."""
    plain = {f"nuggets {name}", *command.examples}
    return [
        example
        for example in command.examples
        if example != f"nuggets {name}"
        and (not example.endswith(" --json") or example.removesuffix(" --json") not in plain)
    ]


def _line(argument: Argument) -> str:
    return f"- {_label(argument)}: {_meaning(argument)}"


def _label(argument: Argument) -> str:
    if argument.is_option:
        name = argument.name
        return f"`{name} {_value(argument)}`" if argument.takes_value else f"`{name}`"
    name = _value(argument).upper()
    shown = {"": name, "?": f"[{name}]", "+": f"{name} ...", "*": f"[{name} ...]"}
    return f"`{shown[argument.options.get('nargs', '')]}`"


def _name(argument: Argument) -> str:
    return f"`{argument.name if argument.is_option else _value(argument).upper()}`"


def _value(argument: Argument) -> str:
    name = argument.options.get("dest", argument.name.lstrip("-").replace("-", "_"))
    return str(argument.options.get("metavar", name.upper()))


def _meaning(argument: Argument) -> str:
    choices = ", ".join(argument.options.get("choices", ()))
    meaning = argument.options.get("help", "")
    return (
        meaning if choices in meaning else "; ".join(filter(None, (meaning, f"one of: {choices}")))
    )


def _default(setting: Setting) -> str:
    value = f"`{setting.default}`" if setting.default != "" else ""
    allowed = _range(setting)
    return f"{value} ({allowed})" if allowed else value


def _range(setting: Setting) -> str:
    if setting.most is None:
        return ""
    least, most = setting.least, setting.most
    return f"at most {most}" if least is None else f"{least} to {most}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in lines)


def _page(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
