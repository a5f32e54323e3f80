import pytest

from nuggets.domain.records import NoteKind, NuggetConfig
from nuggets.facts.capacity import capacity, nugget_status, page_size

DEFAULT = NuggetConfig("project")


@pytest.mark.parametrize(
    ("dims", "banks", "facts"), [(16384, 4, 512), (1024, 4, 128), (1000, 3, 93)]
)
def test_capacity_is_the_root_of_the_dimensions_per_bank(dims: int, banks: int, facts: int) -> None:
    assert capacity(NuggetConfig("x", dims=dims, banks=banks)) == facts


@pytest.mark.parametrize(
    ("dims", "facts"), [(16384, 64), (65536, 256), (1024, 4), (512, 4), (24, 4), (16, 1)]
)
def test_a_page_grows_with_the_dimensions(dims: int, facts: int) -> None:
    assert page_size(dims) == facts


@pytest.mark.parametrize(
    ("count", "percent", "warning"),
    [
        (0, 0.0, ""),
        (409, 79.9, ""),
        (410, 80.1, "WARNING: approaching capacity"),
        (461, 90.0, "CRITICAL: nearly full"),
        (512, 100.0, "CRITICAL: nearly full"),
    ],
)
def test_a_nugget_warns_before_it_is_full(count: int, percent: float, warning: str) -> None:
    status = nugget_status(DEFAULT, {("project", "fact"): count})

    found = (status.capacity, status.capacity_used_pct, status.capacity_warning)
    assert found == (512, percent, warning)


def test_beyond_its_capacity_a_nugget_says_that_it_stays_exact() -> None:
    over = nugget_status(DEFAULT, {("project", "fact"): 10_000})

    assert over.capacity_used_pct == 1953.1
    assert "157 pages" in over.capacity_warning
    assert "exact" in over.capacity_warning


def test_a_status_counts_by_folded_name() -> None:
    counts: dict[tuple[str, NoteKind], int] = {("project", "fact"): 410, ("project", "note"): 7}
    status = nugget_status(NuggetConfig("Project"), counts)
    empty = nugget_status(NuggetConfig("other"), counts)

    assert (status.name, status.fact_count, status.note_count) == ("Project", 410, 7)
    assert status.capacity_warning == "WARNING: approaching capacity"
    assert (empty.fact_count, empty.note_count) == (0, 0)
