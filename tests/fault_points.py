"""Run with the shim loaded: every operation of every door, failed at every system call.

Prints one line per operation and kind of fault, and exits with 1 if anything was not as it must be:
afterwards there is the old state or the new one, whole; what was acknowledged is there; nothing
raised an error that has no message; the next writer can write; no temporary file is left.
"""

import ctypes
import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Any

from fault_processes import age_leftovers, is_intact, leftovers
from forked_processes import load_package
from nuggets.domain.state import MemoryState
from nuggets.errors import NuggetsError
from nuggets.shelf import NuggetShelf
from nuggets.stores.exports import refresher
from nuggets.stores.sqlite.store import SqliteStore
from store_samples import exports_agree, note, open_directory, put, revision_of, state_of

KINDS = {
    1: "killed before",
    2: "killed amid",
    3: "EIO",
    4: "EIO sticky",
    5: "ENOSPC",
    6: "short write",
    7: "EIO of a read",
    8: "killed after",
    9: "ENOSPC sticky",
    10: "done, but reported as EIO",
    11: "EIO of reads sticky",
}
READS = (KINDS[7], KINDS[11])
ACKNOWLEDGED, REFUSED, NOT_REACHED = 0, 3, 9
PROJECT = "/home/me/here/.git"  # need not exist
QUIET = {"MEMORY_REFLECTION_DAILY": "0", "NUGGETS_HOOK_SECONDS": "60", "NUGGETS_SESSION": "s1"}


class Refused(NuggetsError):
    """A door answered with an error, or did not say that anything was stored."""


Operation = Callable[[str], Any]  # of the directory that holds the shelf and a memory file


def shelf_of(place: str) -> str:
    return os.path.join(place, "store")


def open_shelf(place: str) -> NuggetShelf:
    return NuggetShelf(shelf_of(place), short_lived=True, project="")


def python(operation: Callable[[NuggetShelf], Any]) -> Operation:
    """An operation of the Python interface."""

    def run(place: str) -> None:
        with open_shelf(place) as shelf:
            operation(shelf)

    return run


def command(*words: str) -> Operation:
    """A command, in this process; `{}` is the directory with all files."""
    from nuggets.__main__ import run_command as main

    def run(place: str) -> None:
        os.environ.update(QUIET, NUGGETS_DIR=shelf_of(place))
        output, errors = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
        with redirect_stdout(output), redirect_stderr(errors):
            code = main([word.replace("{}", place) for word in words])
        errors.seek(0)
        messages = errors.read()
        if "Traceback" in messages or code not in (0, 1, 2):
            raise RuntimeError(f"ended with {code}: {messages}")
        if code:
            raise Refused(messages)

    return run


def hook(event: str, **payload: str) -> Operation:
    """A hook. It never fails, so it acknowledges nothing."""

    def run(place: str) -> None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(json.dumps(payload).encode()))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # in a child: what it says to its host
        command("hook", event)(place)
        raise Refused

    return run


def mcp(tool: str, **arguments: Any) -> Operation:
    """A tool of the MCP server."""
    from agent_doors import in_memory, server_context

    async def talk(client: Any) -> Any:
        return await client.call_tool(tool, arguments)

    def run(place: str) -> None:
        if in_memory(server_context(shelf_of(place), project=PROJECT), talk).is_error:
            raise Refused

    return run


def rest(method: str, path: str, **body: Any) -> Operation:
    """A request to the page's interface."""
    from web_serving import client

    def run(place: str) -> None:
        with open_shelf(place) as shelf, client(shelf) as web:
            if web.request(method, path, json=body).status_code >= 400:
                raise Refused

    return run


def write_and_refresh(place: str) -> None:
    """A write that leaves the files behind, and the process that brings them up to date."""
    dying = SqliteStore(shelf_of(place))
    put(dying, note(1))
    dying.close()
    with suppress(OSError):  # then none is started
        path = os.path.join(shelf_of(place), "graph", "refresher.lock")
        refresher.run(shelf_of(place), os.open(path, os.O_RDWR | os.O_CREAT))


def link_two(shelf: NuggetShelf) -> None:
    made = shelf.create_note("plans", "Third", "new")
    shelf.add_link(made.id, "First", "because")


def write_a_batch(shelf: NuggetShelf) -> None:
    with shelf.batch():
        shelf.remember("facts", "new", "value")
        shelf.forget("facts", "a")
        shelf.create_note("plans", "Second", "two")


OPERATIONS: dict[str, Operation] = {
    "remember": python(lambda shelf: shelf.remember("facts", "new", "value")),
    "remember first": python(lambda shelf: shelf.remember("other", "new", "value")),
    "create_note + add_link": python(link_two),
    "batch": python(write_a_batch),
    "clear": python(lambda shelf: shelf.clear("facts")),
    "recall": python(lambda shelf: shelf.recall("b", session="s1")),
    "purge": python(lambda shelf: shelf.purge_fact("facts", "b")),
    "begin": python(lambda shelf: shelf.remember("facts", "a", "value a")),
    "command remember --pin": command(
        *("remember", "facts", "new", "value", "--pin"),
    ),
    "command recall": command("recall", "b"),
    "command search": command("search", "value"),
    "command note edit": command("note", "edit", "First", "changed"),
    "command note delete --hard": command("note", "delete", "First", "--hard"),
    "command undo": command("undo", "5"),
    "command reflect": command("reflect"),
    "command promote": command("promote", "--path", "{}/memory/MEMORY.md"),
    "command forget --purge": command("forget", "facts", "b", "--purge"),
    "command import": command("import", "{}/other.jsonl"),
    "command export json": command("export", "json"),
    "command export markdown": command("export", "markdown", "{}/pages"),
    "command backup": command("backup"),
    "command restore": command("restore", "{}/copy.db"),
    "command doctor": command("doctor"),
    "command doctor --fix": command("doctor", "--fix"),
    "command config set": command("config", "set", "history_days", "30"),
    "hook prompt": hook("user-prompt", session_id="s", prompt="Remember that we use tabs. And b?"),
    "hook stop": hook("stop", session_id="s"),
    "mcp remember": mcp("remember", nugget="facts", key="new", value="value"),
    "mcp recall": mcp("recall", query="b"),
    "rest fact": rest("POST", "/api/nuggets/facts/facts", key="new", value="value"),
    "rest delete": rest("DELETE", "/api/notes/First"),
    "refresher": write_and_refresh,
}
EMPTY = ("begin",)  # in a directory that is not there yet


def prepare(place: str) -> None:
    with open_shelf(place) as shelf:
        for key in "abc":
            shelf.remember("facts", key, f"value {key}")
        shelf.create_note("plans", "First", "one")
        shelf.backup(os.path.join(place, "copy.db"))
        shelf.remember("facts", "c", "newer")
        for session in ("x", "y", "z"):
            shelf.recall("a", session=session)
    os.mkdir(os.path.join(place, "memory"))
    for name, text in (
        ("memory/MEMORY.md", "# Mine\n\n- a line\n"),
        ("other.jsonl", '{"type":"entity","name":"e","entityType":"t","observations":["o"]}\n'),
        ("store/learnt.damaged-1", "set aside"),
    ):
        with open(os.path.join(place, name), "w", encoding="utf-8") as file:
            file.write(text)
    os.environ["NUGGETS_MEMORY_FILE"] = os.path.join(place, "memory", "MEMORY.md")


def copy(original: str, place: str) -> None:
    shutil.rmtree(place, ignore_errors=True)
    if os.path.isdir(original):
        shutil.copytree(original, place, copy_function=shutil.copy2)
    os.environ["NUGGETS_MEMORY_FILE"] = os.path.join(place, "memory", "MEMORY.md")


def told(state: MemoryState) -> object:
    """All that is there, ids, times and recalls aside."""
    titles = {n.id: n.title for n in state.notes.values()}
    return sorted(
        (n.nugget_name, n.title, n.content, sorted(titles[link.to] for link in n.links))
        for n in state.notes.values()
    )


def steps(place: str, operation: Operation) -> list[object]:
    """What may be found: before, between the writes of an operation of several, and after."""
    store = open_directory(shelf_of(place))
    before, begin = told(state_of(store)), revision_of(store)
    store.close()
    child = os.fork()
    if not child:
        code = 1
        try:
            operation(place)
            code = 0
        except Refused as problem:
            code = 1 if str(problem) else 0
            if code:
                print(problem, file=sys.stderr)
        except BaseException as problem:
            print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store = open_directory(shelf_of(place))
    state = state_of(store)
    seen = [told(state)]
    with store.reading():
        for commit in store.history.commits(begin, newest_first=True):
            state.apply(commit.before)
            seen.append(told(state))
    store.close()
    return [before, *seen[::-1]]


def in_child(place: str, operation: Operation, k: int, kind: int) -> int:
    """Its exit code, or minus the signal that ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        shim = ctypes.CDLL(None)
        shim.shim_arm(place.encode(), k, kind)
        try:
            operation(place)
            code = ACKNOWLEDGED if shim.shim_count() >= k else NOT_REACHED
        except NuggetsError as problem:
            is_due = shim.shim_count() >= k
            code = REFUSED if is_due else NOT_REACHED if type(problem) is Refused else 1
    except BaseException as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
    finally:
        os._exit(code)


def count_calls(original: str, place: str, operation: Operation, kind: int) -> int:
    """How many of its system calls can be failed by such a fault."""
    copy(original, place)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        shim = ctypes.CDLL(None)
        shim.shim_arm(place.encode(), 0, kind)
        try:
            with suppress(Refused):
                operation(place)
            os.write(writing, str(shim.shim_count()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="ascii") as said:
        calls = int(said.read())
    os.waitpid(child, 0)
    return calls


def problems_at(place: str, code: int, allowed: list[object]) -> list[str]:
    found = []
    directory = shelf_of(place)
    if code not in (ACKNOWLEDGED, REFUSED, -9):
        found.append(f"ended with {code}")
    age_leftovers(directory)
    store = open_directory(directory)
    now = told(state_of(store))
    if now not in allowed or (code == ACKNOWLEDGED and now != allowed[-1]):
        found.append(f"neither old nor new, or not what was acknowledged: {now}")
    put(store, note(0xFFFF, title="after"))
    store.close()
    if not is_intact(directory):
        found.append("the database is damaged")
    if not store.warnings and not exports_agree(directory):  # else a file is left alone, and told
        found.append("files disagree")
    if leftovers(directory):
        found.append(f"left behind {leftovers(directory)}")
    return found


def kinds_for(name: str, part: int) -> dict[int, str]:
    """One of so many kinds of faults: others for each operation, all of them for any few."""
    first = list(OPERATIONS).index(name) % part
    return dict(list(KINDS.items())[first::part])


def main(work: str, every: str = "1", part: str = "1", *names: str) -> int:
    """`every`: one of so many system calls is failed, others for each kind of fault; at least one
    of each kind, if the operation makes any that can be failed so. `part`: see `kinds_for`."""
    load_package()  # once, and not in every child
    prepared, place = os.path.join(work, "original"), os.path.join(work, "place")
    shutil.rmtree(prepared, ignore_errors=True)
    prepare(prepared)
    total = 0
    for name in names or OPERATIONS:
        operation = OPERATIONS[name]
        original = os.path.join(work, "nothing") if name in EMPTY else prepared
        copy(original, place)
        allowed = steps(place, operation)
        kinds = kinds_for(name, int(part))
        calls = {
            fails_reads: count_calls(original, place, operation, 7 if fails_reads else 1)
            for fails_reads in {label in READS for label in kinds.values()}
        }
        for kind, label in kinds.items():
            tried, last = 0, calls[label in READS]
            first = 1 + (5 * kind + 3 * len(name)) % max(1, min(int(every), last))
            for k in range(first, last + 1, int(every)):
                copy(original, place)
                code = in_child(place, operation, k, kind)
                if code == NOT_REACHED:
                    break
                tried += 1
                problems = problems_at(place, code, allowed)
                if problems:
                    print(f"{name}, {label} at call {k}: {problems}")
                    return 1
            print(f"{name}, {label}: {tried} points", flush=True)
            total += tried
    print(f"{total} faults")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
