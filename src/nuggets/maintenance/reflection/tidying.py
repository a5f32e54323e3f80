"""The steps that concern one note alone: archive, rewrite, tag."""

import re
from collections import Counter
from datetime import timedelta

from nuggets.domain.limits import TAG_CHARACTERS, TAGS
from nuggets.domain.records import MemoryNote
from nuggets.domain.times import iso, moment_after, parse
from nuggets.graph.metadata_inference import (
    DECIDING_TAGS,
    content_tags,
    normal_tags,
    own_tags,
)
from nuggets.graph.notes import archive_note, normal_content
from nuggets.language.code_fences import continues_code
from nuggets.language.text import (
    fold_case,
    is_unspaced,
    split_scripts,
    tokens,
    without_contraction,
    words,
)
from nuggets.language.word_lists import generic_words, stop_words
from nuggets.maintenance.reflection.outcome import Policy
from nuggets.maintenance.reflection.plan import Plan
from nuggets.maintenance.reflection.token_index import all_tokens, function_words

WORTHLESS_CHARACTERS = 2  # a note this short that was never recalled is taken for a mistake
SHORTEST_TAG = 3  # characters: "of", "ts" and "v2" are too short for tags
SAID_OFTEN = 2  # times: a word that occurs once is mostly a detail, not the topic
# Prompts, diffs, quotations, table rows, options: repeating them may be intended.
_NO_PROSE = re.compile(r"[$>%+@|]|[-*](?!\s)|.*(\s\|\s|\t|\s--?\w)")
_NO_WORDS = re.compile(r"[\d_=<>{}\[\]#;~^\\`]")  # signs of a record rather than prose
_ENDED = re.compile(r"\w[.!?]$")
_COMPOUND = re.compile(r"(?<![\w-])[^\W\d_]{2,20}(?:-[^\W\d_]{2,20}){1,3}(?![\w-])")
_BULLET = re.compile(r"([-*•]|(?<!\d)\d+[.)])\s+(\[[ xX]\]\s+)?")


def oldest_kept(now: str, policy: Policy) -> str:
    """Temporary notes that were last used before this time are archived."""
    return iso(parse(now) - timedelta(days=policy.temporary_days))


def is_stale(note: MemoryNote, cutoff: str) -> bool:
    """Whether it is temporary and was neither used nor changed since the cutoff."""
    used = max(note.last_accessed_at, note.updated_at)
    return note.stability == "temporary" and used < cutoff


def archive(plan: Plan, ids: list[str], policy: Policy) -> None:
    """Archive worthless notes; archived notes can be restored."""
    cutoff = oldest_kept(plan.now, policy)
    for note in plan.visible(ids):
        reason = why_worthless(note._replace(content=tidy(note)), cutoff)
        if reason and plan.may("hide", note.id):
            plan.put(archive_note(note, plan.now))
            plan.record("hide", note, f"archived {note.title!r:.80}: {reason}")


def rewrite(plan: Plan, ids: list[str]) -> None:
    """Normalise blanks and remove repeated lines; the words stay."""
    for note in plan.visible(ids):
        content = tidy(note)
        if content == note.content or not plan.may("rewrite", note.id):
            continue
        at = moment_after(note.updated_at, plan.now)
        plan.put(note._replace(content=content, updated_at=at, last_rewritten_at=plan.now))
        plan.record("rewrite", note, f"content: {_difference(note.content, content)}")


def tag(plan: Plan, ids: list[str], policy: Policy) -> None:
    """Add the tags that follow from a note. Tags given by people stay.

    The text of a note gives tags only at its first inspection, so tags that people remove are not
    added again.
    """
    for note in plan.visible(ids):
        is_first = note.last_inspected_at is None and plan.may("tag", note.id)
        proposed = _topic_words(note, policy) if is_first else ()
        own = own_tags(note.tags, note.nugget_name)
        room = max(0, TAGS - len(own))
        added = [word for word in proposed if word not in own][:room]
        tags = normal_tags((*own, *added), note.nugget_name, note.scope, note.type)
        if tags == note.tags:
            continue
        new = [word for word in tags if word not in note.tags]
        plan.put(note._replace(tags=tags))
        plan.record("tag", note, f"tags added: {', '.join(new)}" if new else "tags put in order")


def why_worthless(note: MemoryNote, cutoff: str) -> str:
    """Why a note should be archived; "" if it should not."""
    content = note.content.strip()
    if not content:
        return "it is empty"
    if note.kind == "note" and not note.hits and len(content) <= WORTHLESS_CHARACTERS:
        return "almost empty and never recalled"
    if is_stale(note, cutoff):
        return "temporary and not used for days"
    return ""


def tidy(note: MemoryNote) -> str:
    """Its content without trailing blanks, runs of empty lines and repeated lines.

    The lines of a fact's value all stay.
    """
    written = normal_content(note.content)
    return written if note.kind == "fact" else normal_content(_without_repetition(written))


def _without_repetition(content: str) -> str:
    """Remove a line that repeats the line above it.

    Other repetitions stay, because they may be a further step or record: lines that do not follow
    each other, lines in fenced code, indented lines or lines above them, and lines that are not
    prose.
    """
    lines = content.split("\n")
    lines_kept: list[str] = []
    above = ""
    for position, (line, is_code) in enumerate(zip(lines, continues_code(lines), strict=True)):
        if line and line == above and not is_code and _stands_alone(lines, position):
            continue
        lines_kept.append(line)
        above = line or above
    return "\n".join(lines_kept)


def _stands_alone(lines: list[str], position: int) -> bool:
    # normalised content has no two empty lines in a row
    below = next((line for line in lines[position + 1 : position + 3] if line), "")
    line = lines[position]
    return not line[:1].isspace() and not below[:1].isspace() and _is_prose(line)


def _is_prose(line: str) -> bool:
    """Whether it is a sentence or several plain words; a single word may be a step or a verse."""
    if _NO_PROSE.match(line):
        return False
    text = _BULLET.sub("", line, count=1)
    words_of_line = [word for word in text.split() if any(map(str.isalnum, word))]
    if not words_of_line or is_unspaced(words_of_line[0]) or _ENDED.search(text):
        return bool(words_of_line)
    return len(words_of_line) > 1 and not _NO_WORDS.search(text)


def _difference(before: str, after: str) -> str:
    gone = _count_filled_lines(before) - _count_filled_lines(after)
    if not gone:
        return "blanks and empty lines tidied"
    return f"{gone} repeated {'line' if gone == 1 else 'lines'} removed"


def _count_filled_lines(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())


def _topic_words(note: MemoryNote, policy: Policy) -> tuple[str, ...]:
    """Tags for the kind of content, then words of the title, then frequent words."""
    count = Counter(_whole_words(note.content))
    often = [word for word, times in count.most_common() if times >= SAID_OFTEN]
    taken = {*words(note.nugget_name), *_whole_words(note.nugget_name), *DECIDING_TAGS}
    taken |= function_words(all_tokens(f"{note.title}\n{note.content}"))
    naming: list[str] = []
    for word in (*_whole_words(note.title), *often):
        if _is_name(word) and word not in taken and not _repeats(word, naming):
            naming.append(word)
    return (*content_tags(note.content), *naming[: policy.tag_words])


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
