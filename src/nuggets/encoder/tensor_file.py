"""Named arrays in one file, in the safetensors format: a JSON header, then the bytes of each."""

import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nuggets.errors import NuggetsError
from nuggets.filesystem.atomic_files import open_plain

DTYPES = {"F32": "<f4", "F16": "<f2", "I8": "i1", "U8": "u1", "I64": "<i8"}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
METADATA = "__metadata__"
LARGEST_HEADER = 1_000_000  # bytes; a header of this model has some thousand


class NotTensors(NuggetsError):
    """A file is damaged, or holds something else."""


def parse(data: Any, name: str) -> tuple[dict[str, str], dict[str, "np.ndarray[Any, Any]"]]:
    """The metadata and the arrays, which are views of the data and not copies."""
    try:
        (length,) = struct.unpack("<Q", bytes(data[:8]))
        if length > LARGEST_HEADER:
            raise ValueError("the header is too long")
        header = json.loads(bytes(data[8 : 8 + length]))
        metadata = dict(header.pop(METADATA, {}))
        arrays = {key: _array(data, 8 + length, entry) for key, entry in header.items()}
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise NotTensors(f"{name} is not a model file, or it is damaged ({problem})") from problem
    return metadata, arrays


def _array(data: Any, start: int, entry: Mapping[str, Any]) -> "np.ndarray[Any, Any]":
    first, last = entry["data_offsets"]
    dtype = np.dtype(DTYPES[entry["dtype"]])
    count = (last - first) // dtype.itemsize
    return np.frombuffer(data, dtype, count, start + first).reshape(entry["shape"])


def render(
    arrays: Mapping[str, "np.ndarray[Any, Any]"], metadata: Mapping[str, str]
) -> Iterator[bytes]:
    """The pieces of the file."""
    header: dict[str, Any] = {METADATA: dict(metadata)}
    position = 0
    for name, array in arrays.items():
        end = position + array.nbytes
        header[name] = {
            "dtype": NAMES[array.dtype],
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


def map_file(path: str) -> Any:
    """The bytes of a file, read from the disk when they are used."""
    import mmap

    try:
        with open(path, "rb", opener=open_plain) as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as problem:  # a pipe or a directory; or it is empty
        raise NotTensors(f"{path} is not a model file, or it is damaged ({problem})") from problem
