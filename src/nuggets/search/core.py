"""The index proper."""

from typing import Any

import numpy as np

from nuggets.records import MemoryNote, NoteFilterOptions, SearchNotesResult
from nuggets.search import ranking as R
from nuggets.search.postings import Postings
from nuggets.search.query import understand
from nuggets.search.ranking import Ranking
from nuggets.search.reading import read
from nuggets.search.table import NoteTable
from nuggets.search.vocabulary import LABEL, Vocabulary
from nuggets.text import folded

POOL = 20
TEMPERATURE = 0.35
THRESHOLD = 0.26
BLOCK = 8192
MOST_GAPS = 0.25
DIGITS = 9


class Core:
    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self.postings = Postings()
        self.table = NoteTable()

    def take(self, pending: dict[str, MemoryNote | None]) -> None:
        table = self.table
        fresh: list[MemoryNote] = []
        kept: list[MemoryNote] = []
        gone: list[int] = []
        for note_id, note in pending.items():
            row = table.rows.get(note_id)
            if row is not None and note is not None and same_words(table.notes[row], note):
                table.set_facts(row, note)
                kept.append(note)
                continue
            if row is not None:
                gone.append(row)
            if note is not None:
                fresh.append(note)
        lost = [table.notes[row] for row in gone]
        if gone:
            self.count(read(lost, self.vocabulary), -1)
            table.remove(gone)
        for start in range(0, len(fresh), BLOCK):
            block = fresh[start : start + BLOCK]
            reading = read(block, self.vocabulary)
            self.count(reading, 1)
            first = len(table)
            self.postings.add(reading.run._replace(slots=reading.run.slots + np.int32(first)))
            table.add(block, reading)
        table.relink([*fresh, *kept], lost)
        if len(table.rows) < (1 - MOST_GAPS) * len(table):
            self.postings.renumber(table.compact())

    def count(self, reading: Any, sign: int) -> None:
        v = self.vocabulary
        v.term_counts.all[reading.run.terms] += sign * np.diff(reading.run.starts)
        v.word_counts.all[:] += sign * np.bincount(reading.words, minlength=len(v.words)).astype(np.int32)

    def visible(self, filters: NoteFilterOptions) -> Any:
        table = self.table
        mask = table.alive.all if filters.include_hidden else table.alive.all & ~table.hidden.all
        return mask

    def eligible(self, filters: NoteFilterOptions, visible: Any) -> Any:
        mask = visible
        named = {"subject": filters.subject, "scope": filters.scope, "type": filters.type, "kind": filters.kind, "nugget": None if filters.nugget is None else folded(filters.nugget), "tag": filters.tag}
        for name, value in named.items():
            if value is None:
                continue
            label = self.vocabulary.in_use(f"{LABEL}{name}={value}")
            having = np.zeros(len(mask), bool)
            if label is not None:
                having[self.postings.slots(label)] = True
            mask = mask & having
        return mask

    def search(self, text: str, limit: int, filters: NoteFilterOptions) -> list[SearchNotesResult]:
        table = self.table
        if not len(table.rows):
            return []
        visible = self.visible(filters)
        days = table.days.all[table.alive.all & (table.days.all > 0)]
        years = range(0)
        if len(days):
            from datetime import date
            years = range(max(date.fromordinal(int(days.min())).year, date.fromordinal(int(days.max())).year - 20), date.fromordinal(int(days.max())).year + 1)
        query = understand(text, self.vocabulary, len(table.rows), years)
        ranking = Ranking(table, self.postings, self.vocabulary, visible)
        s = ranking.signals(query)
        evidence = R.VECTOR_WEIGHT * s.vector + R.TEXT_WEIGHT * s.text
        relevance = np.round(np.minimum(evidence + table.boosts.all, 1.0), DIGITS)
        rows = np.flatnonzero((evidence > THRESHOLD) & self.eligible(filters, visible))
        pool = max(limit, POOL)
        if len(rows) > pool:
            cut = np.partition(relevance[rows], len(rows) - pool)[len(rows) - pool]
            rows = rows[relevance[rows] >= cut]
        ranked = sorted(rows.tolist(), key=lambda r: table.notes[r].id)
        ranked.sort(key=lambda r: table.notes[r].created_at, reverse=True)
        ranked.sort(key=lambda r: relevance[r], reverse=True)
        ranked = ranked[:pool]
        if not ranked:
            return []
        top = relevance[ranked]
        shares = np.exp((top - top[0]) / TEMPERATURE)
        shares /= shares.sum()
        return [SearchNotesResult(table.notes[r], float(shares[i]), float(s.vector[r]), float(s.text[r]), float(relevance[r])) for i, r in enumerate(ranked[:limit])]


def same_words(a: MemoryNote, b: MemoryNote) -> bool:
    return (a.title, a.content, a.tags, a.subject, a.scope, a.type, a.kind, a.nugget_name) == (b.title, b.content, b.tags, b.subject, b.scope, b.type, b.kind, b.nugget_name)
