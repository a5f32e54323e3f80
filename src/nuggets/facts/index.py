"""All facts of a shelf, ready to be recalled. Derived from notes; thrown away and rebuilt at will.

Facts keep the order in which their notes came to the shelf, hidden ones and free-form notes
counted in. So an index that followed every change and one made afresh agree page by page.
"""

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from nuggets.facts.topic import Keys, Topic
from nuggets.records import Changes, MemoryNote, NuggetConfig, RecallResult
from nuggets.text import folded

if TYPE_CHECKING:
    from nuggets.facts.keys import Match

ALSO_TOLD = 3  # other facts that a query may have meant
BUILT_NUGGETS = 2  # whose vectors stay in memory, some 16 MB each


class FactIndex:
    """Recall by key over the nuggets of a shelf."""

    def __init__(self) -> None:
        self._topics: dict[str, Topic] = {}  # by folded name
        self._places: dict[str, int] = {}  # of every note, facts or not
        self._homes: dict[int, Topic] = {}  # of the facts that can be recalled
        self._next = 0
        self._built: dict[str, Topic] = {}  # least recently used first

    def apply(self, changes: Changes) -> None:
        """Follow the changes: the same order of steps as the state they belong to."""
        for config in changes.put_nuggets:
            self._topic(config.name).configure(config, named=True)
        for note in changes.put:
            self._put(note)
        for note_id in changes.drop:
            place = self._places.pop(note_id, None)
            if place is not None:
                self._take(place)
        for name in changes.drop_nuggets:
            topic = self._topics.get(folded(name))
            if topic is not None and topic.places:
                topic.configure(NuggetConfig(folded(name)), named=False)
            elif topic is not None:
                del self._topics[folded(name)]
                self._built.pop(folded(name), None)

    def _topic(self, name: str) -> Topic:
        known = self._topics.get(name)
        if known is not None:
            return known
        return self._topics.setdefault(folded(name), Topic(folded(name)))

    def _put(self, note: MemoryNote) -> None:
        place = self._places.get(note.id)
        if place is None:
            place = self._places[note.id] = self._next
            self._next += 1
        if note.kind != "fact" or note.hidden:
            self._take(place)
            return
        topic = self._topic(note.nugget_name)
        if self._homes.get(place, topic) is not topic:
            self._take(place)
        self._homes[place] = topic
        topic.put(place, note)

    def _take(self, place: int) -> None:
        topic = self._homes.pop(place, None)
        if topic is not None:
            topic.take(place)

    def facts(self, nugget: str) -> list[str]:
        """Note ids in order."""
        topic = self._topics.get(folded(nugget))
        return [topic.facts[place].id for place in topic.places] if topic else []

    def count(self, nugget: str) -> int:
        topic = self._topics.get(folded(nugget))
        return len(topic.places) if topic else 0

    def find(self, nugget: str, key: str) -> list[str]:
        """Note ids of exactly this key, oldest first: one for each project that knows it."""
        topic = self._topics.get(folded(nugget))
        places = topic.exact.get(folded(key), ()) if topic else ()
        return [topic.facts[place].id for place in places] if topic else []

    def recall(self, query: str, nugget: str | None = None, project: str = "") -> RecallResult:
        """Resolve the key, then decode its value; without a nugget, the best of all.

        What other projects know answers only where this one knows nothing.
        """
        return self._best(self._matches(query, nugget, project))

    def _matches(self, query: str, nugget: str | None, project: str) -> "list[Match]":
        if not any(map(str.isalnum, query)):
            return []
        topics = list(self._topics.values())
        if nugget is not None:
            topics = [topic for topic in (self._topics.get(folded(nugget)),) if topic]
        if all(topic.projects <= {project, ""} for topic in topics):
            return self._resolve(query, topics, project)
        ours = self._resolve(query, [topic.only({project, ""}) for topic in topics], project)
        return ours or self._resolve(query, topics, project)

    def _resolve(self, query: str, topics: Sequence[Topic | Keys], project: str) -> "list[Match]":
        """The best match of each topic, all of the strictest kind that any topic has."""
        from nuggets.facts.keys import fuzzy, substring
        from nuggets.facts.words import form

        plain = folded(query)
        same = [topic.exact[plain] for topic in topics if plain in topic.exact]
        if same:
            return [self._exactly(places, project) for places in same]
        asked = form(query)
        found = [match for t in topics if (match := substring(asked, t.forms))]
        return found or [
            match for t in topics if (match := fuzzy(asked, t.forms, t.config.fuzzy_threshold))
        ]

    def _exactly(self, places: Sequence[int], project: str) -> "Match":
        """Of facts with one key the project's own, else the oldest."""
        from nuggets.facts.keys import Match

        def is_other(place: int) -> bool:
            return self._homes[place].facts[place].project != project

        own = min(places, key=is_other)
        rivals = tuple(place for place in places if place != own) if is_other(own) else ()
        return Match("exact", 1.0, True, own, rivals)

    def _best(self, matches: "list[Match]") -> RecallResult:
        """Of equally good matches the one decoded most surely, then the oldest."""
        if not matches:
            return RecallResult()
        top = max((match.strictness, match.ratio) for match in matches)
        tied = [match for match in matches if (match.strictness, match.ratio) == top]
        results = [self._decoded(match) for match in sorted(tied, key=lambda match: match.place)]
        best = max(results, key=lambda result: result.confidence)
        return best._replace(also=self._also(matches, best))

    def _also(self, matches: "list[Match]", best: RecallResult) -> tuple[str, ...]:
        """What fits in the same way, in whole words: whoever asked may have meant it."""
        alike = [match for match in matches if match.kind == best.match != "fuzzy" and match.whole]
        places = dict.fromkeys(p for match in alike for p in (match.place, *match.rivals))
        ids = (self._homes[place].facts[place].id for place in places)
        return tuple(islice((one for one in ids if one != best.note_id), ALSO_TOLD))

    def _decoded(self, match: "Match") -> RecallResult:
        topic = self._homes[match.place]
        fact = topic.facts[match.place]
        answer, verdict = topic.decode(match.place)
        self._keep_built(topic)
        return RecallResult(
            answer=answer,
            confidence=verdict.confidence,
            margin=verdict.margin,
            found=True,
            key=fact.title,
            nugget=topic.config.name if topic.named else fact.nugget_name,
            match=match.kind,
            ratio=match.ratio,
            note_id=fact.id,
            project=fact.project,
        )

    def _keep_built(self, topic: Topic) -> None:
        name = folded(topic.config.name)
        self._built.pop(name, None)
        self._built[name] = topic
        while len(self._built) > BUILT_NUGGETS:
            banks = self._built.pop(next(iter(self._built))).banks
            if banks is not None:
                banks.release()
