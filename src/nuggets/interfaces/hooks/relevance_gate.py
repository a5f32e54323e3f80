"""Decides whether a prompt is about a note: by the words they share, by names, by paths, and by
meaning if an encoder is at hand. Knows no shelf.

A search shows weak matches too. A hook is not a search, so one shared word is not enough, unless it
is a name, or much of what the prompt says. A path is one word: `src/gift/card.ts` has nothing in
common with another file in `src`. What search thinks of the note plays no part.

A note far from the prompt in meaning is not shown for its words, and one plainly near to it is
shown without them: nearer than what people ask of any assistant.
Whether a note that is shown also counts as recalled: `search/clear_answer.py`.
"""

from functools import cache
from math import log10
from typing import Any

from nuggets.domain.records import MemoryNote
from nuggets.language.languages import detect_language
from nuggets.language.repository_references import read_paths
from nuggets.language.text import (
    edits_between,
    fold_case,
    is_unspaced,
    pairs,
    split_scripts,
    tokens,
    words,
)
from nuggets.language.word_lists import (
    ENGLISH,
    common_prompts,
    conversation_words,
    idle_words,
    order_phrases,
)
from nuggets.named_tuple import NamedTuple

# share of a prompt's telling words, by rarity, that a single word must be: everyday.py, set a,
# and the noise of tests/interfaces/test_hooks_noise.py
NAMES_IT = 0.35
LEAD_WORDS = 8  # of a text: what it is about is said first, further names are mentioned
TELLING_DIGITS = 3  # a port or a code may be meant; smaller numbers count something
OWN_DIRECTORY = 3  # parts of a directory that stands for the files in it; `tests/unit` does not
CAPITALISING = "german"  # writes every noun with a capital letter, so that it marks no name

# Cosines, measured by benchmarks/paraphrases.py:
CONTRADICTS = 0.2  # less speaks against a note that has words of the prompt
MEANT = 0.096  # enough to show a note without them, if it is the nearest of
FEW_NOTES = 50  # or fewer; the nearest of more notes is nearer by chance:
MEANT_MORE = 0.12  # this much for every tenfold number. Also more is needed:
COMMON = 0.55  # of the cosine of a prompt that asks for no memory: it speaks for no note
SAID = 0.5  # of the share of the prompt's words: they make a note nearer, and were not enough
AS_NEAR = 0.1  # below the nearest: also shown


class PromptText(NamedTuple):
    """A prompt, read once for all notes."""

    query: str  # what is searched: without the paths
    paths: tuple[str, ...]
    names: frozenset[str]  # words that are written like names, folded
    capitals: frozenset[str]  # words with a capital letter


def read_prompt(text: str) -> PromptText:
    """The words, paths and names of a prompt."""
    rest, paths = read_paths(text)
    capitals = frozenset(fold_case(word) for word in tokens(rest) if word[0].isupper())
    return PromptText(rest, paths, _names(rest), capitals)


def is_about(prompt: PromptText, note: MemoryNote, words: tuple[Any, ...]) -> bool:
    """Whether a prompt is about a note; `words`: what `explain` says of each word of the prompt."""
    if names_title(prompt.query, note.title, len(words)) or names_path(prompt, note):
        return True
    telling = [word for word in words if _tells(word.word)]
    matched = [word for word in telling if word.itself]
    if len(matched) != 1:
        return len(matched) > 1
    if len(words) == 1 and not prompt.paths:
        return True
    word, own = matched[0].word, set(map(fold_case, tokens(f"{note.title} {note.content}")))
    if any(_is_misspelt(other.word, own) for other in telling if other.alike and not other.itself):
        return True
    said = part_said(words)
    if word.isdigit() or (word in _everyday_words() and said < 1):
        return False
    is_much = said >= NAMES_IT and not prompt.paths  # else it is about the file
    if is_much and "title" in matched[0].fields:
        return True
    is_name = word in prompt.names or (word in prompt.capitals and word in _names_in(note))
    return word in _lead(note) and (is_much or is_name)


def _is_misspelt(word: str, known: set[str]) -> bool:
    """Is it one slip away from a word of the note? Part of a longer word is not the word."""
    return any(edits_between(word, other, 1) == 1 for other in known)


def names_path(prompt: PromptText, note: MemoryNote) -> bool:
    """Does the note name a path of the prompt?"""
    if not prompt.paths:
        return False
    _, own = read_paths(f"{note.title}\n{note.content}")
    return any(_is_same_place(path, other) for path in prompt.paths for other in own)


def _is_same_place(path: str, other: str) -> bool:
    """Is one path the end of the other, as a file name is? Or is one the directory of the other,
    asked for by itself, or so deep that it stands for what is in it?"""
    said, known = path.split("/"), other.split("/")
    shorter = min(len(said), len(known))
    if said[-shorter:] == known[-shorter:]:
        return True
    is_inside = shorter > 1 and said[:shorter] == known[:shorter]
    asks_directory = len(said) < len(known) and "." not in said[-1]
    return is_inside and (asks_directory or OWN_DIRECTORY <= len(known) < len(said))


def _names_in(note: MemoryNote) -> frozenset[str]:
    """What a note writes like a name, and what its title explains after a colon."""
    head, colon, _ = note.title.partition(":")
    return _names(note.content) | _names(f"… {head}" if colon else note.title)


def _names(text: str) -> frozenset[str]:
    """Words with a digit or a capital letter inside, and capitalised ones in a sentence, unless
    its language writes every noun so."""
    has_capitals = detect_language([fold_case(word) for word in tokens(text)]) != CAPITALISING
    names = set()
    begins = True
    for piece in text.split():
        for word in (run for token in tokens(piece) for run in split_scripts(token)):
            is_marked = any(map(str.isdigit, word)) and not word.isdigit()
            is_marked = is_marked or any(map(str.isupper, word[1:]))
            is_capital = has_capitals and word[0].isupper() and len(word) > 1 and not begins
            if is_marked or is_capital:
                names.add(fold_case(word))
            begins = False
        begins = piece[-1] in ".!?:"
    return frozenset(names)


def _lead(note: MemoryNote) -> set[str]:
    rest, _ = read_paths(note.content)
    lead = [*tokens(note.title), *tokens(rest)[:LEAD_WORDS]]
    runs = [run for word in lead for run in split_scripts(word) if is_unspaced(run)]
    return {*map(fold_case, lead), *(pair for run in runs for pair in pairs(run))}


@cache
def _everyday_words() -> frozenset[str]:
    """Words of prompts that people give to any assistant: they name nothing."""
    return frozenset(word for prompt in common_prompts() for word in words(prompt))


def has_topic(prompt: str) -> bool:
    """Does the prompt say in English what it is about? Others the encoder cannot judge."""
    said = words(prompt)
    if not any(map(_tells, said)) or detect_language(said) != ENGLISH:
        return False
    letters = [letter for letter in prompt if letter.isalpha()]
    return sum(map(str.isascii, letters)) > len(letters) / 2


def meant_cosine(notes: float, common: float) -> float:
    """The cosine that the nearest of so many notes needs to be shown for its meaning alone.
    `common`: that of the nearest prompt which asks for no memory."""
    return MEANT + MEANT_MORE * log10(max(1.0, notes / FEW_NOTES)) + COMMON * max(0.0, common)


def part_said(words: tuple[Any, ...]) -> float:
    """The share of a prompt's telling words that a note has; `words`: as of `is_about`."""
    telling = [word for word in words if _tells(word.word)]
    said: float = sum(word.rarity for word in telling if word.itself)
    return said / (sum(word.rarity for word in telling) or 1.0)


def names_title(prompt: str, title: str, words: int = 0) -> bool:
    """Does the prompt contain the title? A title of one word must be the whole prompt."""
    prompt_text, name = (f" {' '.join(tokens(text)).casefold()} " for text in (prompt, title))
    named = name.split()
    meant = any(map(_tells, named)) if len(named) > 1 else bool(named) and words == 1
    return meant and name in prompt_text


def shared_words(words: tuple[Any, ...]) -> list[str]:
    """Those of a prompt's telling words that a note has; `words`: as of `is_about`."""
    return [word.word for word in words if word.itself and _tells(word.word)]


def telling_words(text: str) -> list[str]:
    """The words of a text that say what it is about."""
    return [word for word in dict.fromkeys(words(text)) if _tells(word)]


def _tells(word: str) -> bool:
    is_small_number = word.isdigit() and len(word) < TELLING_DIGITS
    return word not in _idle_words() and not is_small_number


@cache
def _idle_words() -> frozenset[str]:
    """Words that no prompt is about: they say how, when or how surely something is."""
    phrases = order_phrases()
    signs = (sign for role in ("polite", "lasting", "passing", "asks") for sign in phrases[role])
    return idle_words() | conversation_words() | {sign for sign in signs if " " not in sign}
