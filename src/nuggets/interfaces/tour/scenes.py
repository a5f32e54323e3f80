"""A day of work, end to end with real processes: two projects, several sessions, two agents.

It runs in a temporary directory. Each scene yields statements and whether they are true; a test
runs the same scenes.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from nuggets.domain.records import PROMOTE_THRESHOLD
from nuggets.interfaces.tour.stage import Agent, Stage
from nuggets.named_tuple import NamedTuple

WRITES = 5  # of each of the two agents that write at once


class Statement(NamedTuple):
    """One statement of the tour."""

    scene: str
    what: str
    holds: bool


def tour(place: str) -> Iterator[Statement]:
    """All scenes in order, each as soon as it is over."""
    stage = Stage(place)
    for scene in SCENES:
        assert scene.__doc__ is not None
        for what, holds in scene(stage):
            yield Statement(scene.__doc__, what, holds)


Scene = Callable[[Stage], Iterator[tuple[str, bool]]]


def _morning(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Morning: you talk to your agent in the shop's repository."""
    begun = stage.hook("shop", "monday", "session-start", source="startup")
    yield "an empty memory says nothing", begun == ""
    stage.hook(
        "shop",
        "monday",
        "user-prompt",
        prompt="I prefer short answers. Always run make check before you push.",
    )
    stated = {note["content"]: note["project"] for note in stage.run("shop", "note", "list")}
    yield "your taste is kept for everywhere", stated.get("I prefer short answers") == ""
    rule = stated.get("Always run make check before you push", "")
    yield "your rule is kept for this project", rule.startswith(stage.folder("shop"))
    with Agent(stage, "shop") as agent:
        note = agent.call(
            "create_note",
            nugget="learnings",
            title="Checkout tokens",
            content="Checkout tokens are signed with RS256 in src/checkout/tokens.py.",
        )
    yield "the agent's note names its project", note["project"].startswith(stage.folder("shop"))


def _at_once(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Noon: two agents write at the same time."""
    with ExitStack() as both:
        agents = [both.enter_context(Agent(stage, name)) for name in ("shop", "blog")]
        for number in range(WRITES):
            for index, agent in enumerate(agents):
                key, value = f"port of service {index}{number}", f"80{index}{number}"
                agent.begin("remember", nugget="ports", key=key, value=value)
            for agent in agents:
                agent.end()
    stored = len(stage.run("shop", "facts", "ports"))
    yield f"all {2 * WRITES} writes are kept", stored == 2 * WRITES


def _kill(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Kill a process while it works."""
    with Agent(stage, "blog") as agent:
        agent.call(
            "create_note",
            nugget="learnings",
            title="Feed generator",
            content="The feed generator sorts posts by date in build/feed.py.",
        )
        agent.begin("remember", nugget="ports", key="never answered", value="8099")
        agent.process.send_signal(signal.SIGKILL)
    results = stage.run("blog", "search", "feed generator")
    yield (
        "what it had answered is stored",
        bool(results) and "feed.py" in results[0]["note"]["content"],
    )
    yield "and the shelf still works", stage.run("blog", "recall", "port of service 00")["found"]


def _compaction(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Afternoon: the context is cut, the task is not lost."""
    stage.hook("shop", "monday", "user-prompt", prompt="Move the invoice mailer to a queue.")
    edited = os.path.join(stage.folder("shop"), "src", "mailer.py")
    stage.hook("shop", "monday", "post-tool", tool_name="Edit", tool_input={"file_path": edited})
    stage.hook("shop", "monday", "pre-compact", trigger="auto")
    again = stage.hook("shop", "monday", "session-start", source="compact")
    yield "the agent picks its task up again", "Move the invoice mailer to a queue" in again
    files = stage.run("shop", "note", "list", "--nugget", "files")
    yield "and knows what it touched", [n["title"] for n in files] == ["file: src/mailer.py"]


def _sessions(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Recall the same memories in as many sessions as promotion needs."""
    prompts = {
        "shop": "How are checkout tokens signed?",
        "blog": "How does the feed generator sort?",
    }
    answers = {
        project: [
            stage.hook(project, f"{project}-{day}", "user-prompt", prompt=prompt)
            for day in range(PROMOTE_THRESHOLD)
        ]
        for project, prompt in prompts.items()
    }
    yield "each is told", all("RS256" in text for text in answers["shop"])
    yield "in the other project too", all("feed.py" in text for text in answers["blog"])
    crossed = stage.hook("blog", "friday", "user-prompt", prompt=prompts["shop"])
    yield "but neither project sees the other's memories", "RS256" not in crossed
    idle = stage.hook("shop", "friday", "user-prompt", prompt="What is the capital of Mongolia?")
    yield "and off topic memory stays silent", idle == ""


def _clean_up(stage: Stage) -> Iterator[tuple[str, bool]]:
    """Night: the clean-up, and a change of mind."""
    stage.run("shop", "note", "add", "project", "scribble", "x")
    done = stage.run("shop", "reflect", "--all")
    gone = not any("scribble" in n["title"] for n in stage.run("shop", "note", "list"))
    yield "rubbish is archived", done["hidden"] == 1 and gone
    undone = stage.run("shop", "undo")
    back = any("scribble" in n["title"] for n in stage.run("shop", "note", "list"))
    yield "and undo brings it back", undone["undone"]["action"] == "reflect" and back


def _promotion(stage: Stage) -> Iterator[tuple[str, bool]]:
    """What enough sessions recalled moves into MEMORY.md, beside what you wrote there."""
    own = "# My notes\n\nDeploys are on Thursdays.\n"
    with open(stage.memory_file("shop"), "w", encoding="utf-8") as file:
        file.write(own)
    for project in ("shop", "blog"):
        stage.run(project, "promote")
    shop, blog = stage.memory("shop"), stage.memory("blog")
    yield "the shop's line is in the shop's file", "**Checkout tokens**" in shop
    yield "the blog's in the blog's", "**Feed generator**" in blog
    yield "nothing leaked", "Feed" not in shop and "Checkout" not in blog
    yield "your own lines stand as you wrote them", own in shop
    changed = shop.replace("are signed with RS256", "are signed with RS256 (rotated yearly)")
    with open(stage.memory_file("shop"), "w", encoding="utf-8") as file:
        file.write(changed)
    stage.run("shop", "promote")
    yield "a line you correct stays corrected", "(rotated yearly)" in stage.memory("shop")


def _forgetting(stage: Stage) -> Iterator[tuple[str, bool]]:
    """And what has to go, goes."""
    stage.run("blog", "note", "delete", "Feed generator", "--purge")
    yield "from the memory file", "Feed generator" not in stage.memory("blog")
    results = stage.run("blog", "search", "feed generator") or []
    yield "from search", not any("Feed" in result["note"]["title"] for result in results)
    yield (
        "and from every file, the history included",
        not any(_files_contain(stage, b"Feed generator")),
    )
    yield "the shop keeps its own", "Checkout tokens" in stage.memory("shop")


def _files_contain(stage: Stage, words: bytes) -> Iterator[bool]:
    """For each file of the shelf: does it contain these words?"""
    for folder, _, names in os.walk(os.path.join(stage.place, "shelf")):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                yield words in file.read()


SCENES: tuple[Scene, ...] = (
    *(_morning, _at_once, _kill, _compaction),
    *(_sessions, _clean_up, _promotion, _forgetting),
)
