"""What a pass does to one note alone: put it away, write it tidily, tag it. Knows no other."""

import re
from collections import Counter
from datetime import timedelta

from nuggets.graph.limits import TAG_CHARACTERS, TAGS
from nuggets.graph.metadata import (
    DECIDING_TAGS,
    content_tags,
    normal_tags,
    own_tags,
    scope_and_rest,
)
from nuggets.graph.notes import archived, normal_content
from nuggets.records import MemoryNote
from nuggets.reflection.draft import Draft
from nuggets.reflection.outcome import Policy
from nuggets.reflection.vocabulary import IDLE_WORDS, all_tokens, function_words
from nuggets.text import (
    STOP_WORDS,
    folded,
    is_unspaced,
    split_scripts,
    tokens,
    without_contraction,
    words,
)
from nuggets.times import iso, moment_after, parsed

WORTHLESS_CHARACTERS = 2  # so short, and never asked for: a slip of the hand
SHORTEST_TAG = 3  # characters: "of", "ts" and "v2" say nothing on their own
SAID_OFTEN = 2  # times: a word that the text says once is mostly a detail, not what it is about
ENOUGH = 2  # names; a note that has fewer is named by details, too
_PASSING = re.compile(r"(tmp|temp|scratch)\d*(?![^\W_])")  # whole words: Template is safe
PARAGRAPH_WORDS = 12  # shorter ones may be steps, answers or a refrain: they may come again
# A prompt, a diff, a quotation, a row of cells, an option: it may be there twice.
_NO_PROSE = re.compile(r"[$>%+@|]|[-*](?!\s)|.*(\s\|\s|\t|\s--?\w)")
_NO_WORDS = re.compile(r"[\d_=<>{}\[\]#;~^\\`]")  # neither a sentence nor words alone: a record
_ENDED = re.compile(r"\w[.!?]$")
_BULLET = re.compile(r"([-*•]|\d+[.)])\s+(\[[ xX]\]\s+)?")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")


def oldest_kept(now: str, policy: Policy) -> str:
    """The time before which a temporary memory must have been used to be put away now."""
    return iso(parsed(now) - timedelta(days=policy.temporary_days))


def is_stale(note: MemoryNote, cutoff: str) -> bool:
    """Whether it was not meant to last, and nobody used or changed it since."""
    used = max(note.last_accessed_at, note.updated_at)
    return note.stability == "temporary" and used < cutoff


def archive(draft: Draft, ids: list[str], policy: Policy) -> None:
    """Out of sight, not gone."""
    cutoff = oldest_kept(draft.now, policy)
    for note in draft.visible(ids):
        reason = why_worthless(note._replace(content=tidy(note)), cutoff)
        if reason and draft.may("hide", note.id):
            draft.put(archived(note, draft.now))
            draft.record("hide", note, f"archived {note.title!r:.80}: {reason}")


def rewrite(draft: Draft, ids: list[str]) -> None:
    """Contents in their tidy form; the words stay as they are."""
    for note in draft.visible(ids):
        content = tidy(note)
        if content == note.content or not draft.may("rewrite", note.id):
            continue
        at = moment_after(note.updated_at, draft.now)
        draft.put(note._replace(content=content, updated_at=at, last_rewritten_at=draft.now))
        draft.record("rewrite", note, f"content: {_difference(note.content, content)}")


def tag(draft: Draft, ids: list[str], policy: Policy) -> None:
    """Tags that follow from the note; what people tagged stays, what they take off stays off.

    So its own text gives a note tags when it is looked at for the first time, and never again.
    """
    for note in draft.visible(ids):
        is_first = note.last_inspected_at is None and draft.may("tag", note.id)
        found = _own_words(note, policy) if is_first else ()
        own = own_tags(note.tags, note.nugget_name)
        room = max(0, TAGS - len(own))
        added = [word for word in found if word not in own][:room]
        tags = normal_tags((*own, *added), note.nugget_name, note.scope, note.type)
        if tags == note.tags:
            continue
        new = [word for word in tags if word not in note.tags]
        draft.put(note._replace(tags=tags))
        draft.record("tag", note, f"tags added: {', '.join(new)}" if new else "tags put in order")


def why_worthless(note: MemoryNote, cutoff: str) -> str:
    """Why a note should be out of sight; "" for one that should not."""
    content = note.content.strip()
    if not content:
        return "it is empty"
    # What was remembered to last answers to its key: a port of 80, a "temp unit".
    unasked = not note.hits and (note.kind == "note" or note.stability == "temporary")
    if unasked and note.kind == "note" and len(content) <= WORTHLESS_CHARACTERS:
        return "almost empty and never recalled"
    if unasked and _PASSING.match(scope_and_rest(note.title)[1]):
        return "temporary by its title and never recalled"
    if is_stale(note, cutoff):
        return "temporary and not used for days"
    return ""


def tidy(note: MemoryNote) -> str:
    """Its content without trailing blanks, empty stretches and what is said twice.

    What a fact answers is left as it was remembered, line for line.
    """
    written = normal_content(note.content)
    return written if note.kind == "fact" else normal_content(_without_repetition(written))


def _without_repetition(content: str) -> str:
    """A line goes when it repeats the one above, a paragraph when it repeats an earlier one.

    Anywhere else a line that comes again may be the next step, the same key of another section
    or another record; so may be one in fenced code, one indented (it belongs to what is above
    it) or above something indented, and one that does not read as prose.
    """
    lines = content.split("\n")
    kept: list[str] = []
    said: set[str] = set()  # paragraphs since the last line that is anything else
    above = fence = ""
    for position, line in enumerate(lines):
        is_code, fence = bool(fence), _fence_behind(line, fence)
        is_paragraph = not is_code and _is_paragraph(lines, position)
        if line and is_paragraph and line in said:
            continue
        if line and line == above and not is_code and _stands_alone(lines, position):
            continue
        kept.append(line)
        if is_paragraph:
            said.add(line)
        elif line:
            said.clear()
        above = line or above
    return "\n".join(kept)


def _fence_behind(line: str, fence: str) -> str:
    """The marks of the fenced code that goes on behind this line, "" where none does."""
    mark = _FENCE.match(line)
    if not fence:
        return mark[1] if mark else ""
    bare = line.strip()
    return "" if mark and bare.startswith(fence) and not bare.strip(fence[0]) else fence


def _stands_alone(lines: list[str], position: int) -> bool:
    # in written form no two empty lines follow each other
    below = next((other for other in lines[position + 1 : position + 3] if other), "")
    line = lines[position]
    return not line[:1].isspace() and not below[:1].isspace() and _is_prose(line)


def _is_prose(line: str) -> bool:
    """A sentence, or words that may be one; a single word may be a step, a bracket or a verse."""
    if _NO_PROSE.match(line):
        return False
    said = _BULLET.sub("", line, count=1)
    found = [word for word in said.split() if any(map(str.isalnum, word))]
    if not found or is_unspaced(found[0]) or _ENDED.search(said):
        return bool(found)
    return len(found) > 1 and not _NO_WORDS.search(said)


def _is_paragraph(lines: list[str], position: int) -> bool:
    """A line of whole sentences between empty ones; what stands below a question answers it."""
    line = lines[position]
    around = (*lines[max(0, position - 1) : position], *lines[position + 1 : position + 2])
    ended = _ENDED.search(line) is not None and not line.endswith("?")
    long = len(line.split()) >= PARAGRAPH_WORDS
    return ended and long and not any(around) and not _BULLET.match(line) and _is_prose(line)


def _difference(before: str, after: str) -> str:
    gone = _filled(before) - _filled(after)
    if not gone:
        return "blanks and empty lines tidied"
    return f"{gone} repeated {'line' if gone == 1 else 'lines'} removed"


def _filled(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())


def _own_words(note: MemoryNote, policy: Policy) -> tuple[str, ...]:
    """What its content is, then the words that name it: the title's, frequent ones, any."""
    count = Counter(_whole_words(note.content))
    often = [word for word, times in count.most_common() if times >= SAID_OFTEN]
    taken = {*words(note.nugget_name), *_whole_words(note.nugget_name), *DECIDING_TAGS}
    taken |= function_words(all_tokens(f"{note.title}\n{note.content}"))
    naming: list[str] = []
    telling = (*_whole_words(note.title), *often)
    for place, word in enumerate((*telling, *count)):
        if place >= len(telling) and len(naming) >= ENOUGH:
            break
        if _is_name(word) and word not in taken and not _is_there(word, naming):
            naming.append(word)
    return (*content_tags(note.content), *naming[: policy.tag_words])


def _whole_words(text: str) -> list[str]:
    """Lower-case, names in one piece: GitHub is neither a git nor a hub."""
    bare = (piece for token in tokens(text) for piece in without_contraction(token))
    runs = (run for piece in bare for run in split_scripts(piece))
    return [folded(part) for run in runs for part in run.split("_")]


def _is_there(word: str, chosen: list[str]) -> bool:
    """In this form or another: "carts" beside "cart" says nothing new."""
    return any(word.startswith(other) or other.startswith(word) for other in chosen)


def _is_name(word: str) -> bool:
    fits = SHORTEST_TAG <= len(word) <= TAG_CHARACTERS
    tells = word not in IDLE_WORDS and word not in STOP_WORDS
    return fits and tells and not any(map(str.isdigit, word)) and not is_unspaced(word)
