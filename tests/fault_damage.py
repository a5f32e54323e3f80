"""Damage to each file of a shelf: cut off, bits flipped, swapped, deleted, older, or no file.

python tests/fault_damage.py WORK FLIPS [KIND …]

Whatever was done to a file, every command ends with a message or an answer, never with a traceback,
and the doctor runs. What it repairs can be written to again. Files that say something else but are
whole are not damage: a flipped letter of a value in the database is not noticed (SQLite has no
checksums), which docs/reliability.md says.
"""

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from random import Random

from forked_processes import load_package
from nuggets.errors import NuggetsError
from nuggets.shelf import NuggetShelf

COMMANDS = (
    *("recall editor", "search deploys", "remember prefs shell fish", "note list", "doctor"),
    *("export json", "doctor --fix", "remember prefs pager less", "recall pager"),
)
Damage = Callable[[str, str], None]  # of a path, and of an older file of the same name or ""


class NotSurvived(AssertionError):
    """A command raised, waited or ended in a way that it must not."""


def make_shelf(directory: str) -> None:
    with NuggetShelf(directory, project="", short_lived=True) as shelf:
        shelf.remember("prefs", "editor", "helix")
        first = shelf.create_note("ops", "Deploys", "By hand, on Tuesdays.")
        shelf.add_link(first.id, shelf.create_note("ops", "Rollback", "make back").id)
        shelf.backup(os.path.join(directory, "backups", "copy.db"))


def change_shelf(directory: str) -> None:
    """A newer state, with all files that a shelf can have; its log is not yet in the database."""
    with open(os.path.join(directory, "config.toml"), "w", encoding="utf-8") as file:
        file.write("history_days = 30\n")
    with open(os.path.join(directory, "recalls.jsonl"), "w", encoding="utf-8") as file:
        file.write('["fact-prefs-00000001", "s", "2026-01-31T09:00:00.000Z", ""]\n')
    child = os.fork()
    if not child:
        try:
            shelf = NuggetShelf(directory, project="", short_lived=True)
            shelf.remember("prefs", "editor", "vim")
            shelf.remember("other", "key", "value")
        finally:
            os._exit(0)  # without closing: the log stays
    os.waitpid(child, 0)


def files_below(directory: str) -> list[str]:
    found = (
        os.path.relpath(os.path.join(folder, name), directory)
        for folder, _, names in os.walk(directory)
        for name in names
    )
    return sorted(found)


def cut_off(path: str, share: float) -> None:
    os.truncate(path, int(os.path.getsize(path) * share))


def flip_bit(path: str, chance: Random) -> None:
    with open(path, "r+b") as file:
        place = chance.randrange(max(1, os.path.getsize(path)))
        file.seek(place)
        byte = file.read(1) or b"\0"
        file.seek(place)
        file.write(bytes([byte[0] ^ 1 << chance.randrange(8)]))


def replace_by_older(path: str, older: str) -> None:
    if os.path.exists(older):
        shutil.copy2(older, path)
    else:
        os.remove(path)


def in_place(make: Callable[[str], object]) -> Damage:
    def replace(path: str, older: str) -> None:
        os.remove(path)
        make(path)

    return replace


DAMAGES: dict[str, Damage] = {
    "empty": lambda path, _: cut_off(path, 0),
    "half": lambda path, _: cut_off(path, 0.5),
    "all but a bit": lambda path, _: cut_off(path, 0.97),
    "deleted": lambda path, _: os.remove(path),
    "older": replace_by_older,
    "a directory": in_place(os.mkdir),
    "a dangling link": in_place(lambda path: os.symlink("/nowhere/at/all", path)),
    "a pipe": in_place(os.mkfifo),
}


def swap(directory: str, one: str, other: str) -> None:
    paths = [os.path.join(directory, name) for name in (one, other)]
    os.rename(paths[0], f"{paths[0]}.aside")
    os.rename(paths[1], paths[0])
    os.rename(f"{paths[0]}.aside", paths[1])


def try_commands(directory: str) -> str:
    """Run all commands in a child; what was wrong, or ""."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        problem = "died"
        try:
            problem = _first_problem(directory)
        except BaseException as raised:
            problem = f"{type(raised).__name__}: {raised}"
        finally:
            os.write(writer, problem.encode(errors="replace")[:4000])
            os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8", errors="replace") as answer:
        problem = answer.read()
    os.waitpid(child, 0)
    return problem


def _first_problem(directory: str) -> str:
    from nuggets.__main__ import run_command as main

    os.environ.update({"NUGGETS_DIR": directory, "MEMORY_REFLECTION_DAILY": "0"})
    for command in COMMANDS:
        output, errors = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
        with redirect_stdout(output), redirect_stderr(errors):
            code = main(command.split())
        errors.seek(0)
        complaint = errors.read()
        if "Traceback" in complaint or code not in (0, 1, 2):
            return f"{command} ended with {code}: {complaint}"
        if code and not complaint and command != "doctor":
            output.seek(0)
            if not output.read():
                return f"{command} failed without a word"
    return ""


def damage_everything(work: str, flips: int, *kinds: str) -> Iterator[str]:
    """Each kind of damage to each file, then so many flipped bits; a line for each kind.

    `kinds`: only these; then not every pair of files is swapped, either.
    """
    older, newer = os.path.join(work, "older"), os.path.join(work, "newer")
    make_shelf(older)
    shutil.copytree(older, newer)
    change_shelf(newer)
    names, chance = files_below(newer), Random(4)
    place = os.path.join(work, "place")

    def survive(what: str, spoil: Callable[[], None]) -> None:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(newer, place)
        spoil()
        problem = try_commands(place)
        if problem:
            raise NotSurvived(f"{what}: {problem}")

    for kind in kinds or DAMAGES:
        damage = DAMAGES[kind]
        for name in names:
            survive(
                f"{name} is {kind}",
                lambda name=name, damage=damage: damage(  # type: ignore[misc]
                    os.path.join(place, name), os.path.join(older, name)
                ),
            )
        yield f"{kind}: {len(names)} files"
    pairs = [(one, other) for number, one in enumerate(names) for other in names[number + 1 :]]
    pairs = pairs[::15] if kinds else pairs
    for one, other in pairs:
        survive(f"{one} and {other} swapped", lambda pair=(one, other): swap(place, *pair))  # type: ignore[misc]
    yield f"swapped: {len(pairs)} pairs"
    for number in range(flips):
        name = names[number % len(names)]
        survive(
            f"flip {number} in {name}",
            lambda name=name: flip_bit(os.path.join(place, name), chance),  # type: ignore[misc]
        )
    yield f"flipped: {flips} bits"
    yield from flip_backups(place, flips, chance)


def flip_backups(place: str, flips: int, chance: Random) -> Iterator[str]:
    """A backup has a checksum: with any bit of it flipped, it is refused."""
    shutil.rmtree(place, ignore_errors=True)
    make_shelf(place)
    path = os.path.join(place, "backups", "copy.db")
    with NuggetShelf(place, project="", short_lived=True) as shelf:
        for number in range(flips):
            damaged = os.path.join(place, "backups", "damaged.db")
            shutil.copyfile(path, damaged)
            flip_bit(damaged, chance)
            try:
                shelf.restore(damaged, dry_run=True)
            except NuggetsError:
                continue
            raise NotSurvived(f"flip {number} in a backup: it would be restored")
    yield f"flipped in backups: {flips} bits"


def main(work: str, flips: str, *kinds: str) -> int:
    load_package()  # once, and not in every child
    try:
        for line in damage_everything(work, int(flips), *kinds):
            print(line, flush=True)
    except NotSurvived as problem:
        print(problem)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
