"""The house keeps its own rules: directions of imports, docstrings, exports, a light front door."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import nuggets

PACKAGE = Path(nuggets.__file__).parent
ROOT = PACKAGE.parent.parent
MODULES = sorted(PACKAGE.rglob("*.py"))
HEAVY = (  # what a cold `nuggets remember` must do without
    *("dataclasses", "inspect", "logging", "pathlib", "tempfile", "random", "uuid", "secrets"),
    *("subprocess", "asyncio", "numpy", "difflib", "unittest", "email", "http"),
    "locale",
)

EXTRAS = {"mcp", "mcp_types", "anyio", "starlette", "uvicorn"}  # not everybody installs them


def test_imports_point_the_way_the_contracts_say() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as problem:
        return (problem.name or "").partition(".")[0] in EXTRAS
    return True


def test_every_module_can_be_imported() -> None:
    names = [
        module.name
        for module in pkgutil.walk_packages(nuggets.__path__, "nuggets.", onerror=lambda _: None)
        if not module.name.endswith("__main__")
    ]

    assert [name for name in names if not importable(name)] == []


def test_what_is_exported_is_what_is_there() -> None:
    """Some names are loaded when they are first asked for, so `dir` is not the whole truth."""
    ours = {
        name
        for name, value in vars(nuggets).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("nuggets.")
    }

    assert all(getattr(nuggets, name) is not None for name in nuggets.__all__)
    assert ours <= set(nuggets.__all__)
    assert len(nuggets.__all__) == len(set(nuggets.__all__))


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        nuggets.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()


LOADED_AFTER = """
import sys
from nuggets.interfaces.cli import main
code = main(sys.argv[1:])
print(code, *sorted(sys.modules))
"""


def loaded_after(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOADED_AFTER, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    code, *modules = done.stdout.splitlines()[-1].split()
    assert code == "0"
    return set(modules)


def test_a_cold_remember_loads_nothing_heavy(directory: Path) -> None:
    first = loaded_after("--dir", str(directory), "remember", "n", "k", "v")
    second = loaded_after("--dir", str(directory), "remember", "n", "k", "w")

    assert not (first | second) & set(HEAVY)


def test_a_command_collects_its_garbage_though_its_imports_did_not(directory: Path) -> None:
    code = "import gc, sys; from nuggets.interfaces import run_process; from nuggets.interfaces."
    code += "cli import main; run_process(lambda: main(sys.argv[1:]) or 40 + gc.isenabled())"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, "--dir", str(directory), "remember", "n", "k", "v"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 41
    assert done.stdout.startswith("Remembered k")


def test_a_cold_recall_needs_numpy_and_no_stemmer(directory: Path) -> None:
    loaded_after("--dir", str(directory), "remember", "n", "k", "v")

    modules = loaded_after("--dir", str(directory), "recall", "k")

    assert "numpy" in modules
    assert not modules & {"Stemmer", "logging", "asyncio", "uuid", "tempfile"}


def test_importing_the_package_imports_no_numpy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, nuggets; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert not set(done.stdout.split()) & {"numpy", "Stemmer", "argparse"}
