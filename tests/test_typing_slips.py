import pytest

from nuggets.language.typing_slips import OTHER_EDIT, SLIP, slip_cost


@pytest.mark.parametrize(
    ("meant", "typed"),
    [
        ("handler", "handlr"),  # left out
        ("handler", "handdler"),  # doubled
        ("handler", "handlker"),  # a neighbouring key hit as well
        ("handler", "hanlder"),  # swapped
        ("handler", "hsndler"),  # a neighbouring key
        ("separate", "seperate"),  # another vowel
    ],
)
def test_a_usual_slip_is_cheap(meant: str, typed: str) -> None:
    assert slip_cost(meant, typed) == SLIP


@pytest.mark.parametrize(("meant", "typed"), [("port", "post"), ("node", "nodez"), ("", "x")])
def test_any_other_edit_costs_more(meant: str, typed: str) -> None:
    assert slip_cost(meant, typed) == OTHER_EDIT


def test_costs_add_up() -> None:
    assert slip_cost("", "") == slip_cost("port", "port") == 0
    assert slip_cost("authentication", "athentiction") == 2 * SLIP
    assert slip_cost("server", "sender") == 2 * OTHER_EDIT
