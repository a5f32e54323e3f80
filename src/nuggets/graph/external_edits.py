"""Decides what an external edit of a documented file changes.

The author saw the file as it was (`base`) and changed a part of it. Only that part is imported, so
what we wrote meanwhile stays. What the author removed is dropped; `undo` can restore it. The two
kinds of file: external_note_edits.py and external_fact_edits.py.
"""

from collections.abc import Callable

from nuggets.domain import undone_reflection
from nuggets.domain.purge_marks import without_purged
from nuggets.domain.records import Changes, ExternalEdit
from nuggets.domain.state import State
from nuggets.errors import InvalidInput, StoreCorrupt
from nuggets.graph.external_fact_edits import import_fact_edits
from nuggets.graph.external_note_edits import import_note_edits


def import_edit(
    draw: Callable[[], str], state: State, base: State | None, edit: ExternalEdit, now: str
) -> Changes:
    """The changes that import one edited file.

    `base`: what its author saw; None for a file that was never ours, which can only add. A program
    that rewrote a whole file may not have seen all of it: what is missing there is archived.
    """
    edit = without_purged(state.marks, edit)
    try:
        if edit.nugget is None:
            taken = import_note_edits(draw, state, base, edit, now)
        else:
            taken = import_fact_edits(draw, state, base, edit, edit.nugget, now)
    except InvalidInput as problem:
        where = "graph.json" if edit.nugget is None else f"{edit.nugget.name}.nugget.json"
        raise StoreCorrupt(
            f"{where} was edited and cannot be imported: {problem}. It is left as it is. Correct "
            "it there, or run `nuggets doctor --fix`: that sets it aside"
        ) from problem
    changed = ((state.notes[note.id], note) for note in taken.put if note.id in state.notes)
    refused = undone_reflection.rejection_marks(state, changed)
    return taken._replace(marks={**taken.marks, **refused}, action="external edit", client="file")
