"""The documentation says what the program does: generated pages, examples, links, commands."""

import re
import runpy
import shlex
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from conformance import ROOT
from nuggets.interfaces.cli import GROUPS, MODULES, find
from nuggets.interfaces.cli.run_command import build_parser
from nuggets.settings import SETTINGS

GENERATOR = ROOT / "docs" / "generate.py"
TOP = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES = [*TOP, *sorted((ROOT / "docs").glob("*.md"))]
ROOMS = (".ci", "benchmarks", "docs", "src", "tests")
COMMANDS = [name for commands in MODULES.values() for name in commands]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ENVIRON = re.compile(r"""environ(?:\.get\(|\.setdefault\(|\[)["'](\w+)["']""")


def blocks(page: Path, language: str) -> list[str]:
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [code for told, code in found if told == language]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


# --- generated pages ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["settings.md", "cli.md"])
def test_generated_pages_are_current(name: str) -> None:
    now = runpy.run_path(str(GENERATOR))["pages"]()[name]

    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == now, "run `make docs`"


def test_generating_twice_gives_the_same() -> None:
    pages = runpy.run_path(str(GENERATOR))["pages"]

    assert pages() == pages()


def test_the_width_of_the_terminal_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = runpy.run_path(str(GENERATOR))["pages"]
    monkeypatch.setenv("COLUMNS", "40")
    narrow = pages()
    monkeypatch.setenv("COLUMNS", "200")

    assert pages() == narrow


# --- everything is documented -------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")

    assert f"\n### nuggets {command}\n" in text


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_is_documented_with_its_variable_and_default(setting: object) -> None:
    name, variable, default = (getattr(setting, f) for f in ("name", "variable", "default"))
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")

    [row] = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
    assert f"`{variable}`" in row
    assert str(default) in row


def test_every_variable_that_is_read_is_documented() -> None:
    sources = (ROOT / "src" / "nuggets").rglob("*.py")
    read = {name for path in sources for name in _ENVIRON.findall(path.read_text())}
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")

    assert {"NUGGETS_DIR", "VISUAL"} <= read
    assert {name for name in read if f"| `{name}` |" not in text} == set()


# --- links --------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    links = _LINK.findall(page.read_text(encoding="utf-8"))
    relative = [link.partition("#")[0] for link in links if "://" not in link]

    assert [link for link in relative if link and not (page.parent / link).exists()] == []


def test_every_page_is_linked_from_another() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in _LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in link
    }

    assert [named(page) for page in (ROOT / "docs").glob("*.md") if page not in linked] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_module_that_a_page_names_exists(page: Path) -> None:
    """A promise names the test that shows it; a name alone or the end of a path will do."""
    modules = set(re.findall(r"`([\w/]+\.py)(?:::\w+)?`", page.read_text(encoding="utf-8")))
    paths = [f"/{path.relative_to(ROOT)}" for room in ROOMS for path in (ROOT / room).rglob("*.py")]

    assert [one for one in modules if not any(path.endswith(f"/{one}") for path in paths)] == []


def test_every_file_and_folder_that_the_architecture_names_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named_paths = set(re.findall(r"`([\w/]+(?:\.py|/))`", text)) | set(
        re.findall(r"\S {2,}([\w/]+(?:\.py|/))(?:,|$)", text, re.MULTILINE)
    )
    places = (ROOT, ROOT / "src/nuggets", *(ROOT / "src/nuggets").rglob("*/"))

    assert len(named_paths) > 40
    assert [
        path for path in named_paths if not any((place / path).exists() for place in places)
    ] == []


# --- examples -----------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=named)
def test_python_examples_run_and_print_what_they_say(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A block of plain text that follows a block of Python is what that prints."""
    monkeypatch.delenv("NUGGETS_DIR", raising=False)  # they say ~/.nuggets, and home is a tmp one
    namespace: dict[str, object] = {}
    shown = [*_BLOCK.findall(page.read_text(encoding="utf-8")), ("", "")]

    for (language, code), (following, said) in pairwise(shown):
        if language == "python":
            capsys.readouterr()
            exec(compile(code, named(page), "exec"), namespace)
            if following == "text":
                assert capsys.readouterr().out == said

    assert namespace


def calls(text: str) -> Iterator[tuple[str, list[str]]]:
    """Every call of the command in a line of shell: its name and its arguments."""
    nested = re.search(r"\$\((nuggets [^)]*)\)", text)
    line = shlex.shlex(nested[1] if nested else text, posix=True, punctuation_chars="|<>")
    line.whitespace_split = True
    for piped, part in groupby(line, key=lambda word: set(word) <= set("|<>")):
        words = list(part)
        if not piped and words[0] == "nuggets" and len(words) > 1:
            two = words[1] in GROUPS and len(words) > 2
            yield " ".join(words[1 : 3 if two else 2]), words[3 if two else 2 :]


def shown_in_the_readme() -> Iterator[tuple[str, list[str]]]:
    """Behind prompts and, in line, between backticks."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("$ "):
            yield from calls(line[2:])
    for code in re.findall(r"(?<!`)`([^`\n]*nuggets [^`\n]+)`(?!`)", text):
        yield from calls(code)


README = list(shown_in_the_readme())


def test_the_readme_shows_commands_with_and_without_arguments() -> None:
    assert ("remember", ["locations", "auth handler", "src/auth/middleware.ts:47"]) in README
    assert ("config", []) in README
    assert ("completion", ["bash"]) in README


@pytest.mark.parametrize(("name", "arguments"), README, ids=str)
def test_every_command_in_the_readme_is_one_and_parses(name: str, arguments: list[str]) -> None:
    command = find(name)

    assert command is not None or name in ("--help", "--version")
    if command and arguments:  # one that is only named has none
        build_parser(name, command).parse_intermixed_args(arguments)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_of_a_command_parses(name: str) -> None:
    command = find(name)
    assert command is not None
    examples = [call for line in command.examples for call in calls(line)]

    assert name in {called for called, _ in examples}
    for called, arguments in examples:
        other = find(called)
        assert other is not None
        plain = [word for word in arguments if word != "--"]
        build_parser(called, other).parse_intermixed_args(plain)
