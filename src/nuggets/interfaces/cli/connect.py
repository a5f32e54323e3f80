"""Commands for agents: connect, disconnect, hook."""

import os

from nuggets.errors import InvalidInput
from nuggets.filesystem.current_project import checkout_root, current_project, is_repository
from nuggets.filesystem.shelf_location import directory_of, written_location
from nuggets.interfaces import pluralize
from nuggets.interfaces.cli.command_table import DRY_RUN_ARGUMENT, Call, Outcome, argument, command
from nuggets.interfaces.cli.serve_and_mcp import check_extra
from nuggets.interfaces.cli.terminal_output import escape_controls, warn
from nuggets.interfaces.connect.hosts import HOSTS
from nuggets.interfaces.hooks.host_payload import EVENTS
from nuggets.settings import Settings


@command(
    "hook",
    argument("event", help=f"{', '.join(EVENTS)}, or the host's own name for it"),
    argument("--host", default="", help="the calling host, if it cannot be detected"),
    argument("--why", action="store_true", help="say on standard error how a prompt was compared"),
    examples=('echo \'{"prompt": "where is auth?"}\' | nuggets hook user-prompt',),
    summary="answer a hook of an agent's host; hosts call this, people use `nuggets connect`",
)
def _hook(call: Call) -> Outcome:
    """Never called: `main` runs hooks before parsing. This entry provides the help."""
    return Outcome(None, [])


_HOST_ARGUMENTS = (
    argument("host", choices=HOSTS, metavar="HOST", help=", ".join(HOSTS)),
    argument(
        "--user",
        action="store_false",
        dest="project",
        default=False,
        help="for all your projects (the default)",
    ),
    argument("--project", action="store_true", help="for the project you are in"),
    DRY_RUN_ARGUMENT,
)


@command(
    "connect",
    *_HOST_ARGUMENTS,
    argument(
        "--promote",
        action="store_true",
        help="also promote memories of this project into a marked block of the file that the agent "
        "reads (AGENTS.md, GEMINI.md)",
    ),
    examples=("nuggets connect claude-code", "nuggets connect codex --project --dry-run"),
    summary="connect an agent: its MCP server and its hooks, in the agent's own configuration",
)
def _connect(call: Call) -> Outcome:
    path = _instruction_file(call.options.host) if call.options.promote else ""
    outcome = _edit_host_files(call, connecting=True)
    outcome = outcome._replace(lines=[*outcome.lines, *_offer_lines()])
    if not path:
        return outcome
    promoted = call.shelf.promotion(path, dry_run=call.options.dry_run)
    verb = "Would promote" if call.options.dry_run else "Promoted"
    count = pluralize(promoted.new_count, "memory", "memories")
    line = f"{verb} {count} to {escape_controls(path)}; the daily reflection brings it up to date."
    return outcome._replace(json={**outcome.json, "promotedTo": path}, lines=[*outcome.lines, line])


def _offer_lines() -> list[str]:
    """What this machine has already, so that the first day is not empty."""
    from nuggets.interfaces.importers.discovery import discover, offers_text

    text = offers_text(discover())
    return [f"Found on this machine: {text}. See them: nuggets import --discover"] if text else []


def _instruction_file(host: str) -> str:
    """The file of the current repository that a host reads; an error that helps without one."""
    from nuggets.domain.marks import INSTRUCTION_FILES

    if host not in INSTRUCTION_FILES:
        names = ", ".join(INSTRUCTION_FILES)
        raise InvalidInput(f"--promote is for {names}; for {host}, `nuggets promote` is enough")
    if not is_repository(current_project()):
        raise InvalidInput("--promote writes into a repository's file; change into the repository")
    return os.path.join(checkout_root(os.getcwd()), INSTRUCTION_FILES[host])


@command(
    "disconnect",
    *_HOST_ARGUMENTS,
    examples=("nuggets disconnect claude-code",),
    summary="remove what connect added to an agent's configuration",
)
def _disconnect(call: Call) -> Outcome:
    outcome = _edit_host_files(call, connecting=False)
    withdrawn = [] if call.options.dry_run else _withdraw_blocks(call)
    lines = [f"Taken out of {escape_controls(path)}." for path in withdrawn]
    return outcome._replace(lines=[*outcome.lines, *lines])


def _withdraw_blocks(call: Call) -> list[str]:
    """Take our block out of the files that the host reads, unless another connected host does."""
    from nuggets.domain.marks import INSTRUCTION_FILES
    from nuggets.interfaces.connect.connection_check import connected_files

    host, here = call.options.host, os.getcwd()
    name, home = INSTRUCTION_FILES.get(host, ""), os.path.expanduser("~")
    blocks = [path for path in call.shelf.promoted_blocks() if os.path.basename(path) == name]
    if call.options.project:
        blocks = [path for path in blocks if os.path.dirname(path) == checkout_root(here)]
    is_needed = any(
        connected_files(other, scope, working_directory=here, home=home)
        for other, file in INSTRUCTION_FILES.items()
        for scope in ("user", "project")
        if file == name
    )
    return [] if is_needed else [path for path in blocks if call.shelf.withdraw_promotion(path)]


def _edit_host_files(call: Call, *, connecting: bool) -> Outcome:
    from nuggets.interfaces.connect.connection_check import both_scopes_message, connected_files
    from nuggets.interfaces.connect.settings_edits import apply_edits, diff, plan_edits

    options = call.options
    home = os.path.expanduser("~")
    scope = "project" if options.project else "user"
    if connecting:
        check_extra("mcp", "the MCP server")
    directory, location = _shelf_locations(call.settings, scope)
    edits = plan_edits(
        options.host,
        scope=scope,
        connecting=connecting,
        working_directory=os.getcwd(),
        home=home,
        shelf_directory=directory,
        location=location,
    )
    changes = [edit for edit in edits if edit.before != edit.after]
    lines = []
    for edit in changes:
        is_whole_file = edit.before is None or edit.after is None
        if is_whole_file and not options.dry_run:
            label = "New" if edit.before is None else "Removed"
            lines.append(f"{label}: {escape_controls(edit.path)}")
        else:
            lines += [escape_controls(line) for line in diff(edit)]
    if not changes:
        state = "connected" if connecting else "disconnected"
        lines.append(f"{options.host} is already {state}; nothing to do.")
    elif options.dry_run:
        lines.append("Nothing was written: --dry-run.")
    else:
        backups = apply_edits(changes, directory, connecting=connecting)
        lines += [f"Backup: {escape_controls(backup)}" for backup in backups]
        verb = "Connected" if connecting else "Disconnected"
        lines.append(f"{verb} {options.host}. Restart it to see the change.")
        if connecting and not location and call.settings.origins["dir"] == "environment":
            lines.append("NUGGETS_DIR is not written into the project's files, which others share.")
    if changes and connecting and scope == "project" and not is_repository(current_project()):
        directory = escape_controls(os.getcwd())
        warn(f"Not a git repository: {options.host} is connected only in {directory}.")
    other_scope = "user" if scope == "project" else "project"
    also_in = connected_files(options.host, other_scope, working_directory=os.getcwd(), home=home)
    if connecting and also_in:
        warn(f"{both_scopes_message(options.host)}.")
    shape = {
        "host": options.host,
        "scope": scope,
        "dryRun": options.dry_run,
        "files": [edit.path for edit in changes],
        "alsoConnectedIn": also_in,
    }
    return Outcome(shape, lines)


def _shelf_locations(settings: Settings, scope: str) -> tuple[str, str]:
    """The shelf's directory, and its location for the host's files; "" if they need not name it.

    A project's files are shared, so they name only a shelf given on the command line.
    """
    path, origin = directory_of(settings["dir"]), settings.origins["dir"]
    if not path:
        raise InvalidInput("an agent cannot use a shelf in memory; name a directory with --dir")
    is_named = origin == "command line" if scope == "project" else origin != "default"
    return path, written_location(settings["dir"]) if is_named else ""
