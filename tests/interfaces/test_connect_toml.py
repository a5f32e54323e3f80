import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import Nuggets
from nuggets.interfaces.connect import EditError, toml

PATH = ("mcp_servers", "nuggets")
VALUES = {"command": "nuggets", "args": ["mcp"]}

FIRST = '[shell]\nkind = "zsh"\n'
SHAPES = {  # what people and Codex write into a config.toml
    "nothing": "",
    "blanks": "\n\n",
    "no line end": 'model = "large"',
    "line ends of another system": 'model = "large"\r\n\r\n[shell]\r\nkind = "zsh"\r\n',
    "comments": '# mine\nmodel = "large" # big\n\n# about the shell\n[shell] # here\n# end\n',
    "sub-tables": "[a.b.c]\nx = 1\n\n[a.b]\ny = 2\n\n[[a.list]]\nz = 3\n\n[[a.list]]\nz = nan\n",
    "lists over lines": 'notify = [\n  "a", # ]\n  ["b"],\n]\n\n[shell]\nargs = [\n["x"],\n]\n',
    "texts over lines": 'a = """\n[mcp_servers.nuggets]\n\\"""\n"""""\nb = \'\'\'\n[x]\n"\'\'\'\n',
    "separators in texts": 'a = "one\u2028two\u0085three"\n',
    "inline tables": 'env = { A = "[x]", B = { c = "# no comment" } }\n\n' + FIRST,
    "other servers": '[mcp_servers]\n\n[mcp_servers.other]\ncommand = "x"\nargs = ["mcp"]\n',
    "tables out of order": "[mcp_servers.a]\nx = 1\n\n[shell]\n\n[mcp_servers.b]\ny = 2\n",
    "dotted keys": 'mcp_servers.other.command = "x"\nfeatures.fast = true\n',
    "a byte order mark": "\ufeff" + FIRST,
    "names alike": '[mcp_servers.nuggets-old]\ncommand = "x"\n\n[nuggets]\na = 1\n',
}
EDITS = {  # of the table that we wrote: what a person or Codex makes of it later
    "untouched": {},
    "a key more": {'args = ["mcp"]': 'args = ["mcp"]\nstartup_timeout_sec = 20'},
    "a key behind a comment": {'args = ["mcp"]': 'args = ["mcp"]\n# slow\nstartup_sec = 20'},
    "a list over lines": {'["mcp"]': '[\n  "mcp", # ]\n]'},
    "comments": {"[mcp_servers.nuggets]": "[mcp_servers.nuggets] # memory\n# mine"},
    "blank lines": {'args = ["mcp"]': '\n\nargs = ["mcp"]\n'},
    "quoted names": {"[mcp_servers.nuggets]": '[ mcp_servers . "nuggets" ]'},
    "a sub-table": {
        'args = ["mcp"]': 'args = ["mcp"]\n\n[mcp_servers.nuggets.env]\nA = "b"',
    },
    "two sub-tables": {
        'args = ["mcp"]': 'args = ["mcp"]\n[mcp_servers.nuggets.tools.recall]\nmode = "x"\n'
        '# and\n[mcp_servers.nuggets.env]\nA = """\n[y]\n"""',
    },
    "an inline table": {'args = ["mcp"]': 'args = ["mcp"]\nenv = { A = "b" }'},
    "a list of tables": {'args = ["mcp"]': 'args = ["mcp"]\n\n[[mcp_servers.nuggets.x]]\na = 1'},
}


def edited(table: str, edits: dict[str, str]) -> str:
    for old, new in edits.items():
        assert old in table
        table = table.replace(old, new)
    return table


def meaning(text: str) -> dict[str, Any]:
    """What a text says, without what is only there to hold something."""
    values = tomllib.loads(text.removeprefix("\ufeff"), parse_float=str)
    if values.get("mcp_servers") == {}:
        del values["mcp_servers"]
    return values


@pytest.mark.parametrize("shape", SHAPES)
def test_connecting_adds_one_table_and_disconnecting_brings_the_very_bytes_back(
    shape: str, tmp_path: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_bytes(SHAPES[shape].encode())

    nuggets("connect", "codex")
    text = path.read_bytes().decode()
    nuggets("disconnect", "codex")

    assert text.startswith(SHAPES[shape])
    assert meaning(text)["mcp_servers"]["nuggets"]["args"][0] == "mcp"
    assert path.read_bytes().decode() == SHAPES[shape]


@pytest.mark.parametrize("later", ["", "\n# about this one\n[later]\nadded = true\n"])
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_became_of_the_table_is_cut_out_whole_and_nothing_else(
    shape: str, edit: str, later: str
) -> None:
    before = SHAPES[shape]
    table = toml.set_value(before, PATH, VALUES).removeprefix(before)
    text = before + edited(table, EDITS[edit]) + later

    after = toml.remove_value(text, PATH)

    assert after.startswith(before.rstrip("\n"))
    assert after.endswith(later if before else later.lstrip())
    assert after.split() == (before + later).split()
    assert meaning(after) == meaning(before + "\n" + later)


@pytest.mark.parametrize("shape", ["comments", "sub-tables", "line ends of another system"])
def test_the_blank_line_before_the_table_goes_with_it(shape: str) -> None:
    text = SHAPES[shape]

    assert toml.remove_value(toml.set_value(text, PATH, VALUES), PATH) == text


@pytest.mark.parametrize("edit", EDITS)
def test_a_table_that_was_moved_to_the_front_is_cut_out_too(edit: str) -> None:
    text = edited(toml.set_value("", PATH, VALUES), EDITS[edit]) + FIRST

    assert toml.remove_value(text, PATH).lstrip() == FIRST


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("command", ["nuggets", "/new/nuggets"])
def test_connecting_again_keeps_what_was_added_to_the_table(edit: str, command: str) -> None:
    text = edited(toml.set_value(FIRST, PATH, VALUES), EDITS[edit]) + "\n[later]\nx = 1\n"
    before = tomllib.loads(text)
    wanted = {**VALUES, "command": command}

    after = toml.set_value(text, PATH, wanted)
    before["mcp_servers"]["nuggets"] |= wanted

    assert tomllib.loads(after) == before
    assert (after == text) is (command == "nuggets")
    assert after.count("#") == text.count("#")
    assert toml.set_value(after, PATH, wanted) == after


def test_settings_without_a_command_get_one() -> None:
    text = '[mcp_servers.nuggets.tools.recall]\nmode = "x"\n'

    after = toml.set_value(text, PATH, VALUES)

    assert text in after
    assert tomllib.loads(after)["mcp_servers"]["nuggets"] == {
        **VALUES,
        "tools": {"recall": {"mode": "x"}},
    }


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (
            '[mcp_servers]\nnuggets = { command = "nuggets" }\nother.command = "x"\n',
            '[mcp_servers]\nother.command = "x"\n',
        ),
        (
            'mcp_servers.nuggets.command = "x"\nmcp_servers.nuggets.args = [\n"mcp"\n]\na = 1\n',
            "a = 1\n",
        ),
    ],
)
def test_a_table_in_few_words_is_cut_out_too(text: str, rest: str) -> None:
    assert toml.remove_value(text, PATH) == rest


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { nuggets = { command = "x" }, other = { command = "y" } } # mine\n',
        'mcp_servers = { other = { command = "y" } } # mine\n',
        '[mcp_servers]\nnuggets = { command = "x" }\nother.command = "y" # mine\n',
        '[mcp_servers]\nother.command = "y" # mine\n',
        'mcp_servers.nuggets.command = "x"\nmcp_servers.other.command = "y" # mine\n',
    ],
)
def test_inline_tables_and_dotted_keys_are_edited_where_they_are(text: str) -> None:
    connected = toml.set_value(text, PATH, VALUES)
    after = toml.remove_value(connected, PATH)

    assert meaning(connected) == {"mcp_servers": {"nuggets": VALUES, "other": {"command": "y"}}}
    assert toml.set_value(connected, PATH, VALUES) == connected
    assert meaning(after) == {"mcp_servers": {"other": {"command": "y"}}}
    assert connected.count("# mine") == after.count("# mine") == 1


@pytest.mark.parametrize(
    "text",
    [
        "[[mcp_servers]]\na = 1\n",
        "[[mcp_servers.nuggets]]\na = 1\n",
        "mcp_servers = 3\n",
        "mcp_servers.nuggets = 3\n",
    ],
)
def test_a_form_that_cannot_be_edited_is_refused(text: str) -> None:
    with pytest.raises(EditError, match="another form"):
        toml.set_value(text, PATH, VALUES)


@pytest.mark.parametrize(
    "edit",
    [lambda text: toml.set_value(text, PATH, VALUES), lambda text: toml.remove_value(text, PATH)],
)
@pytest.mark.parametrize("text", ["a = ", "[a", "a = 1\na = 2\n", "[a]\n[a]\n", "a = {b = 1\n"])
def test_a_text_that_is_no_toml_is_refused_with_a_place(
    text: str, edit: Callable[[str], str]
) -> None:
    with pytest.raises(EditError, match=r"not valid TOML: .*"):
        edit(text)


def test_only_a_host_with_toml_loads_the_toml_library(tmp_path: Path) -> None:
    code = (
        "import sys; from nuggets.__main__ import run_command as main; main(sys.argv[1:]);"
        "print('tomlkit' in sys.modules)"
    )
    for host, expected in (("gemini", "False"), ("codex", "True")):
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                code,
                "connect",
                host,
                "--dry-run",
                "--dir",
                str(tmp_path / "s"),
            ],
            env={**os.environ, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split()[-1] == expected
