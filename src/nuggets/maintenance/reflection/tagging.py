"""Adds tags to a note: for the kind of its content, and for the topics that it names."""

import re
from collections import Counter

from nuggets.domain.limits import TAG_CHARACTERS, TAGS
from nuggets.domain.records import MemoryNote
from nuggets.domain.tags import DECIDING_TAGS, normal_tags, own_tags
from nuggets.graph.metadata_inference import content_tags
from nuggets.language.text import (
    fold_case,
    is_unspaced,
    split_scripts,
    tokens,
    without_contraction,
    words,
)
from nuggets.language.word_lists import generic_words, stop_words
from nuggets.maintenance.reflection.plan import Plan
from nuggets.maintenance.reflection.significant_words import text_language

TAG_WORDS = 4  # at most so many tags from a note's own text
SHORTEST_TAG = 3  # characters: "of", "ts" and "v2" are too short for tags
SAID_OFTEN = 2  # times: a word that occurs once is mostly a detail, not the topic
_COMPOUND = re.compile(r"(?<![\w-])[^\W\d_]{2,20}(?:-[^\W\d_]{2,20}){1,3}(?![\w-])")


def tag(plan: Plan, ids: list[str]) -> None:
    """Add the tags that follow from a note. Tags given by people stay.

    The text of a note gives tags only at its first inspection, so tags that people remove are not
    added again.
    """
    for note in plan.visible(ids):
        is_first = note.last_inspected_at is None and plan.may("tag", note.id)
        proposed = _topic_words(note) if is_first else ()
        own = own_tags(note.tags, note.nugget_name)
        room = max(0, TAGS - len(own))
        added = [word for word in proposed if word not in own][:room]
        tags = normal_tags((*own, *added), note.nugget_name, note.scope, note.type)
        if tags == note.tags:
            continue
        new = [word for word in tags if word not in note.tags]
        plan.put(note._replace(tags=tags))
        plan.record("tag", note, f"tags added: {', '.join(new)}" if new else "tags put in order")


def _topic_words(note: MemoryNote) -> tuple[str, ...]:
    """Tags for the kind of content, then words of the title, then frequent words."""
    count = Counter(_whole_words(note.content))
    often = [word for word, times in count.most_common() if times >= SAID_OFTEN]
    taken = {*words(note.nugget_name), *_whole_words(note.nugget_name), *DECIDING_TAGS}
    taken |= stop_words(text_language(f"{note.title}\n{note.content}"))
    naming: list[str] = []
    for word in (*_whole_words(note.title), *often):
        if _is_name(word) and word not in taken and not _repeats(word, naming):
            naming.append(word)
    return (*content_tags(note.content), *naming[:TAG_WORDS])


def _whole_words(text: str) -> list[str]:
    """The words in lower case; names (GitHub) and compounds (stand-up) are not split."""
    compounds = [fold_case(compound) for compound in _COMPOUND.findall(text)]
    rest = _COMPOUND.sub(" ", text)
    bare = (piece for token in tokens(rest) for piece in without_contraction(token))
    runs = (run for piece in bare for run in split_scripts(piece))
    return [*(fold_case(part) for run in runs for part in run.split("_")), *compounds]


def _repeats(word: str, chosen: list[str]) -> bool:
    """Whether the word or another form of it ("cart", "carts") was chosen already."""
    return any(word.startswith(other) or other.startswith(word) for other in chosen)


def _is_name(word: str) -> bool:
    fits = SHORTEST_TAG <= len(word) <= TAG_CHARACTERS
    tells = word not in generic_words() and word not in stop_words()
    return fits and tells and not is_unspaced(word)
