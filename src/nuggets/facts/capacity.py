"""How many facts a page and a nugget hold, and when a nugget is reported as nearly full."""

from collections.abc import Mapping
from math import isqrt

from nuggets.domain.records import NoteKind, NuggetConfig, NuggetStatus
from nuggets.language.text import fold_case

FACTS_PER_PAGE_AT_LEAST = 4  # one for each of the four default banks
DIMS_OF_SEVERAL = 24  # with 16, one of sixteen facts in pages of four was answered wrongly
DIMS_PER_FACT = 256  # a right answer is then 22 standard deviations above the crosstalk
APPROACHING, NEARLY_FULL = 80.0, 90.0  # per cent, as documented


def capacity(config: NuggetConfig) -> int:
    """Facts that one superposition of all banks is documented to hold."""
    return config.banks * isqrt(config.dims)


def page_size(dims: int) -> int:
    """Facts in a page; so few that decoding is always right, with few dimensions a single one."""
    return max(FACTS_PER_PAGE_AT_LEAST, dims // DIMS_PER_FACT) if dims >= DIMS_OF_SEVERAL else 1


def nugget_status(config: NuggetConfig, counts: Mapping[tuple[str, NoteKind], int]) -> NuggetStatus:
    """What a nugget holds, and how full it is; `counts` has its visible notes by folded name and
    kind."""
    name, most = fold_case(config.name), capacity(config)
    facts, notes = counts.get((name, "fact"), 0), counts.get((name, "note"), 0)
    used = round(100 * facts / most, 1)
    return NuggetStatus(
        config.name,
        facts,
        notes,
        config.dims,
        config.banks,
        config.ensembles,
        most,
        used,
        _warning(used, -(-facts // page_size(config.dims))),
        config.max_facts,
    )


def _warning(used: float, pages: int) -> str:
    """`used`: per cent of the capacity."""
    if used > 100:
        return f"over capacity: the nugget continues in {pages} pages and stays exact"
    if used >= NEARLY_FULL:
        return "CRITICAL: nearly full"
    return "WARNING: approaching capacity" if used >= APPROACHING else ""
