"""The place that puts the parts together: from settings to an open shelf."""

from nuggets.settings import Settings
from nuggets.shelf import NuggetShelf


def open_shelf(settings: Settings, *, client: str, short_lived: bool = False) -> NuggetShelf:
    """`short_lived`: for a process that ends with this call, such as a command."""
    return NuggetShelf.open(
        settings["dir"],
        settings=settings,
        client=client,
        short_lived=short_lived,
    )
