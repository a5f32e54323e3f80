"""Keeps docs/conformance.md honest: every test it names exists, and ran when all tests ran.

A pytest plugin (loaded by pyproject.toml) and the reader of the table that the tests share.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "conformance.md"
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


class Row(NamedTuple):
    statement: str
    shown_by: str

    @property
    def tests(self) -> list[tuple[str, str]]:
        return _TEST.findall(self.shown_by)


def rows() -> Iterator[Row]:
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        is_row = line.startswith("|") and len(cells) >= 2 and not set(cells[0]) <= set("-: ")
        if is_row and cells[0].lower() != "statement":
            yield Row(cells[0], cells[-1])


@cache
def functions(path: Path) -> set[str]:
    """Names of the test functions in a file, those in classes too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


class _Ran:
    def __init__(self) -> None:
        self.passed: set[tuple[str, str]] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            path, _, rest = report.nodeid.partition("::")
            self.passed.add((path, rest.split("::")[-1].partition("[")[0]))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Only a run of everything can say that something did not run."""
        config = session.config
        if exitstatus or hasattr(config, "workerinput") or not _is_whole_run(config):
            return
        missing = [test for row in rows() for test in row.tests if test not in self.passed]
        if missing:
            names = "\n".join(f"  {path}::{name}" for path, name in sorted(set(missing)))
            print(f"\ndocs/conformance.md names tests that did not run:\n{names}")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _is_whole_run(config: pytest.Config) -> bool:
    chosen = config.option.keyword or config.option.markexpr or config.option.collectonly
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not chosen


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Ran(), "conformance-ran")
