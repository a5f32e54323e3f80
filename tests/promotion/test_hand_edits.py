import pytest

from memory_file_edits import Script


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_hand_edits_survive_any_number_of_promotions(first: int) -> None:
    for seed in range(first, first + 50):
        Script(seed).play(25)
