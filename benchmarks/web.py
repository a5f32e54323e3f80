"""The web interface: search over HTTP at 10,000 notes, and the page with 5,000.

    python -m benchmarks.web [--quick]

Requests come from a second process over connections that stay open, the same work as a baseline
that answers nothing (/api/health) in the same run. The page is measured in headless Chromium
without a graphics card: the time to the first picture of the graph, and between frames while a
hand pans and zooms.
"""

import asyncio
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from statistics import quantiles
from typing import Any
from urllib.parse import quote

from nuggets.interfaces.rest import PAGE
from nuggets.shelf import NuggetShelf

WORDS = """
    auth token deploy cache queue session retry build test index search billing invoice order
    gateway worker cron backup export upload report login profile database server client schema
    latency timeout region bucket replica shard lock thread socket header cookie router handler
    parser vector note memory recall signal metric trace alert budget limit quota policy rule
""".split()  # noqa: SIM905 (a list of words reads better than one of strings)
AREAS = 12  # nuggets; most links stay inside one
CONNECTIONS = 4
REQUESTS = 3000
CHROMIUM_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


def filled(directory: str, count: int) -> None:
    """A shelf of linked notes, the same each time."""
    chance = Random(7)
    with NuggetShelf(directory, project="") as shelf:
        with shelf.batch():
            notes = [
                shelf.create_note(
                    f"area {n % AREAS}",
                    f"{chance.choice(WORDS)} {chance.choice(WORDS)} {n}",
                    " ".join(chance.choices(WORDS, k=40)),
                    [chance.choice(WORDS)],
                ).id
                for n in range(count)
            ]
        with shelf.batch():
            for n in range(AREAS, count):
                near = n - AREAS * (1 + int(chance.expovariate(1 / 30)))
                shelf.add_link(notes[n], notes[max(n % AREAS, near)], "belongs together")
                if n % 2:
                    far = n - AREAS * chance.randint(1, n // AREAS)
                    other = far + 1 if n % 20 == 1 and far % AREAS < AREAS - 1 else far
                    shelf.add_link(notes[n], notes[other], "mentioned there")


@contextmanager
def server(directory: str) -> Iterator[str]:
    """A running `nuggets serve`; its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nuggets", "serve", "--dir", directory, "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait()


def load(url: str, paths: list[str]) -> dict[str, float]:
    """Ask for all the paths over a few connections; requests per second and percentiles."""
    host, port = url.removeprefix("http://").rstrip("/").rsplit(":", 1)
    waiting = iter(paths)
    taken: list[float] = []

    async def connection() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        for path in waiting:
            began = time.perf_counter()
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
            taken.append(time.perf_counter() - began)
        writer.close()

    async def everyone() -> None:
        await asyncio.gather(*(connection() for _ in range(CONNECTIONS)))

    began = time.perf_counter()
    asyncio.run(everyone())
    seconds = time.perf_counter() - began
    cuts = quantiles(taken, n=100)
    return {
        "requests_per_second": round(len(paths) / seconds, 1),
        "p50_ms": round(1000 * cuts[49], 2),
        "p99_ms": round(1000 * cuts[98], 2),
    }


def questions(count: int, seed: int) -> list[str]:
    chance = Random(seed)
    asked = (" ".join(chance.choices(WORDS, k=chance.randint(1, 3))) for _ in range(count))
    return [f"/api/search?limit=5&query={quote(question)}" for question in asked]


def requests(notes: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        filled(directory, notes)
        with server(directory) as url:
            began = time.perf_counter()
            load(url, questions(8, 1))
            first = time.perf_counter() - began
            return {
                "notes": notes,
                "connections": CONNECTIONS,
                "first_searches_s": round(first, 2),
                "search": load(url, questions(REQUESTS, 2)),
                "baseline": load(url, ["/api/health"] * REQUESTS),
            }


def page(notes: int) -> dict[str, Any]:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as directory:
        filled(directory, notes)
        with server(directory) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path="/usr/bin/chromium", args=CHROMIUM_FLAGS
            )
            window = browser.new_page(viewport={"width": 1280, "height": 800})
            window.goto(url)
            window.wait_for_selector("html[data-graph]")
            first = window.evaluate("performance.getEntriesByName('first-picture')[0].startTime")
            window.wait_for_selector("html[data-graph=settled]", timeout=120_000)
            settled = window.evaluate("performance.now()")
            measured = {
                "notes": notes,
                "first_picture_ms": round(first),
                "settled_ms": round(settled),
                "pan": _frames(window, "pan"),
                "zoom": _frames(window, "zoom"),
            }
            shot = os.environ.get("NUGGETS_SHOT")
            if shot:
                window.screenshot(path=shot)
            browser.close()
            return measured


_GESTURE = """kind => new Promise(done => {
  const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
  const at = (x, y, more) => ({clientX: box.left + x, clientY: box.top + y, pointerId: 1,
    isPrimary: true, pointerType: "mouse", bubbles: true, cancelable: true, ...more});
  canvas.setPointerCapture = () => {};
  const [x0, y0] = [box.width - 40, 30];
  if (kind === "pan") canvas.dispatchEvent(new PointerEvent("pointerdown", at(x0, y0)));
  const times = [];
  let count = 0;
  const step = now => {
    times.push(now);
    if (count++ < 90) {
      if (kind === "pan")
        canvas.dispatchEvent(new PointerEvent("pointermove", at(x0 - 4 * count, y0 + count)));
      else canvas.dispatchEvent(new WheelEvent("wheel", at(box.width / 2, box.height / 2,
        {deltaY: count < 45 ? -30 : 30})));
      requestAnimationFrame(step);
    } else {
      if (kind === "pan") canvas.dispatchEvent(new PointerEvent("pointerup", at(x0, y0)));
      done(times.slice(1).map((time, i) => time - times[i]));
    }
  };
  requestAnimationFrame(step);
})"""


def _frames(window: Any, kind: str) -> dict[str, float]:
    between = window.evaluate(_GESTURE, kind)
    cuts = quantiles(between, n=100)
    return {
        "frames_per_second": round(1000 * len(between) / sum(between), 1),
        "p50_ms": round(cuts[49], 1),
        "p95_ms": round(cuts[94], 1),
        "worst_ms": round(max(between), 1),
    }


def static_size() -> int:
    """Bytes of the page's files, each compressed on its own."""
    sizes = 0
    for name in sorted(os.listdir(PAGE)):
        with open(os.path.join(PAGE, name), "rb") as file:
            sizes += len(gzip.compress(file.read(), 9))
    return sizes


def rows(quick: bool = False) -> Iterator[dict[str, Any]]:
    """What, goal, measured, and the baseline of the same run."""
    size = static_size()
    yield {
        "what": "static files of the page, compressed",
        "goal": "<= 400 KB",
        "measured": f"{size / 1000:.0f} KB",
        "reached": size <= 400_000,
    }
    notes = 2_000 if quick else 10_000
    answers = requests(notes)
    search, baseline = answers["search"], answers["baseline"]
    yield {
        "what": f"GET /api/search, {notes:,} notes, {CONNECTIONS} connections",
        "goal": ">= 300/s, p99 <= 50 ms",
        "measured": f"{search['requests_per_second']}/s, p50 {search['p50_ms']} ms, "
        f"p99 {search['p99_ms']} ms",
        "baseline": f"/api/health {baseline['requests_per_second']}/s, p99 {baseline['p99_ms']} ms",
        "reached": search["requests_per_second"] >= 300 and search["p99_ms"] <= 50,
    }
    nodes = 1_000 if quick else 5_000
    seen = page(nodes)
    yield {
        "what": f"first picture of {nodes:,} notes",
        "goal": "<= 2 s",
        "measured": f"{seen['first_picture_ms']} ms (layout at rest {seen['settled_ms']} ms)",
        "reached": seen["first_picture_ms"] <= 2000,
    }
    for kind in ("pan", "zoom"):
        frames = seen[kind]
        yield {
            "what": f"{kind}, {nodes:,} notes, software rendering",
            "goal": ">= 30 frames/s",
            "measured": f"{frames['frames_per_second']}/s, p50 {frames['p50_ms']} ms, "
            f"p95 {frames['p95_ms']} ms, worst {frames['worst_ms']} ms",
            "reached": frames["frames_per_second"] >= 30,
        }


if __name__ == "__main__":
    from benchmarks.__main__ import line

    for row in rows("--quick" in sys.argv):
        print(line(row), flush=True)
