from pathlib import Path

import pytest

from encoder_model import installed_model
from nuggets.meaning.encoder import Encoder
from nuggets.meaning.minilm import load_model


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed_model(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="session")
def encoder(model_file: Path) -> Encoder:
    return load_model(str(model_file))
