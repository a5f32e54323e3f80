"""What the clean-up proposes, judged by labels: merges, links, tags, and what is archived.

    python -m benchmarks.clean_up [--list]      --list prints every wrong proposal

The texts and their labels stand in data/: pairs.txt and edits.txt for merges, notes.txt for links
and tags, archive.txt. They were labelled before any rule was fitted to them; pairs_aside.txt was
written afterwards, pairs_fresh.txt and related.txt by someone who knew no rule, and no rule was
fitted to these, except as `RELATED` says. Links are also judged over texts that nobody wrote for
this: the docstrings of the standard library, whose labelled proposals are in docstrings.txt;
proposals without a label are left out.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.__main__ import line
from benchmarks.families import docstring_corpus
from nuggets.domain.names_and_tags import own_tags
from nuggets.domain.records import GraphNoteMetaInput, MemoryNote
from nuggets.domain.times import iso, parse
from nuggets.maintenance.reflection import Policy, reflect
from nuggets.operations.notes_and_links import new_note

DATA = Path(__file__).parent / "data"
NOW = "2026-01-31T09:00:00.000Z"
ALL = Policy(max_notes=1000)


class Proposals(NamedTuple):
    """Of one kind: each with whether it is right, and how many right ones there could be."""

    judged: list[tuple[str, bool]]
    possible: int | None = None

    @property
    def right(self) -> int:
        return sum(right for _, right in self.judged)

    @property
    def precision(self) -> float:
        return self.right / len(self.judged) if self.judged else 1.0


def lines(name: str) -> Iterator[list[str]]:
    for text in (DATA / name).read_text(encoding="utf-8").splitlines():
        if text and not text.startswith("#"):
            yield [field.strip().replace("\\n", "\n") for field in text.split(" |")]


def note(number: int, title: str, content: str, **how: Any) -> MemoryNote:
    made = new_note(
        nugget=how.get("nugget", "notes"),
        kind=how.get("kind", "note"),
        title=title,
        content=content or "x",
        tags=how.get("tags", ()),
        given=GraphNoteMetaInput(stability=how.get("stability", "durable"), scope="user"),
        now=how.get("used", NOW),
        note_id=f"{how.get('kind', 'note')}-notes-{number:08x}",
        project="",
    )
    return made._replace(content=content)


def by_id(notes: Iterable[MemoryNote]) -> dict[str, MemoryNote]:
    return {one.id: one for one in notes}


def labelled_pairs() -> Iterator[list[str]]:
    """Label, then title and content of the one and of the other."""
    yield from lines("pairs.txt")
    title = content = ""
    for label, *fields in lines("edits.txt"):
        if label == "note":
            title, content = fields
        else:
            before, after = fields[0].split(" -> ")
            after = f" {after}" if before[0] in ",;" and after[0].isalpha() else after
            yield [label, title, content, title, content.replace(before, after)]


def merges(pairs: Iterable[list[str]]) -> Proposals:
    """Each pair by itself."""
    judged, possible = [], 0
    for label, title, content, other_title, other in pairs:
        possible += label == "same"
        pair = by_id((note(1, title, content), note(2, other_title, other)))
        if reflect(pair, NOW, ALL)[1].merged:
            judged.append((f"{title}: {content} / {other_title}: {other}", label == "same"))
    return Proposals(judged, possible)


class Related(NamedTuple):
    """The links that a person drew, and those of the clean-up when it finds no more."""

    wanted: frozenset[tuple[str, str]]
    drawn: dict[tuple[str, str], str]

    def proposals(self) -> Proposals:
        judged = [(reason, pair in self.wanted) for pair, reason in self.drawn.items()]
        return Proposals(judged, len(self.wanted))

    def served(self) -> float:
        """The share of the notes with links of a person that got one of them."""
        right = set(chain.from_iterable(self.wanted & self.drawn.keys()))
        return len(right) / len(set(chain.from_iterable(self.wanted)))


def related(nuggets: Sequence[str]) -> Related:
    wanted: set[tuple[str, str]] = set()
    notes: list[MemoryNote] = []
    for nugget in nuggets:
        start = len(notes)
        for _, title, content, tags, partners in (
            f for f in lines("related.txt") if f[0] == nugget
        ):
            made = note(len(notes), title, content, nugget=nugget, tags=tags.split())
            notes.append(made)
            wanted |= {(made.id, f"note-notes-{start + int(n):08x}") for n in partners.split()}
    return Related(frozenset(wanted), drawn_links(by_id(notes)))


def drawn_links(notes: dict[str, MemoryNote]) -> dict[tuple[str, str], str]:
    """The links after passes until nothing changes, each with both titles and its reason."""
    found, changed = {}, True
    while changed:
        changes, result = reflect(notes, NOW, ALL)
        notes = notes | by_id(changes.put)
        changed = bool(result.changes)
        for change in result.changes:
            if change.type == "link":
                ends = sorted((change.note_id, *change.partners))
                reason = f"{notes[ends[0]].title} / {change.detail}"
                found[ends[0], ends[1]] = reason
    return found


def links_and_tags() -> tuple[Proposals, Proposals]:
    """One pass over all notes."""
    topics, wanted, notes = {}, {}, []
    for number, (nugget, title, content, about, tags) in enumerate(lines("notes.txt")):
        made = note(number, title, content, nugget=nugget)
        notes.append(made)
        topics[made.id], wanted[made.id] = set(about.split()), set(tags.split())
    before = by_id(notes)
    changes, _ = reflect(before, NOW, ALL)
    links, tags_proposed = {}, []
    for after in changes.put:
        for link in after.links:
            ends = tuple(sorted((after.id, link.to)))
            right = not topics[ends[0]].isdisjoint(topics[ends[1]])
            shown = f"{before[ends[0]].title} / {before[ends[1]].title}: {link.reason}"
            links[ends] = (shown, right)
        for tag in own_tags(after.tags, after.nugget_name):
            tags_proposed.append((f"{after.title}: {tag}", tag in wanted[after.id]))
    return Proposals(list(links.values())), Proposals(tags_proposed)


def docstring_links() -> Proposals:
    """Those of one pass that have a label; the title of a note is the last part of its name."""
    corpus = docstring_corpus()
    labels = {(*sorted(pair),): label == "related" for label, *pair in lines("docstrings.txt")}
    names, notes = {}, []
    for number, (query, rest) in enumerate(zip(corpus["queries"], corpus["notes"], strict=True)):
        title = rest["id"].rpartition(".")[2]
        made = note(number, title, f"{query['text']} {rest['content']}")
        names[made.id] = rest["id"]
        notes.append(made)
    _, result = reflect(by_id(notes), NOW, Policy(max_notes=len(notes)))
    pairs = (
        (*sorted((names[change.note_id], names[change.partners[0]])),)
        for change in result.changes
        if change.type == "link"
    )
    return Proposals([(" / ".join(pair), labels[pair]) for pair in pairs if pair in labels])


def archived() -> Proposals:
    judged, possible = [], 0
    for number, (label, kind, stability, days, title, content) in enumerate(lines("archive.txt")):
        possible += label == "archive"
        used = iso(parse(NOW) - timedelta(days=int(days)))
        one = note(number, title, content, kind=kind, stability=stability, used=used)
        if reflect({one.id: one}, NOW, ALL)[1].hidden:
            judged.append((f"{stability} {kind} {title}: {content}", label == "archive"))
    return Proposals(judged, possible)


def measured() -> dict[str, Proposals]:
    links, tags = links_and_tags()
    return {
        "merges": merges(labelled_pairs()),
        "merges of pairs kept aside": merges(lines("pairs_aside.txt")),
        "merges of fresh pairs": merges(lines("pairs_fresh.txt")),
        "links": links,
        "links of docstrings": docstring_links(),
        **{kind: related(nuggets).proposals() for kind, nuggets in RELATED.items()},
        "tags": tags,
        "archived": archived(),
    }


RELATED = {  # the first four helped to choose what a common word is
    "links as a person drew them, four nuggets": ("n1", "n2", "n3", "n4"),
    "links as a person drew them, four kept aside": ("n5", "n6", "n7", "n8"),
    "links as another person drew them, other fields": ("r1", "l1", "c1", "d1"),
}
GOALS = {
    "merges": (0.98, 0.65),
    "merges of pairs kept aside": (0.95, 0.0),
    "merges of fresh pairs": (0.95, 0.0),
    "links": (0.8, 0.0),
    "links of docstrings": (0.8, 0.0),
    **dict.fromkeys(RELATED, (0.8, 0.6)),
    "tags": (0.9, 0.0),
    "archived": (1.0, 1.0),
}


def rows(quick: bool = False) -> Iterator[dict[str, Any]]:
    for kind, found in measured().items():
        precision, recall = GOALS[kind]
        share = found.right / found.possible if found.possible else 1.0
        yield {
            "what": f"{kind}: {len(found.judged)} proposals",
            "goal": f"{precision:.2f} right" + (f", {recall:.0%} found" if recall else ""),
            "measured": f"{found.precision:.3f} right"
            + (f", {share:.0%} of {found.possible} found" if found.possible else ""),
            "reached": found.precision >= precision and share >= recall,
        }


if __name__ == "__main__":
    if "--list" in sys.argv:
        for kind, found in measured().items():
            for shown, right in found.judged:
                if not right:
                    print(f"{kind}: {shown}")
    for row in rows():
        print(line(row), flush=True)
