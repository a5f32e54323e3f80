"""From a host to the edits of its files: planned, shown, backed up, written; or taken back."""

import difflib
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import NamedTuple

from nuggets.errors import InvalidInput
from nuggets.files import private_directory, replace_file, unwritable
from nuggets.interfaces.connect import jsonc, toml
from nuggets.interfaces.connect.hosts import Item, Member, Piece, Table, Whole, is_ours, pieces
from nuggets.project import checkout_root

_PLAIN_CALL = 'const NUGGETS = ["nuggets"];'  # in the extensions that come with this package
_OURS = "`nuggets connect` fills this in"  # behind it, in those of every version
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")

# what a file holds that says nothing any more
_LEFT_OVER: tuple[object, ...] = (
    {},
    {"version": 1},
    {"version": 1, "hooks": {}},
    {"$schema": "https://opencode.ai/config.json"},  # opencode adds it to a file without
)


class Edit(NamedTuple):
    """A file as it is and as it shall be; None where there is none."""

    path: str
    before: str | None
    after: str | None
    holds_ours: bool  # as it is, already


def planned(
    host: str,
    *,
    scope: str,
    connecting: bool,
    here: str,
    home: str,
    shelf_directory: str,
    named: bool,
) -> list[Edit]:
    """Every file of the host, edited or not. Nothing is written; a file with errors is refused.

    `named`: what is written says where the shelf is.
    """
    user = scope == "user"
    root = home if user else checkout_root(here)
    directory = shelf_directory if named else ""
    wanted = pieces(host, root, user=user, command=_command(user), directory=directory)
    edits = []
    for path in dict.fromkeys(piece.file for piece in wanted):
        own = [piece for piece in wanted if piece.file == path]
        if not user:
            _refuse_to_leave(root, path)
        text = _text(path)
        try:
            after = _joined(text, own) if connecting else _parted(path, text, own, shelf_directory)
            held = text is not None and after != text and _holds_ours(text, own)
        except (jsonc.Unreadable, toml.Unreadable) as problem:
            raise InvalidInput(
                f"{path} cannot be edited ({problem}); it was left as it is. "
                "Correct it and try again"
            ) from None
        edits.append(Edit(path, text, after, held))
    return edits


def _refuse_to_leave(root: str, path: str) -> None:
    """A link in somebody's repository must not lead us to write elsewhere."""
    target = os.path.realpath(path)
    if os.path.commonpath([root, target]) != root:
        raise InvalidInput(
            f"{path} leads to {target}, outside of this project; it was left as it is. "
            "Take the link away, or connect without --project"
        )


def difference(edit: Edit) -> Iterator[str]:
    """What changes, as people know it from their version control."""
    before = (edit.before or "").splitlines()
    after = (edit.after or "").splitlines()
    names = (edit.path if edit.before is not None else "/dev/null", edit.path)
    if edit.after is None:
        names = (edit.path, "/dev/null")
    yield from difflib.unified_diff(before, after, *names, lineterm="", n=2)


def apply(edits: Sequence[Edit], shelf_directory: str, *, connecting: bool) -> list[str]:
    """Back every file up, then write it; where the backups are.

    What stood there before connecting is what disconnecting brings back, so it is kept apart.
    """
    backups = []
    for edit in edits:
        backup = _backup_path(edit.path, shelf_directory)
        if edit.before is None and os.path.exists(backup):
            os.replace(backup, f"{backup}.old")  # nothing stood there this time
        if edit.before is not None:
            backup += "" if connecting and not edit.holds_ours else ".disconnected"
            private_directory(os.path.dirname(backup))
            replace_file(backup, [edit.before.encode()], durable=True)
            backups.append(backup)
        _write(edit)
    return backups


def _write(edit: Edit) -> None:
    target = os.path.realpath(edit.path)  # dotfiles are often links: the link stays
    if _text(target) != edit.before:
        raise InvalidInput(f"{edit.path} was changed meanwhile; it was left as it is. Try again")
    try:
        if edit.after is None:
            os.unlink(target)
            return
        mode = stat.S_IMODE(os.stat(target).st_mode) if edit.before is not None else 0o600
        private_directory(os.path.dirname(target))
        replace_file(target, [edit.after.encode()], durable=True)
        os.chmod(target, mode)
    except OSError as problem:
        raise unwritable(edit.path, problem) from problem


def _joined(text: str | None, own: Sequence[Piece]) -> str:
    after = text or ""
    for piece in own:
        if isinstance(piece, Whole):
            after = _calling(packaged(piece.packaged), piece.command)
        elif isinstance(piece, Table):
            after = toml.with_table(after, piece.path, piece.value)
        elif isinstance(piece, Member):
            after = jsonc.with_member(after, piece.path, piece.value)
        else:
            after = _with_hook(after, piece)
    _verify(after, own)
    return after


def _with_hook(text: str, piece: Item) -> str:
    """One entry of ours in the list, in its old place if it had one."""
    place = jsonc.found(jsonc.read(text), piece.path)
    items = place.value if place is not None and isinstance(place.value, list) else []
    at = [index for index, item in enumerate(items) if is_ours(item)]
    if len(at) == 1 and items[at[0]] == piece.value:
        return text
    for index in reversed(at):
        text = jsonc.without(text, [*piece.path, index])
    return jsonc.with_item(text, piece.path, piece.value)


def _parted(path: str, text: str | None, own: Sequence[Piece], shelf_directory: str) -> str | None:
    if text is None or not _holds_ours(text, own):
        return text
    backup = _text(_backup_path(path, shelf_directory))
    if backup is not None and _holds_ours(backup, own):
        backup = None  # made when it had been connected before
    if isinstance(own[0], Whole):
        return backup
    after = _stripped(text, own)
    if backup is not None and _joined(backup, own) == text:
        return backup  # nobody touched it since: the very bytes come back
    if isinstance(own[0], Table):
        return after if after.strip() else None
    return None if jsonc.read(after).value in _LEFT_OVER and backup is None else after


def _holds_ours(text: str, own: Sequence[Piece]) -> bool:
    """Something of ours, by whichever version."""
    return _OURS in text if isinstance(own[0], Whole) else _stripped(text, own) != text


def _stripped(text: str, own: Sequence[Piece]) -> str:
    """Without what is ours, by surgery."""
    for piece in own:
        if isinstance(piece, Table):
            text = toml.without_table(text, piece.path)
        elif isinstance(piece, Item):
            text = _without_hooks(text, piece.path)
        elif isinstance(piece, Member) and piece.path[-1] == "nuggets":
            text = _without_member(text, piece.path)
    return text


def _without_hooks(text: str, path: tuple[str, ...]) -> str:
    place = jsonc.found(jsonc.read(text), path)
    if place is None or not isinstance(place.value, list):
        return text
    ours = [index for index, item in enumerate(place.value) if is_ours(item)]
    if not ours:
        return text
    if len(ours) == len(place.value):
        return _without_member(text, path)
    for index in reversed(ours):
        text = jsonc.without(text, [*path, index])
    return text


def _without_member(text: str, path: tuple[str, ...]) -> str:
    """Cut it out, and what would be empty around it."""
    if jsonc.found(jsonc.read(text), path) is None:
        return text
    text = jsonc.without(text, path)
    outer = jsonc.found(jsonc.read(text), path[:-1])
    if len(path) > 1 and outer is not None and not outer.value:
        return _without_member(text, path[:-1])
    return text


def _verify(after: str, own: Sequence[Piece]) -> None:
    """Read the result again: what was to be there is there."""
    for piece in own:
        if isinstance(piece, Member | Item):
            node = jsonc.found(jsonc.read(after), piece.path)
            value = node.value if node is not None else None
            there = piece.value in value if isinstance(value, list) else piece.value == value
            if not there:
                raise jsonc.Unreadable(f"{'.'.join(piece.path)} cannot be set here")


def packaged(name: str) -> str:
    """A file that comes with this package."""
    return (
        files("nuggets.interfaces.connect").joinpath("files", *name.split("/")).read_text("utf-8")
    )


def _calling(extension: str, command: Sequence[str]) -> str:
    """An extension with the command that it is to call, in the line that it keeps for it."""
    call = f"const NUGGETS = {json.dumps(list(command), ensure_ascii=False)};"
    return extension.replace(_PLAIN_CALL, call, 1)


def _command(user: bool) -> list[str]:
    """How to call us. A project's configuration is shared, so it says what works for everyone.

    The bare name will do where every shell finds it; in an environment only this one does.
    """
    found = shutil.which("nuggets")
    if not user or (found and not _is_in_environment(found)):
        return ["nuggets"]
    own = os.path.join(os.path.dirname(sys.executable), "nuggets")
    if os.access(own, os.X_OK):
        return [own]
    return [sys.executable, "-P", "-m", "nuggets"]  # -P: not what lies in the agent's folder


def _is_in_environment(program: str) -> bool:
    """Does it stand in a virtual environment? A link from elsewhere, as pipx and uv make, does
    not."""
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(program)))
    return any(os.path.exists(os.path.join(prefix, mark)) for mark in _ENVIRONMENT_MARKS)


def _backup_path(path: str, shelf_directory: str) -> str:
    import hashlib

    digest = hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()[:8]
    folder = os.path.join(os.path.expanduser(shelf_directory), "backups", "connect")
    return os.path.join(folder, f"{digest}-{os.path.basename(path)}")


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8; it was left as it is. Convert it first") from None
    except OSError as problem:
        raise InvalidInput(f"{path} cannot be read: {problem.strerror}") from None
