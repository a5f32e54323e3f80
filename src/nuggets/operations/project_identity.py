"""Which project a repository is, wherever it was before: from what is known of it, and of those
that were seen before.

A project's id is the path at which it was first seen. Where it lies now, its first commit and its
remote are evidence, kept in one mark per location. A place that is recorded costs one look into the
marks and one `stat`; only at a new one other places are compared, and git may be asked.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any

from nuggets.domain.limits import Address, Limit
from nuggets.filesystem.current_project import (
    ID_SEPARATOR,
    current_project,
    distinct_id,
    is_repository,
    plain_folders,
    repository_stamp,
)
from nuggets.named_tuple import NamedTuple

LOCATION_MARK = "location:"
LIST_ITEMS = 100  # that a client may send: it sends few folders, and six anchors at most


class Location(NamedTuple):
    """Where a project lies, and what was known of it there."""

    path: Address  # of its git directory, or of a plain folder
    project: Address  # its id
    stamp: Address = ""
    root: Address = ""
    remote: Address = ""
    is_shallow: bool = False
    resembles: Address = ""  # the project that it may be: only a person knows
    is_asked: bool = False  # the person has been asked about that

    @property
    def mark(self) -> str:
        return LOCATION_MARK + self.path

    def to_json(self) -> dict[str, Any]:
        return self._asdict()


class Place(NamedTuple):
    """Where someone works on another machine, as a client tells a server of it."""

    location: Location  # its path names the machine too
    # a plain folder and those around it; none for a repository
    folders: Annotated[tuple[Address, ...], Limit(0, LIST_ITEMS, "items")] = ()


class Recognition(NamedTuple):
    """The location of a project, and where it was before if it was recognized there."""

    location: Location
    moved_from: str = ""  # the location that is gone
    resembles_at: str = ""  # a location of the project that it may be
    is_recorded: bool = False  # with all that would recognize it elsewhere

    @property
    def question(self) -> str:
        """The project that it may be, if nobody has been asked yet."""
        return "" if self.location.is_asked else self.location.resembles


def location_from_marks(marks: Mapping[str, Any], path: str) -> Location | None:
    """What is recorded of a location."""
    value = marks.get(LOCATION_MARK + path)
    if not isinstance(value, dict) or not value.get("project"):
        return None
    known = {name: value[name] for name in Location._fields if name in value}
    return Location(**{**known, "path": path})


def recorded_locations(marks: Mapping[str, Any]) -> list[Location]:
    """All locations that are recorded."""
    paths = [name.removeprefix(LOCATION_MARK) for name in marks if name.startswith(LOCATION_MARK)]
    found = (location_from_marks(marks, path) for path in paths)
    return [location for location in found if location is not None]


def _recognize_repository(
    here: Location,
    recorded: Sequence[Location],
    owners: Collection[str],
    is_gone: Callable[[str], bool],
) -> Recognition:
    """Which project lies here. `here.project`: the id that it has if it is none of the others."""
    known = next((other for other in recorded if other.path == here.path), None)
    if known is not None and _is_same_repository(known, here):
        here = here._replace(project=known.project, resembles=known.resembles)
        return Recognition(here._replace(is_asked=known.is_asked))
    others = [other for other in recorded if other.path != here.path]
    agreeing = [other for other in others if _agrees(other, here)]
    still_there = {other.project for other in agreeing if not is_gone(other.path)}
    certain = {other.project: other for other in agreeing if other.project not in still_there}
    if len(certain) == 1 and here.project not in owners:
        [other] = certain.values()
        return Recognition(here._replace(project=other.project), moved_from=other.path)
    is_taken = known is not None or any(other.project == here.project for other in others)
    own_id = distinct_id(here.path, here.root or here.stamp) if is_taken else here.project
    own = here._replace(project=own_id)
    likely = [
        other
        for other in others
        if _resembles(other, here) and other.project in owners and other.project != own.project
    ]
    if not likely:
        return Recognition(own)
    found = next((other for other in likely if not is_gone(other.path)), likely[0])
    return Recognition(own._replace(resembles=found.project), resembles_at=found.path)


def _is_same_repository(known: Location, here: Location) -> bool:
    """The same at the same path: nothing says that another one was made there."""
    return known.stamp == here.stamp or not known.root or known.root == here.root


def _agrees(other: Location, here: Location) -> bool:
    """The same first commit and the same remote: certain enough to ask nobody."""
    is_whole = bool(here.root) and not here.is_shallow and not other.is_shallow
    return is_whole and other.root == here.root and other.remote == here.remote


def _resembles(other: Location, here: Location) -> bool:
    """A fork, a second clone, a shallow one: only a person knows whether it is the same project."""
    same_root = bool(here.root) and other.root == here.root
    return same_root or (bool(here.remote) and other.remote == here.remote)


# --- the project at a place, from what the shelf has recorded of it -------------------------------


_EVIDENCE = Location._fields.index("resembles")  # the fields before it


def recognize_project(
    folder: str | None,
    marks: Mapping[str, Any],
    owners: Callable[[], Collection[str]],
    shelf_url: str,
) -> Recognition | None:
    """The project around a folder; None if there is none.

    `folder`: by default the current one. `owners`: finds the projects with memories.
    """
    path = current_project(folder)
    if not path:
        return None
    if is_repository(path):
        place = Place(Location(path, path, repository_stamp(path)))
    else:
        place = Place(Location(path, path), tuple(plain_folders(path)))
    return recognize_place(
        place,
        marks,
        owners,
        is_gone=lambda other: not os.path.exists(other),
        add_evidence=lambda here: with_evidence(here, shelf_url),
    )


def recognize_place(
    place: Place,
    marks: Mapping[str, Any],
    owners: Callable[[], Collection[str]],
    is_gone: Callable[[str], bool] = lambda path: True,
    add_evidence: Callable[[Location], Location] = lambda here: here,
) -> Recognition:
    """The project at a place: a clone of the same repository, with the same first commit and the
    same remote, is the same project, wherever on other machines it lies.

    `is_gone`: is nothing at a recorded path any more? `add_evidence`: asks the repository, if what
    is recorded of it does not tell.
    """
    here = place.location
    if place.folders:  # one that is recorded as a project holds all those inside it
        known_folders = (location_from_marks(marks, folder) for folder in place.folders)
        return Recognition(next(filter(None, known_folders), here))
    known = location_from_marks(marks, here.path)
    if known is not None and known.stamp == here.stamp:
        return Recognition(known, is_recorded=bool(known.root))
    recorded = recorded_locations(marks)
    if not recorded:
        return Recognition(here)
    return _recognize_repository(add_evidence(here), recorded, owners(), is_gone)


def find_place(folder: str, server: str) -> Place | None:
    """The place around a folder of this machine; None in no project."""
    path = current_project(folder)
    if not path:
        return None
    named = _name_with_machine(path)
    here = with_evidence(Location(path, path), server)._replace(path=named, project=named)
    return Place(
        here, () if is_repository(path) else tuple(map(_name_with_machine, plain_folders(path)))
    )


def _name_with_machine(path: str) -> str:
    return f"{path}{ID_SEPARATOR}{os.uname().nodename}"


def is_recorded(here: Location, marks: Mapping[str, Any]) -> bool:
    """Is all recorded that a place on another machine says of itself?"""
    known = location_from_marks(marks, here.path)
    return known is not None and known[:_EVIDENCE] == here[:_EVIDENCE]


def with_evidence(here: Location, shelf_url: str) -> Location:
    """The location with what its repository says of itself now."""
    from nuggets.filesystem.git_repository import gather_evidence

    stamp, root, remote, is_shallow = gather_evidence(here.path, shelf_url)
    return here._replace(stamp=stamp, root=root, remote=remote, is_shallow=is_shallow)


def needs_recording(here: Location, marks: Mapping[str, Any]) -> bool:
    """Is something not recorded that would recognize the project elsewhere?"""
    known = location_from_marks(marks, here.path)
    if known is None or (known.project, known.stamp) != (here.project, here.stamp):
        return True
    if known.root or not is_repository(here.path):
        return False
    from nuggets.filesystem.git_repository import has_commits

    return has_commits(here.path)
