"""How well each note answers a question: the text and vector signals, note by note."""

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.postings import TF_UNIT, Postings
from nuggets.search.table import LINKS_KEPT, NOBODY, NoteTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nuggets.search.query import Query, Slot
    from nuggets.search.vocabulary import Vocabulary

# Weights of the combined score, as documented.
VECTOR_WEIGHT, TEXT_WEIGHT = 0.42, 0.48

# Frequency saturates early and length is smoothed: memories are short, and among short texts
# one word more or less must not turn the ranking.
SATURATION = 0.9
LENGTH_SHARE = 0.75
LENGTH_SMOOTHING = 40

# What the text signal is made of, in shares of the query's own words (1.0).
NEAR = 0.35  # a word of a linked note counts as a quarter of a word here
QA=1.5
COVER=0.0
NUMBER=0.0
WHO=0.0
NEAR_TWICE = 0.15  # two links away
GROUP = 0.5  # the note's group (sitting, topic) as a whole
SUBJECT = 0.3  # the question names the note's title
WHEN = 0.11  # asked when, and the note says when
DATED = 0.25  # the question names the note's day
PHRASE = 0.2  # the question stands in the note verbatim
ASKING = -0.08  # a note that asks rarely answers
INFORMATIVE = 0.06  # a note with something to say
TEXT_SCALE = 1.5  # brings the sum of all that into [0, 1]

INFORMED_AT = 15  # significant words
SHARED_TITLE = 3  # notes with one title: a person, a place, a matter
LARGEST_GROUP = 0.5  # of all notes; a group that holds everything says nothing
DATE_REACH = 7  # days around a date in which a note may still speak of it

# The vector holds the note itself and, under their own role keys, its newest neighbours.
NEAR_ROLES = 4
NEAR_IN_NOTE = 0.8
NEAR_IN_QUERY = 0.5


class Signals(NamedTuple):
    """For each row of the table; text and vector lie in [0, 1]."""

    text: "NDArray[Any]"
    vector: "NDArray[Any]"
    own: "NDArray[Any]"  # words in common with note or neighbours, as a share
    group: "NDArray[Any]"
    subject: "NDArray[Any]"
    when: "NDArray[Any]"


class Ranking:
    """One question put to all notes."""

    def __init__(
        self, table: NoteTable, postings: Postings, vocabulary: "Vocabulary", visible: "NDArray[Any]"
    ) -> None:
        import numpy as np

        self.table = table
        self.postings = postings
        self.vocabulary = vocabulary
        self.visible = visible
        self.count = len(table)
        lengths = table.lengths.all
        alive = table.alive.all
        notes = int(alive.sum())
        mean = float(lengths[alive].sum(dtype=np.int64)) / max(notes, 1)
        self.norms = SATURATION * (
            1 - LENGTH_SHARE + LENGTH_SHARE * (lengths + LENGTH_SMOOTHING) / (mean + LENGTH_SMOOTHING)
        )
        self.linked = bool(table.degrees.all.any())
        self.reach = 1 / np.sqrt(np.maximum(1, table.degrees.all / 2))
        self._group_norms(notes)

    def _group_norms(self, notes: int) -> None:
        import numpy as np

        sizes = self.table.group_sizes.all
        self.grouping = (sizes >= 2) & (sizes <= max(2, LARGEST_GROUP * notes))
        self.grouped = bool(self.grouping.any())
        if self.grouped:
            lengths = self.table.group_lengths.all
            mean = float(lengths[self.grouping].mean())
            self.group_norms = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths / max(mean, 1))
            self.group_total = int(self.grouping.sum())

    def signals(self, query: "Query") -> Signals:
        import numpy as np

        own = np.zeros(self.count)
        cosine = np.zeros(self.count)
        groups = np.zeros(len(self.table.group_sizes))
        length = 0.0
        for slot in query.slots:
            share = slot.mass / query.mass
            rows, frequencies = self._gather(slot, cosine)
            length += slot.mass**2 * max(1.0, sum(a.weight**2 for a in slot.alternatives))
            if not len(rows):
                continue
            if self.grouped:
                self._add_group(groups, rows, frequencies, share)
            if self.linked:
                rows, frequencies = self._spread(rows, frequencies)
            own[rows] += share * frequencies / (frequencies + self.norms[rows])
        if length:
            cosine /= sqrt(length)
        group = self._of_groups(groups)
        subject = self._subject(query)
        when = self._when(query)
        table = self.table
        informed = np.minimum(1.0, table.lengths.all / INFORMED_AT)
        total = (
            own + COVER*own*own
            + GROUP * group
            + SUBJECT * subject
            + when
            + ASKING * table.asking.all
            + INFORMATIVE * informed
        )
        text = np.clip(total / TEXT_SCALE, 0.0, 1.0)
        return Signals(text, (1 + self._surroundings(cosine)) / 2, own, group, subject, when)

    def _gather(self, slot: "Slot", cosine: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
        """The notes that have the word or a relative of it, and how much of it."""
        import numpy as np

        best = None
        for term, weight, *_ in slot.alternatives:
            rows, quarters, impacts = self.postings.of(term)
            seen = self.visible[rows]
            if not seen.all():
                rows, quarters, impacts = rows[seen], quarters[seen], impacts[seen]
            frequencies = quarters * (weight / TF_UNIT)
            cosine[rows] += impacts * (weight * slot.mass)
            if len(slot.alternatives) == 1:
                return rows, frequencies
            if best is None:
                best = np.zeros(self.count)
            best[rows] = np.maximum(best[rows], frequencies)
        if best is None:
            return np.zeros(0, np.int64), np.zeros(0)
        rows = np.flatnonzero(best)
        return rows, best[rows]

    def _spread(
        self, rows: "NDArray[Any]", frequencies: "NDArray[Any]"
    ) -> "tuple[NDArray[Any], NDArray[Any]]":
        """Linked notes get their part of the word."""
        import numpy as np

        once = self._passed_on(rows, frequencies * (1 + QA * self.table.asking.all[rows]))
        reached = np.flatnonzero(once)
        twice = self._passed_on(reached, once[reached])
        twice[rows] = 0.0  # does not come back to where it started
        total = NEAR * once + NEAR_TWICE * twice
        total[rows] += frequencies
        touched = np.flatnonzero(total)
        return touched, total[touched]

    def _passed_on(self, rows: "NDArray[Any]", amounts: "NDArray[Any]") -> "NDArray[Any]":
        import numpy as np

        others = self.table.neighbours.all[rows]
        passed = (amounts * self.reach[rows])[:, None] * self.reach[others]
        linked = others != NOBODY
        received = np.bincount(others[linked], passed[linked], minlength=self.count)
        return received * self.visible

    def _add_group(
        self, groups: "NDArray[Any]", rows: "NDArray[Any]", amounts: "NDArray[Any]", share: float
    ) -> None:
        import numpy as np

        members = self.table.groups.all[rows]
        inside = members != NOBODY
        amounts = np.broadcast_to(amounts[:, None], members.shape)[inside]
        heard = np.bincount(members[inside], amounts, minlength=len(groups))
        heard *= self.grouping
        having = int(np.count_nonzero(heard))
        rare = np.log(1 + (self.group_total - having + 0.5) / (having + 0.5))
        rarest = np.log(1 + (self.group_total + 0.5) / 0.5)
        groups += share * (rare / rarest) * heard / (heard + self.group_norms)

    def _of_groups(self, groups: "NDArray[Any]") -> "NDArray[Any]":
        """Each note's best group."""
        import numpy as np

        if not self.grouped:
            return np.zeros(self.count)
        return np.append(groups, 0.0)[self.table.groups.all].max(axis=1)

    def _subject(self, query: "Query") -> "NDArray[Any]":
        import numpy as np

        subject = np.zeros(self.count)
        for label, share in query.titles:
            rows = self.postings.slots(label)
            shared = self.vocabulary.count(label) >= SHARED_TITLE
            subject[rows] = np.maximum(subject[rows], 1.0 if shared else share)
        return subject

    def _when(self, query: "Query") -> "NDArray[Any]":
        import numpy as np

        when = np.zeros(self.count)
        import re
        if NUMBER and re.search(r"(?i)\bhow (many|much|often|long|old|far|tall|big)\b", query.text):
            if not hasattr(self.table,"num"): self.table.num=np.array([bool(re.search(r"(?i)\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|few|couple|several|once|twice|times|many)\b",n.content)) for n in self.table.notes])
            when += NUMBER*self.table.num
        if WHO and re.search(r"(?i)\b(who|where|which|what (is|was|are|were) the name|whose|name)\b", query.text):
            if not hasattr(self.table,"cap"): self.table.cap=np.array([bool(re.search(r"[a-z,] [A-Z][a-z]",n.content)) for n in self.table.notes])
            when += WHO*self.table.cap
        if query.asks_when:
            when += WHEN * self.table.timed.all
        if query.periods:
            days = self.table.days.all
            fit = np.zeros(self.count)
            for first, last in query.periods:
                late = days - last
                near = np.where(late > 0, 1 - late / (DATE_REACH + 1), 1.0) * (days >= first)
                fit = np.maximum(fit, np.maximum(near, 0.0))
            when += DATED * fit
        return when

    def _surroundings(self, cosine: "NDArray[Any]") -> "NDArray[Any]":
        """The cosine with the whole vector: the note's own part and its neighbours' parts."""
        import numpy as np

        asked = sqrt(1 + NEAR_ROLES * NEAR_IN_QUERY**2)
        if not self.linked:
            return cosine / asked
        others = self.table.neighbours.all[:, :NEAR_ROLES]
        linked = others != NOBODY
        held = linked.sum(axis=1)
        part = NEAR_IN_NOTE * np.sqrt(2 / np.maximum(2, held))
        near = (np.append(cosine, 0.0)[others]).sum(axis=1) * part
        whole = np.sqrt(1 + NEAR_IN_NOTE**2 * np.minimum(2, held))
        return (cosine + NEAR_IN_QUERY * near) / (whole * asked)


assert LINKS_KEPT >= NEAR_ROLES
