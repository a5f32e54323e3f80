"""Visits to the page: a real browser, a real socket, a real shelf."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    Route,
    expect,
    sync_playwright,
)

from nuggets import NuggetShelf
from system_programs import program
from web_serving import served_here

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)

VIEWS = ("graph", "facts", "reflection", "memory", "activity", "sessions")
PATIENCE_MS = 120_000  # only for what never comes: a busy machine is no failure
expect.set_options(timeout=PATIENCE_MS)


@cache
def chromium() -> str:
    """The system's own, and rather the one without windows: it takes two fifths of the time."""
    found = program("chromium-headless-shell", "chromium-headless-shell")
    found = found or program("chromium", "chromium")
    if found is None:
        pytest.skip("there is no Chromium here and it cannot be installed: apt install chromium")
    return found


@contextmanager
def opened_browser() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


class Visit(NamedTuple):
    """Someone looks at a shelf."""

    page: Page
    shelf: NuggetShelf
    url: str
    complaints: list[str]  # of the browser
    open_questions: set[Request]  # that the page waits for an answer to

    def see(self, view: str = "graph", note: str = "") -> None:
        self.page.goto(f"{self.url}#/{view}/{note}".rstrip("/"))
        expect(self.page.locator(".live .sr-only")).to_have_text("live")

    def see_all(self, view: str = "graph", note: str = "") -> None:
        """Whatever the view asks the server for is there as well."""
        self.see(view, note)
        expect(self.page.locator("canvas")).to_have_attribute("data-notes", re.compile("[1-9]"))
        expect(self.page.get_by_text("Loading…")).to_have_count(0)

    def answered(self) -> "Visit":
        """Once nothing is under way: what goes now was not just asked for."""
        while self.open_questions:
            self.page.wait_for_timeout(20)
        return self

    def forgive(self, *told: str) -> None:
        """A test that breaks something hears of that in the console, and of nothing else."""
        assert [one for one in self.complaints if not any(part in one for part in told)] == []
        self.complaints.clear()


@contextmanager
def visited(browser: Browser, place: Path, project: str = "") -> Iterator[Visit]:
    """A new visitor; no error in the console, no request to any other host is forgiven."""
    with NuggetShelf(str(place / "shelf"), project=project, client="page") as shelf:
        with served_here(shelf) as url:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(PATIENCE_MS)
            complaints: list[str] = []
            page.on("console", lambda said: complaints.extend(_complaint(said)))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: complaints.append(dialog.message))
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            waiting: set[Request] = set()
            page.on("request", lambda one: waiting.add(one) if "/events" not in one.url else None)
            page.on("requestfinished", lambda one: waiting.discard(one))
            page.on("requestfailed", lambda one: waiting.discard(one))
            yield Visit(page, shelf, url, complaints, waiting)
            heard = list(complaints)  # not what a request says that closing the page cuts off
            page.close()
        assert not heard, heard
        assert [address for address in asked if not address.startswith((url, "blob:"))] == []


def _complaint(said: ConsoleMessage) -> list[str]:
    """Errors and warnings; a refused save is told there too, and handled by the page."""
    if said.type not in ("error", "warning") or "status of 409" in said.text:
        return []
    return [said.text]


def filled(shelf: NuggetShelf) -> list[str]:
    auth = shelf.create_note(
        "project", "Auth middleware", "Uses **JWT** in `src/auth.py`.\n\n- one\n- two", ["auth"]
    )
    jwt = shelf.create_note("project", "JWT token format", "RS256 signing.", ["auth", "jwt"])
    deploy = shelf.create_note("ops", "Deploy pipeline", "Runs on every tag.", ["ci"])
    shelf.add_link(auth.id, jwt.id, "uses JWT tokens")
    shelf.remember("project", "test cmd", "make test")
    return [auth.id, jwt.id, deploy.id]


def undo(page: Page, said: str) -> Locator:
    """The way back that a message offers."""
    return page.locator(".toast").filter(has_text=said).get_by_role("button", name="Undo")


class Held:
    """Requests that get no answer until the test lets them go."""

    def __init__(self, page: Page, pattern: str) -> None:
        self.asked: list[Route] = []
        self._holds = True
        page.route(pattern, self.hold)

    def hold(self, route: Route) -> None:
        self.asked.append(route)
        if not self._holds:
            route.continue_()

    def let_go(self) -> None:
        self._holds = False
        for route in list(self.asked):
            route.continue_()
