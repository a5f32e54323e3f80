"""The place that puts the parts together: from settings to an open shelf, for every door."""

from nuggets.project import current_project
from nuggets.settings import Settings
from nuggets.shelf import NuggetShelf


def open_shelf(
    settings: Settings,
    *,
    client: str,
    short_lived: bool = False,
    folder: str | None = None,
    at_work: bool = False,
) -> NuggetShelf:
    """The settings' shelf. `folder`: where someone works, if that is not where this process runs.

    `short_lived`: for a process that ends with this call, such as a command.
    `at_work`: what is learnt belongs to the project, unless it is about a person.
    """
    return NuggetShelf.open(
        settings["dir"],
        settings=settings,
        client=client,
        short_lived=short_lived,
        project=settings["project"] or current_project(folder),
        at_work=at_work,
    )
