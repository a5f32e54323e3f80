"""Exports that are refreshed in the background: when a refresh ends early, and begins again."""

import threading

import pytest

from nuggets.stores.exports import refresh_thread
from nuggets.stores.exports.refresh_thread import BackgroundRefresh


def test_a_refresh_that_holds_up_the_log_stops_and_begins_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refresh_thread, "LAG_SECONDS", 0.0)
    is_log_large = iter((False, True, False, False))
    is_done = threading.Event()
    begun: list[int] = []

    def refresh() -> None:
        begun.append(1)
        background.pause()
        background.pause()
        is_done.set()

    background = BackgroundRefresh(refresh, lambda: False, lambda: next(is_log_large))
    background.request()

    assert is_done.wait()
    assert len(begun) == 2
