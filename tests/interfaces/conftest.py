"""A browser for the tests of the page; whoever needs none loads none."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from page_visits import Visit


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    from page_visits import opened_browser

    with opened_browser() as opened:
        yield opened


@pytest.fixture
def visit(browser: "Browser", tmp_path: Path) -> "Iterator[Visit]":
    """A new visitor; no error in the console, no request to any other host is forgiven."""
    from page_visits import visited

    with visited(browser, tmp_path) as one:
        yield one
