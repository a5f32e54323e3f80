"""The house keeps its own rules: directions of imports, docstrings, exports, a light front door."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import nuggets

PACKAGE = Path(nuggets.__file__).parent
ROOT = PACKAGE.parent.parent
MODULES = sorted(PACKAGE.rglob("*.py"))
HEAVY = (  # what a cold `nuggets remember` must do without
    *("dataclasses", "inspect", "logging", "pathlib", "tempfile", "random", "uuid", "secrets"),
    *("subprocess", "asyncio", "numpy", "difflib", "unittest", "email", "http"),
    *("locale", "tomlkit"),
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


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


NAMES = {module_name(path) for path in MODULES}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_modules(path: Path) -> Iterator[str]:
    """Our modules that a module imports, inside of functions too; not those for a type checker."""
    tree = tree_of(path)
    for_types = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node not in for_types and node.module in NAMES:
            parts = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (part if part in NAMES else node.module for part in parts)


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {module_name(path): {*imported_modules(path)} for path in MODULES}
    # A shelf makes its views, and is a client of a server where its address says so.
    graph["nuggets.shelf.nugget"].remove("nuggets.shelf")
    graph["nuggets.shelf"].remove("nuggets.remote.remote_shelf")

    TopologicalSorter(graph).prepare()


def test_every_module_says_what_it_is_for() -> None:
    trees = {path: tree_of(path) for path in MODULES}

    assert [path for path in MODULES if not ast.get_docstring(trees[path])] == []


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
from nuggets.__main__ import run_command as main
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
    assert not (first | second) & {"nuggets.search.query", "nuggets.search.results"}
    # for addresses of servers and messages in other languages: neither is asked for here
    assert not (first | second) & {"urllib.parse", "gettext", "locale"}


def test_a_command_collects_its_garbage_though_its_imports_did_not(directory: Path) -> None:
    code = (
        "import gc, sys; from nuggets.interfaces import run_process; from nuggets.__main__ import "
    )
    code += "run_command as main; run_process(lambda: main(sys.argv[1:]) or 40 + gc.isenabled())"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, "--dir", str(directory), "remember", "n", "k", "v"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 41
    assert done.stdout.startswith("Remembered k")


def test_a_small_command_does_not_stop_to_collect_garbage(directory: Path) -> None:
    count = "sum(generation['collections'] for generation in gc.get_stats())"
    code = (
        "import gc, sys; from nuggets.interfaces import run_process; from nuggets.__main__ import "
    )
    code += f"run_command as main; gc.disable(); before = {count}; "
    code += f"run_process(lambda: main(sys.argv[1:]) or 40 + {count} - before)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, "--dir", str(directory), "note", "list"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 40


def test_a_cold_recall_needs_numpy_and_no_stemmer(directory: Path) -> None:
    loaded_after("--dir", str(directory), "remember", "n", "k", "v")

    modules = loaded_after("--dir", str(directory), "recall", "k")

    assert "numpy" in modules
    assert not modules & {"Stemmer", "logging", "asyncio", "uuid", "tempfile"}


def test_a_cold_read_loads_nothing_that_only_writes(directory: Path) -> None:
    for key in ("k", "l"):
        loaded_after("--dir", str(directory), "remember", "n", key, "one value")

    recalled = loaded_after("--dir", str(directory), "recall", "k")
    found = loaded_after("--dir", str(directory), "search", "value")

    assert not (recalled | found) & {
        "nuggets.operations.operation_changes",
        "nuggets.operations.notes_and_links",
    }
    assert "nuggets.facts.fact_index" in recalled - found


def test_importing_the_package_imports_no_numpy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, nuggets; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert not set(done.stdout.split()) & {"numpy", "Stemmer", "argparse"}


TESTS = sorted(Path(__file__).parent.rglob("*.py"))
PUBLIC_IN_SPITE_OF_THE_NAME = {  # of Python
    *("_replace", "_asdict", "_fields", "_field_defaults", "_make", "_exit")
}


def is_private(name: str) -> bool:
    is_special = name.startswith("__") and name.endswith("__")
    return name[:1] == "_" != name and not is_special and name not in PUBLIC_IN_SPITE_OF_THE_NAME


def private_names(source: str) -> Iterator[str]:
    """The private names of others that a module uses, also in the scripts and dotted names that
    it has as text. What it calls `self._x` is its own."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name) if is_private(name):
                yield ast.unparse(node)
            case ast.ImportFrom(module=module, names=names):
                dotted = [f"{module}.{alias.name}" for alias in names]
                yield from (name for name in dotted if any(map(is_private, name.split("."))))
            case ast.Import(names=names):
                dotted = [alias.name for alias in names]
                yield from (name for name in dotted if any(map(is_private, name.split("."))))
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called),
                args=[_, ast.Constant(value=str(name)), *_],
            ) if called in ("getattr", "setattr", "delattr", "hasattr") and is_private(name):
                yield name
            case ast.Constant(value=str(text)):
                yield from private_names_in_text(text)


def private_names_in_text(text: str) -> Iterator[str]:
    if re.fullmatch(r"nuggets(\.\w+)+", text):
        yield from filter(is_private, text.split("."))
    elif "\n" in text and "import " in text:
        with suppress(SyntaxError):  # then it is no script
            yield from private_names(text)


def test_tests_use_public_names() -> None:
    used = {path: list(private_names(path.read_text(encoding="utf-8"))) for path in TESTS}

    assert {path: names for path, names in used.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    [
        "shelf._transactions.state",
        "from nuggets.secrets import _TOKENS",
        "from nuggets import _inside",
        "import nuggets._inside",
        "import nuggets._inside.deeper as name",
        'monkeypatch.setattr(memory_file, "_swap", swap)',
        'getattr(shelf, "_store")',
        'monkeypatch.setattr("nuggets.interfaces.timers._ran", run)',
        "SCRIPT = '''\nimport sys\nCALL\n'''".replace("CALL", "store._write()"),
    ],
)
def test_a_private_name_is_noticed(source: str) -> None:
    assert list(private_names(source)) != []


@pytest.mark.parametrize(
    "source",
    ["note._replace(title='x')", "self._held = []", "os._exit(1)", "_helper()", "a.__dict__"],
)
def test_a_name_that_is_not_private_to_others_is_none(source: str) -> None:
    assert list(private_names(source)) == []


# Names. A function is called by what it does or gives: `join_conditions`, not `joined`.
IRREGULAR_PARTICIPLES = {
    *("told", "heard", "said", "known", "found", "given", "shown", "written", "seen"),
    *("kept", "made", "taken", "held", "gone", "drawn", "chosen", "lost", "sent"),
    *("built", "met", "brought", "thought", "begun", "done", "broken", "hidden", "forgotten"),
    *("grown", "meant", "spoken", "worn", "bought", "caught", "felt", "spent", "stood"),
}
PREPOSITIONS = {
    *("to", "of", "at", "in", "on", "by", "for", "from", "with"),
    *("without", "beside", "above", "below", "after", "before", "around", "within", "among"),
    *("between", "beyond", "under", "near", "apart", "away", "together", "against", "about"),
    *("into", "out", "since", "until", "over"),
}
ENDS_LIKE_A_PARTICIPLE = {"need", "seed", "feed", "speed", "embed", "exceed", "proceed"}


def vague_names(source: str) -> Iterator[str]:
    """Functions that are named by a bare participle or preposition, such as `_told` or `to`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            word = node.name.strip("_")
            is_participle = word.endswith("ed") and word not in ENDS_LIKE_A_PARTICIPLE
            if (is_participle and "_" not in word) or word in IRREGULAR_PARTICIPLES | PREPOSITIONS:
                yield node.name


def test_no_function_is_named_by_a_bare_participle_or_preposition() -> None:
    vague = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in MODULES
        for name in vague_names(path.read_text(encoding="utf-8"))
    }

    assert vague == set()


@pytest.mark.parametrize("name", ["told", "_joined", "with_", "_beside", "pinned"])
def test_a_vague_name_is_noticed(name: str) -> None:
    assert list(vague_names(f"def {name}(): ...")) == [name]


@pytest.mark.parametrize("name", ["seed", "joined_words", "with_entry", "_pinned_ids", "feed"])
def test_a_name_that_says_what_it_gives_is_none(name: str) -> None:
    assert list(vague_names(f"class C:\n    def {name}(self): ...")) == []
