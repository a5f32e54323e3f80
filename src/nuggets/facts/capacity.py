"""The capacity of a nugget and the size of its pages. Knows no vector."""

from collections.abc import Mapping, Sequence
from math import isqrt

from nuggets.domain.records import NoteKind, NuggetConfig, NuggetStatus
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple

FACTS_PER_PAGE_AT_LEAST = 4  # one for each of the four default banks
DIMS_OF_SEVERAL = 24  # with 16, one of sixteen facts in pages of four was answered wrongly
DIMS_PER_FACT = 256  # a right answer is then 22 standard deviations above the crosstalk
APPROACHING, NEARLY_FULL = 80.0, 90.0  # per cent


class Fill(NamedTuple):
    """How full a nugget is."""

    capacity: int
    capacity_used_pct: float  # one decimal
    capacity_warning: str  # "" below 80 per cent


def capacity(config: NuggetConfig) -> int:
    """Facts that one superposition of all banks is documented to hold."""
    return config.banks * isqrt(config.dims)


def page_size(dims: int) -> int:
    """Facts in a page; so few that decoding is always right, with few dimensions a single one."""
    return max(FACTS_PER_PAGE_AT_LEAST, dims // DIMS_PER_FACT) if dims >= DIMS_OF_SEVERAL else 1


def fill(config: NuggetConfig, count: int) -> Fill:
    """How full a nugget of `count` facts is."""
    most = capacity(config)
    used = round(100 * count / most, 1)
    return Fill(most, used, _warning(used, -(-count // page_size(config.dims))))


def statuses(
    configs: Sequence[NuggetConfig], counts: Mapping[tuple[str, NoteKind], int]
) -> tuple[NuggetStatus, ...]:
    """The status of each nugget; `counts` has its visible notes by folded name and kind."""
    return tuple(
        _status(
            config,
            counts.get((fold_case(config.name), "fact"), 0),
            counts.get((fold_case(config.name), "note"), 0),
        )
        for config in configs
    )


def _status(config: NuggetConfig, facts: int, notes: int) -> NuggetStatus:
    return NuggetStatus(
        config.name,
        facts,
        notes,
        config.dims,
        config.banks,
        config.ensembles,
        *fill(config, facts),
        config.max_facts,
    )


def _warning(used: float, pages: int) -> str:
    if used > 100:
        return f"over capacity: the nugget continues in {pages} pages and stays exact"
    if used >= NEARLY_FULL:
        return "CRITICAL: nearly full"
    return "WARNING: approaching capacity" if used >= APPROACHING else ""
