"""Opens the shelf that the settings name, for every interface."""

from nuggets.operations.permissions import Client
from nuggets.settings import Settings
from nuggets.shelf import NuggetShelf


def open_shelf(
    settings: Settings,
    *,
    client: Client,
    short_lived: bool = False,
    folder: str | None = None,
    uses_encoder: bool = True,
) -> NuggetShelf:
    """The shelf of the settings.

    `folder`: the directory someone works in, if it is not the current directory.
    `short_lived`: the process ends after this call, as a command does.
    `uses_encoder`: False if a search should not load the sentence encoder.
    """
    return NuggetShelf.open(
        settings["dir"],
        settings=settings,
        client=client,
        short_lived=short_lived,
        folder=folder,
        records_location=True,
        uses_encoder=uses_encoder,
    )
