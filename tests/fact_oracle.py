"""The documented fact memory, step by step in float64: slow, and meant to be obviously right."""

from cmath import exp, pi
from collections.abc import Iterator, Sequence
from math import sqrt, tanh

import numpy as np
from numpy.typing import NDArray

from nuggets.domain.records import MemoryNote, NuggetConfig

Vector = NDArray[np.complex128]

WORD = 2**32


def draws(seed: int) -> Iterator[float]:
    """Mulberry32, one number after the other."""
    state = seed
    while True:
        state = (state + 0x6D2B79F5) % WORD
        t = (state ^ state >> 15) * (state | 1) % WORD
        t = ((t + (t ^ t >> 7) * (t | 61)) ^ t) % WORD
        yield (t ^ t >> 14) / WORD


def fnv1a(text: str) -> int:
    seed = 0x811C9DC5
    for byte in text.encode("utf-8"):
        seed = (seed ^ byte) * 0x01000193 % WORD
    return seed


def random_vector(stream: Iterator[float], dims: int) -> Vector:
    return np.array([exp(2j * pi * next(stream)) for _ in range(dims)])


def role(position: int, dims: int) -> Vector:
    return np.array([exp(2j * pi * (position * d % dims) / dims) for d in range(dims)])


def cosine(a: Vector, b: Vector) -> float:
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float((a.conj() * b).sum().real) / lengths if lengths else 0.0


def orthogonalized(keys: list[Vector], iters: int, step: float = 0.4) -> list[Vector]:
    for _ in range(iters):
        moved = []
        for i, key in enumerate(keys):
            shift = sum(
                (cosine(key, other) * other for j, other in enumerate(keys) if j != i),
                start=np.zeros_like(key),
            )
            moved.append(key - step * shift)
        keys = [key / np.abs(key) for key in moved]
    return keys


def cleaned(z: Vector, config: NuggetConfig) -> Vector:
    if config.sharpen_p != 1:
        z = np.array([x * (abs(x) + 1e-12) ** (config.sharpen_p - 1) for x in z])
    if config.corvacs_a > 0:
        sizes = [abs(x) + 1e-12 for x in z]
        z = np.array([x * tanh(config.corvacs_a * m) / m for x, m in zip(z, sizes, strict=True)])
    return z


def all_similarities(values: Sequence[str], config: NuggetConfig) -> list[list[float]]:
    """For each position of a page, the similarity to each distinct value of the page."""
    vocabulary = list(dict.fromkeys(values))
    stream = draws(fnv1a(config.name))
    total = np.zeros((len(values), len(vocabulary)))
    for _ in range(config.ensembles):
        keys = [random_vector(stream, config.dims) for _ in vocabulary]
        sentence = random_vector(stream, config.dims)
        keys = orthogonalized(keys, config.ortho_iters)
        roles = [role(position, config.dims) for position in range(len(values))]
        for bank in range(config.banks):
            members = range(bank, len(values), config.banks)
            if not members:
                continue
            memory = sum(
                (keys[vocabulary.index(values[i])] * roles[i] * sentence for i in members),
                start=np.zeros(config.dims, complex),
            ) / sqrt(len(members))
            for position in range(len(values)):
                found = cleaned(memory * sentence.conj() * roles[position].conj(), config)
                for v, key in enumerate(keys):
                    total[position, v] += cosine(key, found)
    return [[float(x) for x in row] for row in total]


def confidence_and_margin(scores: Sequence[float], temperature: float) -> tuple[float, float]:
    top = max(scores)
    powers = sorted(
        (float(np.exp((x - top) / max(temperature, 1e-6))) for x in scores), reverse=True
    )
    second = powers[1] if len(powers) > 1 else 0.0
    return powers[0] / sum(powers), (powers[0] - second) / sum(powers)


def decoded(values: Sequence[str], config: NuggetConfig) -> list[tuple[str, float, float]]:
    """Answer, confidence and margin for each position of a page."""
    vocabulary = list(dict.fromkeys(values))
    noise = sqrt(config.banks * config.ensembles / (2 * config.dims))
    return [
        (
            vocabulary[row.index(max(row))],
            *confidence_and_margin([x / noise for x in row], config.temperature),
        )
        for row in all_similarities(values, config)
    ]


def fact_note(
    key: str, value: str, nugget: str = "project", note_id: str = "", hidden: bool = False
) -> MemoryNote:
    """A fact as a shelf would hand it over."""
    return MemoryNote(
        id=note_id or f"fact-{nugget}-{fnv1a(key):08x}",
        nugget_name=nugget,
        title=key,
        content=value,
        kind="fact",
        subject="user:primary",
        scope="user",
        type="fact",
        source="explicit_user",
        confidence=0.9,
        stability="durable",
        created_at="2026-01-31T09:00:00.000Z",
        updated_at="2026-01-31T09:00:00.000Z",
        last_accessed_at="2026-01-31T09:00:00.000Z",
        hidden=hidden,
    )
