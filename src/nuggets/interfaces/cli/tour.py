"""Prints the tour: each statement as soon as it is checked."""

from tempfile import TemporaryDirectory

from nuggets.interfaces.cli.command import Call, Outcome
from nuggets.interfaces.cli.printing import print_text, style
from nuggets.interfaces.tour.scenes import tour


def run_tour(call: Call) -> Outcome:
    """Run the tour; exit code 1 if a statement is false."""
    statements = []
    scene = ""
    with TemporaryDirectory(prefix="nuggets-tour-") as directory:
        for statement in tour(directory):
            statements.append(statement)
            if call.options.json:
                continue
            if statement.scene != scene:
                scene = statement.scene
                print_text(f"\n{style(scene, 'cyan')}\n")
            mark = style("✓", "green") if statement.holds else style("✗", "red")
            print_text(f"  {mark} {statement.what}")
    all_hold = all(statement.holds for statement in statements)
    closing = (
        "All statements are true." if all_hold else "Some statements are false; please report it."
    )
    return Outcome([s._asdict() for s in statements], ["", closing], int(not all_hold))
