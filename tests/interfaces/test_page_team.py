"""The page of a team: a member signs in, sees what is theirs and the team's, and who wrote it."""

from pathlib import Path

import httpx
from playwright.sync_api import Browser, expect

from nuggets import NuggetShelf
from page_visits import PATIENCE_MS
from web_serving import served


def test_a_member_signs_in_and_sees_who_wrote_what(browser: Browser, tmp_path: Path) -> None:
    directory = str(tmp_path / "team")
    with NuggetShelf(directory) as shelf:
        tokens = {name: shelf.add_member(name) for name in ("alice", "bob")}
    with served(directory) as server:
        facts = f"{server.url}api/nuggets/work/facts"
        for name, scope in (("alice", "shared"), ("alice", "user"), ("bob", "user")):
            body = {"key": f"{scope} of {name}", "value": "x", "scope": scope}
            header = {"Authorization": f"Bearer {tokens[name]}"}
            httpx.post(facts, json=body, headers=header, timeout=60).raise_for_status()
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(server.url)
        page.get_by_label("Token").fill("alice.wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("not valid")
        page.get_by_label("Token").fill(tokens["alice"])
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator(".live .sr-only")).to_have_text("live")
        assert page.evaluate("document.cookie") == ""
        page.goto(f"{server.url}#/activity")
        steps = page.locator(".steps")
        expect(steps).to_contain_text("shared of alice")
        expect(steps).to_contain_text("user of alice")
        expect(steps).to_contain_text("alice (page)")
        expect(steps).not_to_contain_text("of bob")
        page.locator(".steps").get_by_role("button", name="Undo").first.click()
        expect(steps).to_contain_text("Redo")
        page.close()
