"""The notes nearest to a text in meaning, in a form that processes can exchange."""

from collections.abc import Mapping

from nuggets.named_tuple import NamedTuple


class NearestNotes(NamedTuple):
    """Cosines of the nearest notes."""

    cosines: Mapping[str, float]  # by note, the nearest first
    compared: int  # notes that have a vector
    common: float = 1.0  # cosine of the nearest prompt that asks for no memory; 1: not known

    def cosine(self, note_id: str) -> float:
        """Of a note that is not among the nearest: the most that it can be."""
        farthest = min(self.cosines.values(), default=0.0)
        return self.cosines.get(note_id, farthest if len(self.cosines) < self.compared else 0.0)
