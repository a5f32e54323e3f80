"""Rewrites a note: trailing blanks, runs of empty lines and repeated lines go; the words stay."""

import re

from nuggets.domain.records import MemoryNote
from nuggets.domain.times import moment_after
from nuggets.graph.notes import normal_content
from nuggets.language.code_fences import continues_code
from nuggets.language.text import (
    is_unspaced,
)
from nuggets.maintenance.reflection.plan import Plan

# Prompts, diffs, quotations, table rows, options: repeating them may be intended.
_NO_PROSE = re.compile(r"[$>%+@|]|[-*](?!\s)|.*(\s\|\s|\t|\s--?\w)")
_NO_WORDS = re.compile(r"[\d_=<>{}\[\]#;~^\\`]")  # signs of a record rather than prose
_ENDED = re.compile(r"\w[.!?]$")
_BULLET = re.compile(r"([-*•]|(?<!\d)\d+[.)])\s+(\[[ xX]\]\s+)?")


def rewrite(plan: Plan, ids: list[str]) -> None:
    """Normalise blanks and remove repeated lines; the words stay."""
    for note in plan.visible(ids):
        content = tidy(note)
        if content == note.content or not plan.may("rewrite", note.id):
            continue
        at = moment_after(note.updated_at, plan.now)
        plan.put(note._replace(content=content, updated_at=at, last_rewritten_at=plan.now))
        plan.record("rewrite", note, f"content: {_difference(note.content, content)}")


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
