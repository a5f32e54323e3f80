"""The sentence encoder all-MiniLM-L6-v2 in NumPy: six transformer layers, mean of the pieces.

Weights are kept as integers with a scale for each output, word embeddings as four bits with a scale
for each group of 32. A living process has the weights of the layers as float32 (42 MB); the
embeddings of a text's words are expanded as they are needed.
"""

import json
import struct
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nuggets.errors import NuggetsError
from nuggets.filesystem.atomic_files import open_plain

Array = np.ndarray[Any, Any]

# --- text into the word pieces of BERT's uncased vocabulary ---------------------------------------


LONGEST_WORD = 100  # characters; a longer word is unknown, as to the tokenizer of BERT
UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
CONTROL = ("Cc", "Cf", "Co")  # categories of characters that say nothing
CONTINUED = "##"  # before a piece that is not the first of its word
IDEOGRAPHS = (  # every one is a word
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPieceTokenizer:
    """Cuts text into pieces of a vocabulary, longest first."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._unknown = vocabulary[UNKNOWN]

    def encode(self, text: str, most: int) -> list[int]:
        """The numbers of at most `most` pieces, the marks of beginning and end included."""
        pieces = [self._vocabulary[FIRST]]
        for word in split_words(text):
            if len(pieces) >= most:
                break
            pieces += self._cut(word)
        return [*pieces[: most - 1], self._vocabulary[LAST]]

    def _cut(self, word: str) -> list[int]:
        if len(word) > LONGEST_WORD:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = CONTINUED if start else ""
            end = len(word)
            while end > start and prefix + word[start:end] not in self._vocabulary:
                end -= 1
            if end == start:
                return [self._unknown]
            pieces.append(self._vocabulary[prefix + word[start:end]])
            start = end
        return pieces


def split_words(text: str) -> Iterator[str]:
    """Lower-case words without accents; every punctuation mark and ideograph is one."""
    if not text.isascii():
        text = "".join(map(_space_ideograph, text))
    text = text.lower()
    if not text.isascii():
        decomposed = unicodedata.normalize("NFD", text)
        text = "".join(char for char in decomposed if unicodedata.category(char) != "Mn")
    for run in "".join(map(_clean, text)).split():
        yield from _split_punctuation(run)


def _split_punctuation(run: str) -> Iterator[str]:
    start = 0
    for place, char in enumerate(run):
        if is_punctuation(char):
            if place > start:
                yield run[start:place]
            yield char
            start = place + 1
    if start < len(run):
        yield run[start:]


def is_punctuation(char: str) -> bool:
    """All ASCII signs that are neither letter nor digit, and Unicode's punctuation."""
    if char.isascii():
        return not char.isalnum() and char.isprintable() and char != " "
    return unicodedata.category(char).startswith("P")


def _clean(char: str) -> str:
    if char.isalnum():
        return char
    category = unicodedata.category(char)
    if char in "\t\n\r" or category == "Zs":
        return " "
    return "" if char == "\ufffd" or category in CONTROL else char


def _space_ideograph(char: str) -> str:
    code = ord(char)
    is_ideograph = code >= 0x3400 and any(first <= code <= last for first, last in IDEOGRAPHS)
    return f" {char} " if is_ideograph else char


# --- the model ------------------------------------------------------------------------------------


NAME = "all-MiniLM-L6-v2"
LAYERS, HEADS, WIDTH = 6, 12, 384  # as published
MOST_PIECES = 256  # the encoder was trained with texts up to this length
PIECES_TOGETHER = 512  # of texts that are encoded together: this bounds the memory
GROUP = 32  # numbers of a word embedding that share a scale: so vectors agree to .998
EPSILON = 1e-12  # of the layer norms, as published


class MiniLM:
    """Texts into vectors of length 1, near each other where texts mean the same."""

    name = NAME

    def __init__(self, tensors: Mapping[str, Array]) -> None:
        """`tensors`: as `installation` makes them."""
        words = bytes(tensors["vocabulary"]).decode().split("\n")
        self._tokenizer = WordPieceTokenizer({word: i for i, word in enumerate(words)})
        self._tensors = tensors
        self._positions = tensors["positions"].astype(np.float32)
        self._layers = [_Layer(tensors, number) for number in range(LAYERS)]

    def encode(self, texts: Sequence[str]) -> Array:
        """One row for each text. Texts of one length are encoded together."""
        pieces = [self._tokenizer.encode(text, MOST_PIECES) for text in texts]
        vectors = np.empty((len(texts), WIDTH), np.float32)
        for length in set(map(len, pieces)):
            places = [place for place, row in enumerate(pieces) if len(row) == length]
            together = max(1, PIECES_TOGETHER // length)
            for start in range(0, len(places), together):
                some = places[start : start + together]
                vectors[some] = self._encode(np.array([pieces[place] for place in some]))
        return vectors

    def common_cosine(self, vector: Array) -> float:
        """The cosine of a vector with that of the nearest common prompt."""
        cosines = self._tensors["common"].astype(np.float32) @ vector
        return float((cosines * self._tensors["common.scale"]).max())

    def _encode(self, pieces: Array) -> Array:
        """`pieces`: a row for each text."""
        states = self._embed(pieces) + self._positions[: pieces.shape[1]]
        states = _normalize(states, self._tensors, "embeddings")
        for layer in self._layers:
            states = layer.apply(states)
        means: Array = states.mean(axis=1)
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), EPSILON)
        return means

    def _embed(self, pieces: Array) -> Array:
        packed = self._tensors["words"][pieces]
        values = np.empty((*pieces.shape, WIDTH), np.float32)
        values[..., 0::2] = packed & 15
        values[..., 1::2] = packed >> 4
        scales = self._tensors["words.scale"][pieces].astype(np.float32)
        return (values - 8) * np.repeat(scales, GROUP, axis=-1)


class _Layer:
    def __init__(self, tensors: Mapping[str, Array], number: int) -> None:
        self._tensors = tensors
        self._name = f"layer{number}"
        self._weights = {
            name: tensors[f"{self._name}.{name}"].astype(np.float32).T
            for name in ("attention", "mixed", "raised", "lowered")
        }

    def apply(self, states: Array) -> Array:
        mixed = self._linear("mixed", self._attend(self._linear("attention", states)))
        states = _normalize(states + mixed, self._tensors, f"{self._name}.mixed")
        lowered = self._linear("lowered", _gelu(self._linear("raised", states)))
        return _normalize(states + lowered, self._tensors, f"{self._name}.lowered")

    def _linear(self, name: str, states: Array) -> Array:
        product: Array = states @ self._weights[name]
        product *= self._tensors[f"{self._name}.{name}.scale"]
        product += self._tensors[f"{self._name}.{name}.bias"]
        return product

    def _attend(self, projected: Array) -> Array:
        """Every piece gets the values of the pieces whose keys fit its query."""
        texts, length, _ = projected.shape
        heads = projected.reshape(texts, length, 3, HEADS, WIDTH // HEADS)
        queries, keys, values = heads.transpose(2, 0, 3, 1, 4)
        fits = queries @ keys.transpose(0, 1, 3, 2)
        fits *= (WIDTH // HEADS) ** -0.5
        fits -= fits.max(axis=-1, keepdims=True)
        np.exp(fits, out=fits)
        fits /= fits.sum(axis=-1, keepdims=True)
        attended: Array = (fits @ values).transpose(0, 2, 1, 3).reshape(texts, length, WIDTH)
        return attended


def _normalize(states: Array, tensors: Mapping[str, Array], name: str) -> Array:
    states = states - states.mean(axis=-1, keepdims=True)
    variance = np.einsum("ijk,ijk->ij", states, states)[..., None] / WIDTH
    states /= np.sqrt(variance + EPSILON)
    states *= tensors[f"{name}.norm.weight"]
    states += tensors[f"{name}.norm.bias"]
    return states


def _gelu(states: Array) -> Array:
    """x · Φ(x), by the usual approximation of Φ."""
    inner = states * states
    inner *= 0.044715
    inner += 1
    inner *= states
    inner *= 0.7978845608028654
    np.tanh(inner, out=inner)
    inner += 1
    inner *= states
    inner *= 0.5
    return inner


# --- its file, in the safetensors format: a JSON header, then the bytes of each array -------------


FORMAT = "2"  # raise it whenever the installation or the common prompts make other tensors
DTYPES = {"F32": "<f4", "F16": "<f2", "I8": "i1", "U8": "u1", "I64": "<i8"}
METADATA = "__metadata__"
LARGEST_HEADER = 1_000_000  # bytes; a header of this model has some thousand


class NotTensors(NuggetsError):
    """A file is damaged, or holds something else."""


def load_model(path: str) -> MiniLM:
    """Load an installed encoder: some 20 ms, besides those of importing NumPy."""
    metadata, tensors = read_tensors(_map_file(path), path)
    if metadata.get("format") != FORMAT:
        raise NuggetsError(
            f"{path} was made by another version of Nuggets; run `nuggets encoder install` again"
        )
    return MiniLM(tensors)


def read_tensors(data: Any, name: str) -> tuple[dict[str, str], dict[str, Array]]:
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


def _array(data: Any, start: int, entry: Mapping[str, Any]) -> Array:
    first, last = entry["data_offsets"]
    dtype = np.dtype(DTYPES[entry["dtype"]])
    count = (last - first) // dtype.itemsize
    return np.frombuffer(data, dtype, count, start + first).reshape(entry["shape"])


def _map_file(path: str) -> Any:
    """The bytes of a file, read from the disk when they are used."""
    import mmap

    try:
        with open(path, "rb", opener=open_plain) as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as problem:  # a pipe or a directory; or it is empty
        raise NotTensors(f"{path} is not a model file, or it is damaged ({problem})") from problem
