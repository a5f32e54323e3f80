from pathlib import Path

import pytest

from encoder_model import installed_model
from nuggets.encoder.minilm import load_model
from nuggets.encoder.vector_index import Encoder


@pytest.fixture(scope="session")
def model_file() -> Path:
    return installed_model()


@pytest.fixture(scope="session")
def encoder(model_file: Path) -> Encoder:
    return load_model(str(model_file))
