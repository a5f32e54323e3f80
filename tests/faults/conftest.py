"""The library that fails and records system calls, compiled once."""

import sys
from pathlib import Path

import pytest

from fault_processes import compile_shim


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> str:
    library = compile_shim(str(tmp_path_factory.mktemp("shim"))) if sys.platform == "linux" else ""
    if not library:
        pytest.skip("a C compiler on Linux is needed to fail system calls")
    assert Path(library).exists()
    return library
