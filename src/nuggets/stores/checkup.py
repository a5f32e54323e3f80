"""What a doctor looks at in a store's directory, and how it is mended without losing a byte.

`examine` only looks. `repair` sets what is damaged aside as `<name>.damaged-<n>`, goes on from what
can be read, and has the documented files painted again.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress

from nuggets import codec, times
from nuggets.errors import NuggetsError, StoreBusy, StoreError
from nuggets.files import is_leftover, private_directory, unwritable
from nuggets.state import State
from nuggets.stores.adoption import Adopt, Adoption
from nuggets.stores.edits import read_edit
from nuggets.stores.findings import Defect, set_aside
from nuggets.stores.journal import Journal
from nuggets.stores.journal_checkup import bridge, cut_log, journal_findings
from nuggets.stores.json_files import LOCK_SECONDS, JsonFileStore
from nuggets.stores.lock import locked
from nuggets.stores.painting import facts_by_nugget
from nuggets.stores.pictures import Pictures, Shown
from nuggets.stores.replica import Replica

OPEN = "open to others"


def examine(directory: str, adopt: Adopt) -> list[Defect]:
    """Everything that is not in order; nothing is changed."""
    if not os.path.isdir(directory):
        return []
    journal = Journal(os.path.join(directory, "journal"))
    found = [*journal_findings(journal), *_picture_findings(directory, journal, adopt)]
    found += _links(journal.directory)
    found += _leftovers(directory)
    found += _open_modes(directory)
    return found


def repair(directory: str, adopt: Adopt) -> list[Defect]:
    """Mend what `examine` finds, under the lock; the same findings, marked with what is done."""
    found = examine(directory, adopt)
    if not found:
        return []
    journal = Journal(os.path.join(directory, "journal"))
    private_directory(journal.directory)
    with locked(os.path.join(journal.directory, "lock"), LOCK_SECONDS):
        for finding in sorted(found, key=lambda one: one.kind != OPEN):  # before it has moved
            _mend(finding)
        bridge(journal)
    store = JsonFileStore(directory, adopt, paint_seconds=0)
    with store.exclusive():
        pass  # takes edits in, sweeps, paints
    left = {(finding.kind, finding.path) for finding in examine(directory, adopt)}
    return [f._replace(mended=(f.kind, f.path) not in left) for f in found]


def _mend(finding: Defect) -> None:
    if finding.kind in _MENDING:
        try:
            if os.path.lexists(finding.path):  # else another finding moved it aside
                _MENDING[finding.kind](finding.path)
        except OSError as problem:
            raise unwritable(finding.path, problem) from problem


# --- the documented files ---------------------------------------------------------------------


def _picture_findings(directory: str, journal: Journal, adopt: Adopt) -> Iterator[Defect]:
    pictures, replica = Pictures(directory), Replica(journal)
    with suppress(StoreError):  # found before
        replica.refresh()
    graph = os.path.dirname(pictures.graph_path)
    if os.path.lexists(graph) and not os.path.isdir(graph):
        why = "a file stands where a directory should be"
        yield Defect("damaged picture", graph, why, "set it aside", harmful=False)
    edited = pictures.foreign(lambda path, shown: True, lambda label, version: False)
    refused = _refused(edited, replica, Pictures(directory), adopt)
    for path in edited:
        if path in refused:
            remedy = "set it aside and paint it again from the journal"
            yield Defect("damaged picture", path, refused[path], remedy, harmful=True)
        else:
            why = "edited or copied by someone; the next command takes in what is new"
            yield Defect("edited picture", path, why, "take it in", harmful=False)
    now = Shown(replica.position.revision, replica.position.at)
    if now.revision and not edited:
        if pictures.are_current(now, replica.state.nuggets):
            yield from _wrong_pictures(pictures, replica.state)
        else:
            why = f"not at revision {now.revision}"
            yield Defect("old pictures", directory, why, "paint them again", harmful=False)


def _refused(
    edited: list[str], replica: Replica, pictures: Pictures, adopt: Adopt
) -> dict[str, str]:
    """Those of the edited files that cannot be taken in, and why."""
    if replica.position.revision:
        with suppress(StoreBusy):  # one of them is being saved: it will show the next time
            Adoption(replica, pictures, adopt).shown_with_edits(times.now())
        return pictures.refused()
    found = {}
    for path in edited:
        try:
            read_edit(path, pictures.graph_path)
        except StoreError as problem:
            found[path] = str(problem)
    return found


def _wrong_pictures(pictures: Pictures, state: State) -> Iterator[Defect]:
    """With our own mark on them, and yet not what the journal says: an earlier one that was put
    back together with its time, or a medium that forgets."""
    facts = facts_by_nugget(state, state.nuggets)
    for fold, config in state.nuggets.items():
        path = pictures.nugget_path(config.name)
        said = _says(path)
        if said != {**said, **codec.nugget_to_json(config, facts[fold])}:
            yield _wrong(path)
    notes = [codec.note_to_json(note) for note in state.notes.values()]
    if _says(pictures.graph_path).get("notes") != notes:
        yield _wrong(pictures.graph_path)


def _says(path: str) -> codec.Json:
    try:
        with open(path, "rb") as file:
            shape = codec.loads(file.read(), path)
    except (OSError, NuggetsError):
        return {}
    return shape if isinstance(shape, dict) else {}


def _wrong(path: str) -> Defect:
    why = (
        "it does not say what the journal says, although its time is as we left it. If an earlier "
        "version was put back on purpose, `touch` it, and the next command takes it in"
    )
    remedy = "set it aside and paint it again from the journal"
    return Defect("wrong picture", path, why, remedy, harmful=False)


# --- what lies around -------------------------------------------------------------------------


def _links(journal: str) -> Iterator[Defect]:
    """Nothing is written through them; only who made them knows where they should lead."""
    with suppress(OSError):
        for path in (os.path.join(journal, name) for name in sorted(os.listdir(journal))):
            if os.path.islink(path):
                where = f"it is a link to {os.readlink(path)}"
                problem = f"{where}, which is not written to; move it away, or put the file back"
                yield Defect("link", path, problem, "", harmful=True)


def _leftovers(directory: str) -> Iterator[Defect]:
    for path in _ours(directory):
        if is_leftover(os.path.basename(path)):
            problem = "a writer died before it was finished"
            yield Defect("leftover", path, problem, "delete it", harmful=False)


def _open_modes(directory: str) -> Iterator[Defect]:
    for path in (directory, *_ours(directory)):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            continue  # swept or folded away while we looked
        if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) & 0o077:
            problem = f"others may use it ({stat.S_IMODE(mode):o})"
            yield Defect(OPEN, path, problem, "make it private", harmful=False)


def _ours(directory: str) -> Iterator[str]:
    """Files and directories that belong to the store."""
    for folder in (directory, os.path.join(directory, "graph"), os.path.join(directory, "journal")):
        with suppress(OSError):
            for name in sorted(os.listdir(folder)):
                ours = folder != directory or name in ("graph", "journal") or "nugget.json" in name
                if ours:
                    yield os.path.join(folder, name)


def _make_private(path: str) -> None:
    os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)


_MENDING: dict[str, Callable[[str], None]] = {
    "damaged snapshot": set_aside,
    "damaged log": cut_log,
    "damaged picture": set_aside,
    "wrong picture": set_aside,
    OPEN: _make_private,
}
