"""Rewrites a note: trailing blanks, runs of empty lines and repeated lines go; the words stay."""

import re

from nuggets.domain.records import MemoryNote
from nuggets.domain.times import moment_after
from nuggets.graph.notes import normal_content
from nuggets.language.code_fences import continues_code
from nuggets.maintenance.reflection.plan import Plan

# Indented lines, headings and numbered steps; prompts, fences, rows of a table, what reads as code.
_NO_PROSE = re.compile(r"\s|#|\d+[.)]\s|\$ |.*(\||\t|```|~~~|[={}]|;$|\s--\w)")


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
    """Remove lines of prose that the note has already.

    Others may be meant to come again: code, rows of a table, numbered steps. A line that indented
    lines follow stays too, or these would belong to another one.
    """
    lines = content.split("\n")
    lines_kept: list[str] = []
    seen: set[str] = set()
    for number, (line, is_code) in enumerate(zip(lines, continues_code(lines), strict=True), 1):
        # normalised content has no two empty lines in a row
        below = next(filter(None, lines[number : number + 2]), "")
        if is_code or not _is_prose(line) or line not in seen or below[:1].isspace():
            lines_kept.append(line)
        if not is_code:
            seen.add(line)
    return "\n".join(lines_kept)


def _is_prose(line: str) -> bool:
    return any(map(str.isalnum, line)) and not _NO_PROSE.match(line)


def _difference(before: str, after: str) -> str:
    gone = _count_filled_lines(before) - _count_filled_lines(after)
    if not gone:
        return "blanks and empty lines tidied"
    return f"{gone} repeated {'line' if gone == 1 else 'lines'} removed"


def _count_filled_lines(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())
