"""The tour on a terminal: each statement as soon as it is checked."""

from tempfile import TemporaryDirectory

from nuggets.interfaces.cli.command import Call, Outcome
from nuggets.interfaces.cli.printing import say, styled
from nuggets.interfaces.tour.scenes import tour


def toured(call: Call) -> Outcome:
    """Walk through the day; exit code 1 if anything did not hold."""
    seen = []
    scene = ""
    with TemporaryDirectory(prefix="nuggets-tour-") as directory:
        for statement in tour(directory):
            seen.append(statement)
            if call.options.json:
                continue
            if statement.scene != scene:
                scene = statement.scene
                say(f"\n{styled(scene, 'cyan')}\n")
            mark = styled("✓", "green") if statement.holds else styled("✗", "red")
            say(f"  {mark} {statement.what}")
    held = all(statement.holds for statement in seen)
    closing = "Everything held." if held else "Not everything held; please report it."
    return Outcome([s._asdict() for s in seen], ["", closing], int(not held))
