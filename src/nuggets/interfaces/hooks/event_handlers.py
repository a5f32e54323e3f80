"""What each hook event does, and what a hook starts in a process of its own."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from nuggets.domain import times
from nuggets.domain.limits import SESSION_CHARACTERS
from nuggets.domain.marks import INSTRUCTION_FILES
from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import (
    open_plain,
    private_directory,
    read_beginning,
    write_private_file,
)
from nuggets.filesystem.current_project import checkout_root, current_branch
from nuggets.filesystem.hook_files import hook_path, host_processes, record_session, sweep
from nuggets.filesystem.shelf_location import MEMORY_DIRECTORY, directory_of
from nuggets.interfaces.hooks.host_payload import Event
from nuggets.interfaces.hooks.orders import WaitingOrder, waiting_orders
from nuggets.interfaces.hooks.prompt_answer import Say, answer_prompt, news, take_in_waiting
from nuggets.interfaces.hooks.shown_memories import append_entry, read_diary, where_it_is
from nuggets.language.text import one_line
from nuggets.operations.session_notes import session_note_id
from nuggets.settings import Settings, load

if TYPE_CHECKING:
    from nuggets.domain.records import MemoryNote
    from nuggets.shelf import NuggetShelf

OLDER_ORDERS = 5  # that one prompt takes in; the next one takes more
CONTINUED = ("resume", "compact", "fork")  # why a session starts that has a past
NEEDS_MIGRATION = (
    "Nuggets: another version wrote this memory; hooks do not use it until a command has "
    "migrated it. Run `nuggets list` once."
)
HOSTS_WITH_MEMORY_FILE = ("claude-code",)
STAMP = "daily"  # the date on which a hook last started the daily clean-up


def handle_event(event: Event, directory: str, say: Say, left: Sequence[WaitingOrder] = ()) -> None:
    """Handle one event; `left`: the orders of the prompt. The answer is printed before anything is
    written, because a write may wait for the lock; only the receipt for an order waits."""
    if event.name == "session-end":  # hosts allow less than a second; the next start does the work
        return
    if event.name == "stop" and not _has_news(directory, event):
        return
    # the shelf refuses longer ones
    event = event._replace(session=event.session[:SESSION_CHARACTERS])
    for process in host_processes():
        record_session(directory, process, event.session)
    with _open_shelf(event, directory) as shelf:
        if not shelf.server and shelf.needs_migration():  # which takes longer than a hook may
            if event.name == "session-start":
                say(NEEDS_MIGRATION)
            return
        exchange = ""
        if event.name == "user-prompt":  # the person waits for it
            _answer_prompt(shelf, event, directory, say, left)
        else:
            asks_trust = event.name == "session-start" and shelf.needs_trust()
            if event.name == "session-start":
                _start_session(shelf, event, directory, say, asks_trust=asks_trust)
                exchange = _exchange_command(shelf)
            _keep_what_happened(shelf, event, directory)
            if asks_trust:
                shelf.sharing.record_question()
            else:
                shelf.sync_shared(has_written=True)
        if shelf.recognition is not None:
            shelf.record_location()  # the person is told once
        settings, server = shelf.settings, shelf.server
    if exchange:
        start_exchange(directory, exchange)
    if not server:
        _start_daily_pass(directory, settings)


def _answer_prompt(
    shelf: "NuggetShelf", event: Event, directory: str, say: Say, left: Sequence[WaitingOrder]
) -> None:
    place = where_it_is(event)

    def record(entry: dict[str, Any]) -> None:
        append_entry(directory, event.session, {**entry, **place})

    own = [one._replace(folder="") for one in left]
    paths = {one.path for one in own}
    older = [one for one in waiting_orders(directory, event.folder) if one.path not in paths]
    orders = [*own, *older[:OLDER_ORDERS]]  # what the person just said comes first
    entries, compare = read_diary(directory, event.session), None
    if shelf.has_encoder:
        from nuggets.interfaces.hooks.prompt_meaning import compare_meaning

        compare = partial(compare_meaning, shelf, say.explain)
    say(*answer_prompt(shelf, event, entries, record, say, compare, orders))


def _has_news(directory: str, event: Event) -> bool:
    """Is there anything to keep at the end of a turn?"""
    from nuggets.interfaces.hooks.observed_files import has_entries
    from nuggets.interfaces.hooks.session_note_update import is_due

    return bool(event.messages) or is_due(directory, event) or has_entries(directory)


def _keep_what_happened(shelf: "NuggetShelf", event: Event, directory: str) -> None:
    """Take in which files the agent touched, and bring notes of sessions up to date: this one's, or
    at a start those of earlier ones."""
    from nuggets.interfaces.hooks.observed_files import import_inbox
    from nuggets.interfaces.hooks.session_note_update import is_due, keep_left_over, keep_session

    if not shelf.server:  # it is no memory of a team
        import_inbox(shelf, directory)
    if event.name == "session-start":
        keep_left_over(shelf, directory, event.session)
        sweep(directory)
        return
    writes = event.name == "pre-compact" or is_due(directory, event)
    if writes or event.messages:
        keep_session(shelf, event, directory, waits=not writes)


def _open_shelf(event: Event, directory: str) -> "NuggetShelf":
    from nuggets.interfaces import open_shelf
    from nuggets.operations.permissions import HOOK, name_agent

    settings = load(os.environ, {"dir": directory})
    # Searches do without the encoder, which is loaded for a prompt only if there is time.
    return open_shelf(
        settings,
        client=name_agent(HOOK, event.host),
        short_lived=True,
        folder=event.folder,
        uses_encoder=False,
    )


def _start_session(
    shelf: "NuggetShelf", event: Event, directory: str, say: Say, *, asks_trust: bool
) -> None:
    """Say what the session starts with, and what the person should know or is asked."""
    shelf.sync_shared()
    context, message = _session_start(shelf, event, directory, say)
    lines = [*news(shelf), message, *take_in_waiting(shelf, directory)]
    if asks_trust:
        from nuggets.interfaces import TRUST_QUESTION

        lines.append(f"Nuggets: {TRUST_QUESTION}")
    say(context, "\n".join(filter(None, lines)))


def _session_start(shelf: "NuggetShelf", event: Event, directory: str, say: Say) -> tuple[str, str]:
    """The context, and a message to the person about edits of MEMORY.md that were not taken over.

    Edits are taken over first, so that no session starts with a value that a person changed. That
    is a write, which may wait: until then the old context is held.
    """
    if event.source in ("compact", "clear"):  # the context no longer holds what was shown
        append_entry(directory, event.session, {"forgotten": True})
    own_id = session_note_id(event.session)
    notes = shelf.get_notes([own_id]) if event.source in CONTINUED else {}
    message = ""
    if shelf.edited_memory_files():
        # asking what the host loads would take the edits over, before they can be reported
        say.hold(_start_context(shelf, event, directory, notes.get(own_id), has_files=False)[0], "")
        message = _import_file_edits(shelf)
    now = times.now()
    text, ids = _start_context(shelf, event, directory, notes.get(own_id))
    append_entry(directory, event.session, {"shown": [*ids, *notes], "at": now})
    return text, message


def _start_context(
    shelf: "NuggetShelf",
    event: Event,
    directory: str,
    session: "MemoryNote | None",
    *,
    has_files: bool = True,
) -> tuple[str, list[str]]:
    from nuggets.interfaces.hooks.session_start import start_context

    block = _loaded_block(shelf, event.host, event.folder)
    unread_path = _unread_memory_file(shelf, event.host, directory) if has_files else None
    is_hosts = unread_path is None or shelf.memory_path() != unread_path
    is_loaded = block is not None or (event.host in HOSTS_WITH_MEMORY_FILE and is_hosts)
    return start_context(
        shelf,
        loads_memory_file=has_files and is_loaded,
        session=session,
        branch=current_branch(event.folder),
        loaded_path=block,
        unread_path=unread_path,
    )


def _unread_memory_file(shelf: "NuggetShelf", host: str, directory: str) -> str | None:
    """The memory file of this project that the host does not load: the one that the setting names,
    if the host loads none, else that in the shelf's directory. The latter is read also after a host
    began its own, because people may have written into it."""
    own_directory = directory_of(directory)
    is_named = bool(shelf.settings["memory_file"]) and host not in HOSTS_WITH_MEMORY_FILE
    if not is_named and not os.path.isdir(os.path.join(own_directory, MEMORY_DIRECTORY)):
        return None
    from nuggets.maintenance.promotion.file_access import shelf_path

    path = shelf.memory_path() if is_named else shelf_path(own_directory, shelf.project)
    return path if os.path.isfile(path) else None


def _loaded_block(shelf: "NuggetShelf", host: str, folder: str) -> str | None:
    """The file of instructions in which the host reads a block of ours."""
    name = INSTRUCTION_FILES.get(host)
    path = os.path.join(checkout_root(folder), name) if name else ""
    return path if path and path in shelf.promoted_blocks() else None


def _import_file_edits(shelf: "NuggetShelf") -> str:
    """Take over what people did to lines of memory files; what they should know of it."""
    problems = [edits for edits in shelf.import_file_edits() if edits.is_news]
    return "\n".join(
        f"Nuggets: {one_line(edits.path, 200)}: {one_line(edits.not_taken_over, 200)}."
        for edits in problems
    )


# --- what takes longer than a hook may ------------------------------------------------------------
#
# The answer is printed before, and the hook does not wait for the process.


def _exchange_command(shelf: "NuggetShelf") -> str:
    """The command that brings the shelf and others together: its server, or paired machines."""
    if shelf.server:
        return "sync"
    return "pair" if shelf.paired_folders() else ""


def start_exchange(directory: str, command: str) -> None:
    """Run `sync` or `pair`: send what is new here, and take in what is new there."""
    with suppress(OSError, StoreError):
        _start(directory, command)


def _start_daily_pass(directory: str, settings: Settings) -> None:
    """Start the daily clean-up if it is due and no hook has started it today. It checks itself that
    nobody else has run it."""
    path, today = hook_path(directory, STAMP), time.strftime("%Y-%m-%d")
    if not path or not settings["reflection_daily"] or read_beginning(path, 20) == today:
        return
    from datetime import datetime

    from nuggets.maintenance import Hours, is_due

    if is_due(datetime.now(), None, Hours.from_settings(settings)):
        with suppress(OSError, StoreError):  # the next hook tries again
            write_private_file(path, today.encode(), durable=False)
            _start(directory, "schedule", "run", "--once")


def _start(directory: str, *command: str) -> None:
    """Run a command in a session of its own, so that it outlives the host; it writes our log."""
    import subprocess

    from nuggets.filesystem.processes import NEUTRAL_FOLDER, module_command

    log = hook_path(directory, "log")
    private_directory(os.path.dirname(log))
    output = open_plain(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW)
    try:
        subprocess.Popen(
            module_command("nuggets", *command),
            env={**os.environ, "NUGGETS_STORE": directory},  # others can read a command line
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=NEUTRAL_FOLDER,
            start_new_session=True,
        )
    finally:
        os.close(output)
