"""Recognizes the project at a place, wherever its repository was before, and records it.

What is known of a place is read from the marks of the shelf. A place that is recorded costs one
look into them and one `stat`; only at a new one other places are compared, and git may be asked.
"""

import os
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from nuggets.filesystem.current_project import (
    current_project,
    distinct_id,
    is_repository,
    plain_folders,
    repository_stamp,
)
from nuggets.operations.project_identity import (
    Location,
    Recognition,
    location_from_marks,
    recognize,
    recorded_locations,
)

if TYPE_CHECKING:
    from nuggets.operations.idempotent_calls import Place


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
    if not is_repository(path):
        return Recognition(_recognize_plain_folder(path, marks))
    known = location_from_marks(marks, path)
    if known is not None and known.stamp == repository_stamp(path):
        return Recognition(known)
    recorded = recorded_locations(marks)
    here = Location(path, path)
    if not recorded:
        return Recognition(here)
    here = with_evidence(here, shelf_url)
    gone = [location.path for location in recorded if not os.path.exists(location.path)]
    other_id = distinct_id(path, here.root or here.stamp)
    return recognize(here, recorded, gone, owners(), other_id)


def recognize_place(
    place: "Place", marks: Mapping[str, Any], owners: Callable[[], Collection[str]]
) -> Recognition:
    """The project at a place on another machine: a clone of the same repository, with the same
    first commit and the same remote, is the same project wherever it lies."""
    here = place.location
    if place.folders:
        known_folders = (location_from_marks(marks, folder) for folder in place.folders)
        return Recognition(next(filter(None, known_folders), here))
    known = location_from_marks(marks, here.path)
    if known is not None and known.stamp == here.stamp:
        return Recognition(known)
    recorded = recorded_locations(marks)
    elsewhere = [location.path for location in recorded if location.path != here.path]
    other_id = distinct_id(here.path, here.root or here.stamp)
    found = recognize(here, recorded, elsewhere, owners(), other_id)
    return Recognition(found.location)  # it was moved from nowhere: both are there


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
    if known is None or (known.project, known.stamp) != (here.project, repository_stamp(here.path)):
        return True
    if known.root or not is_repository(here.path):
        return False
    from nuggets.filesystem.git_repository import has_commits

    return has_commits(here.path)


def _recognize_plain_folder(path: str, marks: Mapping[str, Any]) -> Location:
    """A folder that is recorded as a project holds all those inside it."""
    for folder in plain_folders(path):
        known = location_from_marks(marks, folder)
        if known is not None:
            return known
    return Location(path, path)
