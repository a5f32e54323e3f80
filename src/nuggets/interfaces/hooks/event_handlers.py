"""What each hook event does."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from nuggets.domain import times
from nuggets.domain.marks import INSTRUCTION_FILES
from nuggets.filesystem.current_project import checkout_root, current_branch
from nuggets.filesystem.hook_files import host_processes, record_session, sweep
from nuggets.filesystem.shelf_location import MEMORY_DIRECTORY, directory_of
from nuggets.interfaces.hooks import memory_orders
from nuggets.interfaces.hooks.daily_pass import start_daily_pass, start_exchange
from nuggets.interfaces.hooks.host_payload import PROMPT_CHARACTERS, Event
from nuggets.interfaces.hooks.memory_lines import safe_line
from nuggets.interfaces.hooks.orders import (
    WaitingOrder,
    read_orders,
    refuse_credential,
    waiting_orders,
)
from nuggets.interfaces.hooks.prompt_context import (
    changed_context,
    find_changed,
    find_requested_session,
    prompt_context,
    session_context,
)
from nuggets.interfaces.hooks.shown_memories import (
    append_entry,
    prompts_of,
    read_diary,
    shown_notes,
    where_it_is,
)
from nuggets.interfaces.prompt_quoting import remove_fenced
from nuggets.language.text import one_line
from nuggets.operations.session_notes import session_note_id
from nuggets.settings import load

if TYPE_CHECKING:
    from nuggets.domain.records import MemoryNote
    from nuggets.encoder.vector_index import NearestNotes
    from nuggets.shelf import NuggetShelf

    Compare = Callable[[str], NearestNotes | None]

DIARY_CHARACTERS = 600  # of a prompt
OLDER_ORDERS = 5  # that one prompt takes in; the next one takes more
CONTINUED = ("resume", "compact", "fork")  # why a session starts that has a past
NEEDS_MIGRATION = (
    "Nuggets: another version wrote this memory; hooks do not use it until a command has "
    "migrated it. Run `nuggets list` once."
)
HOSTS_WITH_MEMORY_FILE = ("claude-code",)


class Say(Protocol):
    """Prints the answer: context for the agent, and a message to the person."""

    def __call__(self, context: str, message: str = "") -> None: ...

    def hold(self, context: str, message: str) -> None:
        """Print this if time runs out, or the write fails, before the answer."""

    def explain(self, line: str) -> None:
        """Tell whoever asked why (`--why`)."""


def handle_event(event: Event, directory: str, say: Say, left: Sequence[WaitingOrder] = ()) -> None:
    """Handle one event; `left`: the orders of the prompt. The answer is printed before anything is
    written, because a write may wait for the lock; only the receipt for an order waits."""
    if event.name == "session-end":  # hosts allow less than a second; the next start does the work
        return
    is_due = event.name == "stop" and _is_note_due(directory, event)
    if event.name == "stop" and not (is_due or event.messages or _has_inbox(directory)):
        return
    from nuggets.domain.limits import SESSION_CHARACTERS

    event = event._replace(
        session=event.session[:SESSION_CHARACTERS]
    )  # the shelf refuses longer ones
    for process in host_processes():
        record_session(directory, process, event.session)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with _open_shelf(event, directory) as shelf:
        if not shelf.server and shelf.needs_migration():  # which takes longer than a hook may
            if event.name == "session-start":
                say(NEEDS_MIGRATION)
            return
        if event.name == "session-start":
            shelf.sync_shared()
            context, message = _session_start(shelf, event, directory, say)
            kept = memory_orders.take_in_waiting(shelf, directory)
            say(context, "\n".join(filter(None, [_start_message(shelf), message, *kept])))
        elif event.name == "user-prompt":
            place = where_it_is(event, _work_folder(event))

            def record(entry: dict[str, Any]) -> None:
                append_entry(directory, event.session, {**entry, **place})

            entries = read_diary(directory, event.session)
            folder = _work_folder(event)
            own = [one._replace(folder="") for one in left]
            paths = {one.path for one in own}
            older = [one for one in waiting_orders(directory, folder) if one.path not in paths]
            orders = [*own, *older[:OLDER_ORDERS]]  # what the person just said comes first
            compare = _comparison(shelf, directory, say)
            say(*answer_prompt(shelf, event, entries, record, say, compare, orders))
        if event.name != "user-prompt":  # the person waits for this event
            _import_inbox(shelf, directory)
            _keep_sessions(shelf, event, directory)
        _record_what_was_said(shelf, event)
        settings, server = shelf.settings, shelf.server
        exchange = _exchange_command(shelf) if event.name == "session-start" else ""
    if exchange:
        start_exchange(directory, exchange)
    if not server:
        start_daily_pass(directory, settings)


def _exchange_command(shelf: "NuggetShelf") -> str:
    """The command that brings the shelf and others together: its server, or paired machines."""
    if shelf.server:
        return "sync"
    return "pair" if shelf.paired_folders() else ""


def _comparison(shelf: "NuggetShelf", directory: str, say: Say) -> "Compare | None":
    """Tells which notes are near to a prompt in meaning, if there is an encoder."""
    if not shelf.has_encoder:
        return None
    from nuggets.interfaces.hooks.prompt_meaning import PromptMeaning

    return PromptMeaning(shelf, directory, say.explain).compare


def answer_prompt(
    shelf: "NuggetShelf",
    event: Event,
    entries: list[dict[str, Any]],
    record: Callable[[dict[str, Any]], None],
    say: Say,
    compare: "Compare | None",
    orders: "Sequence[WaitingOrder] | None" = None,
) -> tuple[str, str]:
    """Context and message for a prompt. `entries`: of the session's diary; `record`: adds one;
    `compare`: what the encoder says of the prompt, if there is one; `orders`: those that wait,
    with the prompt's own, if they are known."""
    if orders is None:
        own = map(refuse_credential, read_orders(event.prompt))
        orders = [WaitingOrder(order, "", "") for order in own]
    asked = "".join(memory_orders.ask_about_order(shelf, one.order) for one in orders)
    done = memory_orders.obey(shelf, orders)
    if not orders:
        done = [memory_orders.replace_outdated(shelf, event.prompt)]
    receipts = [receipt for one in done for receipt in one.receipts]
    said = frozenset(one.kept for one in done)
    say.hold("", "\n".join(receipts))

    def hold(context: str) -> None:
        say.hold(context, "\n".join(receipts))

    context, entry = _user_prompt(shelf, event, entries, compare, hold, said, counts=not receipts)
    if not orders and not receipts:
        asked = memory_orders.ask_model(shelf, event.prompt)
    record(entry)
    if receipts:  # the person said it in this session: nobody has to be told that it changed
        record({"shown": list(shown_notes([*entries, entry])), "at": times.now()})
    news = [_explain_recognition(shelf), *_news_of_server(shelf)]
    context = "\n".join(filter(None, [context, asked]))
    return context, "\n".join(filter(None, [*receipts, *news]))


def _has_inbox(directory: str) -> bool:
    from nuggets.interfaces.hooks.observed_files import has_entries

    return has_entries(directory)


def _import_inbox(shelf: "NuggetShelf", directory: str) -> None:
    """Which files an agent touched is no memory of a team."""
    if not shelf.server:
        from nuggets.interfaces.hooks.observed_files import import_inbox

        import_inbox(shelf, directory)


def _open_shelf(event: Event, directory: str) -> "NuggetShelf":
    from nuggets.interfaces import open_shelf
    from nuggets.operations.permissions import HOOK, name_agent

    settings = load(os.environ, {"dir": directory})
    # Searches do without the encoder, which is loaded for a prompt only if there is time.
    return open_shelf(
        settings,
        client=name_agent(HOOK, event.host),
        short_lived=True,
        folder=_work_folder(event),
        uses_encoder=False,
    )


def _work_folder(event: Event) -> str:
    """The agent may have changed its directory, but the project stays; the server uses it too."""
    return os.environ.get("CLAUDE_PROJECT_DIR") or event.directory


def _explain_recognition(shelf: "NuggetShelf") -> str:
    if shelf.recognition is None:
        return ""
    from nuggets.interfaces import explain_recognition

    return f"Nuggets: {explain_recognition(shelf.recognition)}"


def _record_what_was_said(shelf: "NuggetShelf", event: Event) -> None:
    """The person is told and asked once; what changed here goes to where it is shared."""
    if shelf.recognition is not None:
        shelf.record_location()
    if event.name == "session-start" and shelf.needs_trust():
        shelf.record_trust_question()
    elif event.name != "user-prompt":
        shelf.sync_shared(has_written=True)


def _start_message(shelf: "NuggetShelf") -> str:
    """What the person should know of the repository, or is asked about it, once."""
    question = ""
    if shelf.needs_trust():
        from nuggets.interfaces import TRUST_QUESTION

        question = f"Nuggets: {TRUST_QUESTION}"
    news = _news_of_server(shelf)
    return "\n".join(filter(None, [_explain_recognition(shelf), question, *news]))


def _news_of_server(shelf: "NuggetShelf") -> list[str]:
    """That the server is away, and what waits for it or was refused."""
    return [f"Nuggets: {warning}" for warning in shelf.warnings] if shelf.server else []


def _is_note_due(directory: str, event: Event) -> bool:
    from nuggets.interfaces.hooks.session_note_update import is_due

    return is_due(directory, event)


def _keep_sessions(shelf: "NuggetShelf", event: Event, directory: str) -> None:
    """Bring notes of sessions up to date: this one's, or at a start those of earlier ones."""
    from nuggets.interfaces.hooks.session_note_update import keep_left_over, keep_session

    if event.name == "session-start":
        keep_left_over(shelf, directory, event.session)
        sweep(directory)
    else:
        is_due = event.name == "pre-compact" or _is_note_due(directory, event)
        if is_due or event.messages:
            keep_session(shelf, event, _work_folder(event), directory, waits=not is_due)


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

    folder = _work_folder(event)
    block = _loaded_block(shelf, event.host, folder)
    unread_path = _unread_memory_file(shelf, event.host, directory) if has_files else None
    is_hosts = unread_path is None or shelf.memory_path() != unread_path
    is_loaded = block is not None or (event.host in HOSTS_WITH_MEMORY_FILE and is_hosts)
    return start_context(
        shelf,
        loads_memory_file=has_files and is_loaded,
        session=session,
        branch=current_branch(folder),
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


def _user_prompt(
    shelf: "NuggetShelf",
    event: Event,
    entries: list[dict[str, Any]],
    compare: "Compare | None",
    hold: Callable[[str], None],
    said: frozenset[str],
    *,
    counts: bool,
) -> tuple[str, dict[str, Any]]:
    """The context, and the entry of the diary. `said`: facts that the prompt itself states anew.
    `counts`: whether a note may count as recalled; an order asks for none."""
    now = times.now()
    own = remove_fenced(event.prompt[:PROMPT_CHARACTERS]).strip()
    shown = shown_notes(entries)
    session = event.session if counts else ""
    own_id, is_first = session_note_id(event.session), not prompts_of(entries)
    with shelf.snapshot():
        text, ids = prompt_context(shelf, own, said | frozenset(shown), session, compare, hold)
        changed = find_changed(shelf, {i: at for i, at in shown.items() if at})
        earlier = find_requested_session(shelf, own, own_id, is_first=is_first)
    if changed:
        text = "\n".join(filter(None, [changed_context(changed), text]))
        ids += [memory.was.id for memory in changed]
    if earlier is not None and earlier.id not in shown:
        text = "\n".join(filter(None, [session_context(earlier), text]))
        ids.append(earlier.id)
    return text, {"prompt": safe_line(own, DIARY_CHARACTERS), "shown": ids, "at": now}
