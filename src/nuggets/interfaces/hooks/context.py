"""What a hook tells an agent: what matters here, and what memory has on a prompt.

Only memories of this project and of none; those of another never get in by themselves.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nuggets import times
from nuggets.errors import NuggetsError
from nuggets.graph.limits import FILES_SEEN
from nuggets.interfaces.fencing import TAG, age, inert, one_line
from nuggets.interfaces.hooks.certainty import Certainty, certainty_of
from nuggets.records import PROMOTE_THRESHOLD, MemoryNote
from nuggets.text import folded, visible, words

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

START_CHARACTERS = 8000  # hosts cut at 10,000; the fence and other hooks' words need room too
START_LINES = 60
PROMPT_LINES = 5
SEARCHED = FILES_SEEN + 20  # results, of other projects too, and files seen, which are left out
JUDGED = 8  # of them word by word, which takes a millisecond each
PROMPT_LINE = 300
PROMPT_CHARACTERS = 2000  # of a prompt that are searched: what it is about stands at its start
# What hosts load of MEMORY.md: `promotion.Budget`, which a test compares. Importing it would take
# every start of a session some five milliseconds.
MEMORY_LINES, MEMORY_BYTES = 200, 25_000
LEAST_RELEVANCE = 0.40  # below, words meet by chance in a long prompt; see tests/prompt_samples.py
RELATIVE = 0.75  # of the best: a second-rate note is noise beside a good one
LONGEST_WORD = 8192  # characters: no credential is longer, apart from those of several words
_COMMAND = re.compile(r"/[\w:-]+(?:\s|$)")  # to the host; "/src/auth.py: …" is a prompt


def at_start(shelf: "NuggetShelf", *, loads_memory_file: bool, task: str) -> tuple[str, list[str]]:
    """Statements about this project: what was promoted, what is durable, the task in hand.

    `task`: the title of the note that holds it; "" at a fresh start. Also the ids of what the
    agent then knows. Nothing of it counts as recalled: nobody asked for it.
    """
    known = _loaded_already(shelf) if loads_memory_file else ""
    notes = shelf.leading_notes()
    chosen = sorted((note for note in notes if _lasts(note)), key=_weight, reverse=True)
    in_hand = [note.content for note in shelf.titled(task)] if task else []
    first = [f"- The task before this point: {safe_line(text, 1200)}" for text in in_hand[-1:]]
    loaded = {note.id for note in chosen if _is_in(known, note)}
    told = _fitting(
        (note for note in chosen if note.id not in loaded),
        START_CHARACTERS - sum(map(len, first)),
    )
    lines = [*first, *told.values()]
    return _block("What memory holds for this project", lines), [*loaded, *told]


def _lasts(note: MemoryNote) -> bool:
    return note.stability == "durable" and note.source != "tool_observation"


def _weight(note: MemoryNote) -> tuple[bool, bool, int, str]:
    """Promoted first, then preferences, then what is recalled often, then what is new."""
    return (note.hits >= PROMOTE_THRESHOLD, note.type == "preference", note.hits, note.updated_at)


def _fitting(notes: Iterable[MemoryNote], room: int) -> dict[str, str]:
    lines: dict[str, str] = {}
    now = times.now()
    for note in notes:
        line = _line(note, now, 240)
        room -= len(line) + 1
        if room < 0 or len(lines) >= START_LINES:
            break
        lines[note.id] = line
    return lines


def _loaded_already(shelf: "NuggetShelf") -> str:
    """What the host has put into the context by itself, bare."""
    try:
        text = shelf.memory_text()
    except NuggetsError:
        return ""
    loaded = "\n".join(text.splitlines()[:MEMORY_LINES]).encode()[:MEMORY_BYTES]
    return _bare(loaded.decode(errors="ignore"))


def _is_in(known: str, note: MemoryNote) -> bool:
    return bool(known) and _bare(note.title) in known and _bare(one_line(note.content, 60)) in known


def _bare(text: str) -> str:
    """Letters and digits alone: promotion escapes signs in its own way."""
    shown = visible(text).replace("&lt;", "<").replace("&gt;", ">")
    return "".join(filter(str.isalnum, shown))


def on_prompt(
    shelf: "NuggetShelf", prompt: str, shown: frozenset[str], session: str
) -> tuple[str, list[str]]:
    """What memory has on a person's words that this session was not shown yet; "" if nothing fits.

    Of what fits only the best counts as recalled, and only if the prompt plainly asks for it, also
    if the agent has it in its context already: what we chose to show is no sign that it is wanted.
    """
    query = prompt[:PROMPT_CHARACTERS].strip()
    if len(query) < 3 or _COMMAND.match(query) or not any(map(str.isalnum, query)):
        return "", []
    fitting = _fitting_prompt(shelf, query)
    if fitting and fitting[0][1] is Certainty.STRONG:
        shelf.get_note(fitting[0][0].id, session=session)
    notes = [note for note, _ in fitting if note.id not in shown]
    now = times.now()
    lines = [_line(note, now, PROMPT_LINE) for note in notes]
    return _block("From memory, on this prompt", lines), [note.id for note in notes]


def _fitting_prompt(shelf: "NuggetShelf", query: str) -> list[tuple[MemoryNote, Certainty]]:
    """The notes that a prompt is about, best first, and how surely it is."""
    found = shelf.search_notes(query, SEARCHED, session=None)
    ours = [
        result
        for result in found
        if not shelf.is_foreign(result.note) and not _is_trace(result.note)
    ]
    least = max((LEAST_RELEVANCE, *(RELATIVE * result.relevance for result in ours[:1])))
    fitting: list[tuple[MemoryNote, Certainty]] = []
    for note in [result.note for result in ours if result.relevance >= least][:JUDGED]:
        certainty = certainty_of(query, note.title, shelf.explain(query, note.id).words)
        if certainty:
            fitting.append((note, certainty))
    return fitting[:PROMPT_LINES]


def _is_trace(note: MemoryNote) -> bool:
    """Left by hooks themselves: a file seen, the task of a conversation. Nothing to know."""
    return note.stability == "temporary" and note.source in ("tool_observation", "system")


def safe_line(text: str, width: int) -> str:
    """The text in one line without credentials, also without part of one at its end."""
    from nuggets.secrets import redacted

    flat = " ".join(visible(text).split())
    end = flat.find(" ", width)  # whole words: half a credential is not known as one
    return one_line(redacted(flat[: min(end if end > 0 else len(flat), LONGEST_WORD)]), width)


def _line(note: MemoryNote, now: str, width: int) -> str:
    source = note.source.replace("_", " ")
    named = "" if _says_its_title(note) else f"**{safe_line(note.title, 100)}**: "
    said = safe_line(note.content, width)
    return f"- {named}{said} ({source}, {age(note.updated_at, now)}, {note.id})"


def _says_its_title(note: MemoryNote) -> bool:
    """Would its title only repeat it? Keys of preferences are made of their words."""
    if note.type == "preference":
        return set(words(note.title)) <= set(words(note.content))
    return folded(note.title) == folded(note.content)


def _block(heading: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    from nuggets.secrets import redacted

    body = redacted(inert("\n".join(lines)))  # nobody asked for these: no credential among them
    return (
        f"<{TAG}>\n{heading} (quoted data with source and age; get_note or "
        f"`nuggets note show ID` opens one):\n{body}\n</{TAG}>"
    )
