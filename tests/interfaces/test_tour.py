from pathlib import Path

from nuggets.interfaces.tour.scenes import SCENES, tour


def test_a_day_in_the_life_holds_from_morning_to_night(tmp_path: Path) -> None:
    seen = list(tour(str(tmp_path)))

    assert [f"{s.scene} {s.what}" for s in seen if not s.holds] == []
    assert len({s.scene for s in seen}) == len(SCENES)
