"""What a pass does to one note by itself: archive it if it is worthless, tidy its text, add tags;
and which notes need that most.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache

from nuggets.domain.limits import TAG_CHARACTERS, TAGS
from nuggets.domain.marks import RejectedChange
from nuggets.domain.names_and_tags import DECIDING_TAGS, normal_tags, own_tags
from nuggets.domain.records import MemoryNote
from nuggets.domain.times import iso, moment_after, parse
from nuggets.language.markdown import continues_code
from nuggets.language.text import (
    LETTER,
    all_words,
    fold_case,
    is_unspaced,
    shorten,
    split_scripts,
    tokens,
    without_contraction,
    words,
)
from nuggets.language.word_lists import generic_words, stop_words
from nuggets.maintenance.reflection.linking_and_merging import (
    Plan,
    Policy,
    age,
    text_language,
)
from nuggets.operations.metadata_inference import (
    WORTHLESS_CHARACTERS,
    content_tags,
    passes_unless_recalled,
)
from nuggets.operations.notes_and_links import archive_note, normal_content

# --- text -----------------------------------------------------------------------------------------

# Only lines of prose are repeated by mistake, any other may be code or data. They are made of words
# or of words with numbers between them, or they are sentences in which no sign stands alone.
_MARK = r"(?:[-*+•]\s(?:\[[ xX]\]\s)?)?"  # of a list item
_WORD = rf"{LETTER}+(?:[-'’，、；：]{LETTER}+)*[,;:.!。！]?"
_NUMBER = r"\d\w*(?:[-.:/]\w+)*%?[,;:]?"
_WORDS = re.compile(rf"{_MARK}{_WORD}(?: {_WORD})*")
_WORDS_AND_NUMBERS = re.compile(rf"{_MARK}{_WORD}(?:(?: {_NUMBER})? {_WORD})*(?: {_NUMBER})?")
_SENTENCE = re.compile(
    rf"""{_MARK}["'(*`“„«]*{LETTER}\S*(?: (?:[^\s\w]*\w\S*|[-–—]))*(?<=[^\s./][.!。！])"""
)
_FIELD = re.compile(r"(?:[-*+•]\s+)?(?:\*\*|__)?\w+(?:[ -]\w+){0,2}:(?:\*\*|__)?\s")  # "A: no"
_HEADING = re.compile(r"#|-{3,}$|={3,}$|\*\*[^*]+\*\*:?$|__.+__:?$|\[.+\]$|.*:$")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s")
QUESTION_MARKS = ("?", "？")
SENTENCE_MARKS = (".", "!", "。", "！")
# A shorter line that is no sentence may be meant to come again after others: "Wait one minute".
STATEMENT_WORDS = 4
SHOWN_LINES = 3  # of those that were removed: ours, the history has them all
SHOWN_CHARACTERS = 60  # of each: it is known again by its beginning


def rewrite(plan: Plan, ids: list[str]) -> None:
    """Normalise blanks and remove repeated lines; the words stay."""
    for note in plan.visible(ids):
        content = tidy(note)
        if content == note.content or not plan.may("rewrite", note.id):
            continue
        at = moment_after(note.updated_at, plan.now)
        plan.put(note._replace(content=content, updated_at=at, last_rewritten_at=plan.now))
        plan.record("rewrite", note, _describe_tidying(note.content, content))


def _describe_tidying(content: str, tidied: str) -> str:
    """What was done, with the lines that are gone: a person may want them back."""
    written = normal_content(content)
    gone = [*filter(None, Counter(written.split("\n")) - Counter(tidied.split("\n")))]
    shown = [repr(shorten(line, SHOWN_CHARACTERS)) for line in gone[:SHOWN_LINES]]
    if len(gone) > SHOWN_LINES:
        shown.append(f"{len(gone) - SHOWN_LINES} more")
    done = ["blanks tidied"] if written != content else []
    if gone:
        done.append(f"repeated lines removed: {', '.join(shown)}")
    return f"content: {', '.join(done)}"


def tidy(note: MemoryNote) -> str:
    """Its content without trailing blanks, runs of empty lines and repeated lines.

    The lines of a fact's value all stay.
    """
    written = normal_content(note.content)
    return written if note.kind == "fact" else normal_content(_without_repetition(written))


def _without_repetition(content: str) -> str:
    """Remove lines of prose that follow themselves, and statements that their section has already.

    Others may be meant to come again: what may be code, rows, steps or names, fields of records,
    what holds in another section too, answers another question, or what another line leads to. A
    line that indented lines follow stays, or these would belong to another one.
    """
    lines = content.split("\n")
    joining = cache(lambda: stop_words(text_language(content)))  # of a long text this takes long
    lines_kept: list[str] = []
    section: set[str] = set()
    above = ""
    for number, (line, is_code) in enumerate(zip(lines, continues_code(lines), strict=True), 1):
        # normalised content has no two empty lines in a row
        below = next(filter(None, lines[number : number + 2]), "")
        before, title = ("", *lines)[number - 1], ("", "", *lines)[number - 1]
        if not is_code and (_begins_section(line, below) or (not before and _is_label(line))):
            section = set()
        follows_itself = line == above and bool(_WORDS.fullmatch(line))
        is_repeated = follows_itself or (line in section and _is_statement(line, joining))
        is_answer = before.endswith(QUESTION_MARKS)
        lead = before or (title if _WORDS.fullmatch(title) else "")
        is_led_to = lead == above != line and _leads_to(lead, line)
        is_field = bool(_FIELD.match(line))
        may_repeat = is_code or is_answer or is_led_to or is_field or below[:1].isspace()
        if may_repeat or not is_repeated:
            lines_kept.append(line)
            above = line or above
        if not is_code:
            section.add(line)
    return "\n".join(lines_kept)


def _begins_section(line: str, below: str) -> bool:
    """Whether it is a heading of any kind, a field of a record, or the line above a list."""
    is_list = line and _ITEM.match(below) and not _ITEM.match(line)
    return bool(_HEADING.match(line) or _FIELD.match(line) or is_list)


def _leads_to(before: str, line: str) -> bool:
    """Whether a sentence goes on from a plain line without an end ("For Mac users", a day), or any
    line from a capitalised label of few words ("Tue"): without it that line would lead to nothing.
    """
    is_plain = before[:1].isalnum() and not before.endswith(SENTENCE_MARKS)
    return _is_label(before) or (is_plain and line.endswith(SENTENCE_MARKS))


def _is_label(line: str) -> bool:
    """A few words without an end that begin with a capital or a digit, such as a name or a day."""
    begins = line[:1].isdigit() or line[:1] != line[:1].lower()
    is_short = 0 < len(line.split()) < STATEMENT_WORDS
    return begins and is_short and not line.endswith((*SENTENCE_MARKS, *QUESTION_MARKS))


def _is_statement(line: str, joining: Callable[[], frozenset[str]]) -> bool:
    """`joining`: the words of the language that join others."""
    mark = _ITEM.match(line)
    text = line[mark.end() :] if mark else line
    said = list(all_words(text))
    if _SENTENCE.fullmatch(line):
        return len(said) > 1  # "Yes." may answer anything
    # a command, a row or a line of a log has neither a capital at its beginning nor words that
    # join others ("the", "before")
    is_worded = (
        text[:1] != text[:1].lower()
        or any(map(is_unspaced, said))
        or not joining().isdisjoint(said)
    )
    is_long = len(said) >= STATEMENT_WORDS
    return is_long and is_worded and bool(_WORDS_AND_NUMBERS.fullmatch(line))


# --- archiving ------------------------------------------------------------------------------------

TEMPORARY_DAYS = 7  # that a temporary note is kept after its last recall or edit


@lru_cache(maxsize=1)  # asked for every note of a pass
def oldest_kept(now: str) -> str:
    """Temporary notes that were last used before this time are archived."""
    return iso(parse(now) - timedelta(days=TEMPORARY_DAYS))


def archive(plan: Plan, ids: list[str]) -> None:
    """Archive worthless notes; archived notes can be restored."""
    for note in plan.visible(ids):
        reason = why_worthless(note._replace(content=tidy(note)), plan.now)
        if reason and plan.may("hide", note.id):
            plan.put(archive_note(note, plan.now))
            plan.record("hide", note, f"archived {note.title!r:.80}: {reason}")


def why_worthless(note: MemoryNote, now: str) -> str:
    """Why a note should be archived; "" if it should not."""
    content = note.content.strip()
    if not content:
        return "it is empty"
    if note.kind == "note" and not note.hits and len(content) <= WORTHLESS_CHARACTERS:
        return "almost empty and never recalled"
    if note.valid_until is not None and note.valid_until < now:
        return f"expired, it was valid until {note.valid_until[:10]}"
    used = max(note.last_accessed_at, note.updated_at)
    if note.stability == "temporary" and used < oldest_kept(now):
        return "temporary and not used for days"
    if passes_unless_recalled(note):
        return "its title says that it is temporary, and it was never recalled"
    return ""


# --- tags -----------------------------------------------------------------------------------------

TAG_WORDS = 4  # at most so many tags from a note's own text; search groups by as many
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
        if len(naming) == TAG_WORDS:
            break
        if _is_name(word) and word not in taken and not _repeats(word, naming):
            naming.append(word)
    return (*content_tags(note.content), *naming)


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


# --- selection ------------------------------------------------------------------------------------

# Days of waiting that each lack counts for. Waiting time is unbounded, so every note is selected
# some day.
UNTAGGED_DAYS = 7
UNLINKED_DAYS = 7
RUBBISH_DAYS = 365  # archiving a worthless note is certain to help, and happens once

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def select_notes(notes: Iterable[MemoryNote], now: str, policy: Policy) -> list[str]:
    """The ids of the notes to inspect, the most urgent first, equals by age."""
    moment = parse(now)
    ranked = []
    for note in notes:
        is_rejected = RejectedChange("hide", note.id) in policy.rejected
        is_rubbish = not is_rejected and bool(why_worthless(note, now))
        ranked.append((-need(note, moment, is_rubbish), age(note), note.id))
    return [note_id for _, _, note_id in sorted(ranked)[: max(policy.max_notes, 0)]]


def need(note: MemoryNote, now: datetime, worthless: bool) -> timedelta:
    """How urgent an inspection is, as waiting time; exact, so that equals stay equal."""
    inspected = _past_moment(note.last_inspected_at, now)
    written = _past_moment(note.updated_at, now) or _past_moment(note.created_at, now) or _LONG_AGO
    cared_for = max(inspected or written, written)
    return (now - cared_for) + timedelta(
        (UNTAGGED_DAYS if not own_tags(note.tags, note.nugget_name) else 0)
        + (UNLINKED_DAYS if not note.links else 0)
        + (RUBBISH_DAYS if worthless else 0)
    )


def _past_moment(written: str | None, now: datetime) -> datetime | None:
    """The time, or None if it is in the future (written by a clock that was ahead)."""
    moment = parse(written) if written else None
    return moment if moment is not None and moment <= now else None
