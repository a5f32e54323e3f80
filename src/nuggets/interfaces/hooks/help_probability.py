"""How probable it is that a memory helps with a prompt. Knows no shelf.

Prompt and memory share words, most of them by chance: in a shelf of thirty notes every word is
rare, and people say "window" of many things. So a word counts in full only if it is no everyday
word of its language (`language/languages.py`), if the memory has it as it is written, and if
no more memories have it than are shown. All other words count little, but two of them together, in
a prompt that says little else, are an answer. A path is one word.

The probability is that of a weighted sum of six features, fitted on prompts that people wrote to
memories of their own: `python -m benchmarks.everyday --fit`.
"""

import re
from collections.abc import Iterator, Sequence
from math import exp

from nuggets.domain.records import MemoryNote
from nuggets.language.languages import (
    ANY_LANGUAGE,
    detect_language,
    everyday_languages,
    is_commonest,
    is_everyday,
    stems,
)
from nuggets.language.repository_references import read_paths
from nuggets.language.text import (
    edits_between,
    fold_case,
    is_unspaced,
    pairs,
    tokens,
    words_and_runs,
)
from nuggets.language.word_lists import stop_words
from nuggets.named_tuple import NamedTuple

MOST_SHOWN = 3  # memories on one prompt: ours, every one costs tokens of the conversation
# Ours, bounds of the time: each word is compared with those of each memory.
READ_CHARACTERS = 4000  # of a prompt and of a memory
MOST_WORDS = 64  # of a prompt
LEAST = 0.5  # probability of a memory that is shown: one other prompt in fifty gets one
RECALLED = 0.95  # of the memories in `data/everyday` that are so probable 98 of 100 were wanted
EVERYDAY = 0.2  # what an everyday word counts, and one in another form; .3 finds as many
TELLING_DIGITS = 4  # of a port, a year, a code; smaller numbers count something
SHORTEST_MISSPELT = 5  # letters: a shorter word is more often another one
OWN_DIRECTORY = 3  # parts of a directory that stands for the files in it; `tests/unit` does not

# Fitted on prompts of people who saw no rule: `python -m benchmarks.everyday --fit`.
WEIGHTS = {
    "any": -2.97,
    "best": 1.88,  # what the best shared word counts
    "several": 2.66,  # they share more than one
    "share": 3.85,  # of what all words of the prompt count
    "titled": 1.48,  # share of the title's words that the prompt has
    "named": 4.94,  # the prompt names a path that the memory names, or is its title
    "elsewhere": -3.15,  # it names only other paths, or quotes code
}

_CODE = re.compile(r"\w\(|[`{}|<>=_]|::|--\w")  # a call, an operator, an identifier, an option


class PromptText(NamedTuple):
    """A prompt, read once for all memories."""

    query: str  # what is searched: without the paths
    paths: tuple[str, ...]
    has_code: bool
    language: str
    words: tuple[str, ...]  # those that may say what it is about
    terms: tuple[str, ...]  # their stems
    values: tuple[float, ...]  # what each counts
    runs: tuple[str, ...]  # what is written without blanks between words


class Helpful(NamedTuple):
    """A memory, with the probability that it helps."""

    note: MemoryNote
    probability: float
    has_title: bool  # the prompt has each word of its title, or its path

    @property
    def is_recalled(self) -> bool:
        """Whether it answers the prompt, and no sibling of it was asked for: "the production host"
        is very probably helped by `staging host`, which is no answer."""
        return self.probability >= RECALLED and self.has_title


def read_prompt(text: str) -> PromptText:
    """The words and paths of a prompt."""
    query, paths = read_paths(text)
    said = [fold_case(token) for token in tokens(query[:READ_CHARACTERS])]
    language, spoken = detect_language(said), everyday_languages(said)
    spaced, runs = words_and_runs(query[:READ_CHARACTERS])
    words = tuple(word for word in dict.fromkeys(spaced) if tells(word, spoken))[:MOST_WORDS]
    values = tuple(EVERYDAY if is_everyday(word, spoken) else 1.0 for word in words)
    terms = tuple(stems(words, language))
    has_code = bool(_CODE.search(text))
    return PromptText(query, paths, has_code, language, words, terms, values, tuple(runs))


def tells(word: str, languages: Sequence[str] = ANY_LANGUAGE) -> bool:
    """Whether a text of one of the languages may be about the word."""
    return len(word) >= TELLING_DIGITS if word.isdigit() else not is_commonest(word, languages)


def telling_words(text: str) -> list[str]:
    """The distinct words of a text that it may be about; letters without blanks in pairs."""
    words, runs = words_and_runs(text[:READ_CHARACTERS])
    found = [word for word in words if tells(word)]
    found += (pair for run in runs for pair in pairs(run) if _value_of_run(pair))
    return list(dict.fromkeys(found))


def says(note: MemoryNote, value: str) -> bool:
    """Whether a note has the first word of a value that may tell something, in any form."""
    words, runs = words_and_runs(f"{note.title} {note.content}"[:READ_CHARACTERS])
    said, unspaced = words_and_runs(value[:READ_CHARACTERS])
    if unspaced and value.startswith(unspaced[0]):
        return any(unspaced[0] in run for run in runs)
    first = next((word for word in said if word.isdigit() or tells(word)), "")
    return bool(first) and stems((first,))[0] in stems(words)


def judge(prompt: PromptText, notes: Sequence[MemoryNote]) -> list[Helpful]:
    """How probably each note helps; `notes`: all that may."""
    named = list(WEIGHTS).index("named")
    said = set(stems(words_and_runs(prompt.query[:READ_CHARACTERS])[0], prompt.language))
    return [
        Helpful(
            note,
            1 / (1 + exp(-sum(map(float.__mul__, WEIGHTS.values(), found)))),
            bool(found[named]) or _has_title(prompt, said, note, found),
        )
        for note, found in zip(notes, features(prompt, notes), strict=True)
    ]


def _has_title(
    prompt: PromptText, said: set[str], note: MemoryNote, found: tuple[float, ...]
) -> bool:
    """Whether the prompt has each word of the title but for stop words, commonest words too: who
    asks for the mail server port is not answered by the `main server port`."""
    words = [w for w in words_and_runs(note.title)[0] if w not in stop_words(prompt.language)]
    is_titled = found[list(WEIGHTS).index("titled")] == 1.0
    return is_titled and said.issuperset(stems(words, prompt.language))


def shares_said(text: str, notes: Sequence[MemoryNote]) -> list[float]:
    """Of what the words of a text count, the share that each note has."""
    place = list(WEIGHTS).index("share")
    return [found[place] for found in features(read_prompt(text), notes)]


def features(prompt: PromptText, notes: Sequence[MemoryNote]) -> list[tuple[float, ...]]:
    """What speaks for each note, in the order of the weights."""
    found = [_Shared(prompt, note) for note in notes]
    counts: dict[str, int] = {}
    for shared in found:
        for word in shared.values:
            counts[word] = counts.get(word, 0) + 1
    crowded = {word for word, count in counts.items() if count > MOST_SHOWN}
    return [shared.features(crowded) for shared in found]


class _Shared:
    """What a prompt and a note have in common."""

    def __init__(self, prompt: PromptText, note: MemoryNote) -> None:
        self.values: dict[str, float] = {}  # what each shared word counts
        self.others = 0.0  # what the other words of the prompt count
        self._titled: set[str] = set()  # shared words of the title
        self._named = _names_path(prompt, note) or _is_title(prompt, note)
        self._is_elsewhere = (bool(prompt.paths) or prompt.has_code) and not self._named
        title = words_and_runs(note.title)
        more = words_and_runs(note.content[:READ_CHARACTERS])
        written = {word.rstrip("s") for word in (*title[0], *more[0])}
        self._title_words = len(set(filter(tells, title[0]))) + sum(map(len, title[1])) // 2
        of_title = set(stems(title[0], prompt.language))
        of_all = of_title.union(stems(more[0], prompt.language))
        for word, term, value in zip(prompt.words, prompt.terms, prompt.values, strict=True):
            if term in of_all:
                self.values[word] = value if word.rstrip("s") in written else EVERYDAY
                if term in of_title:
                    self._titled.add(word)
            elif value == 1.0 and _is_misspelt(word, written):
                self.values[word] = EVERYDAY
            else:
                self.others += value
        self._compare_runs(prompt.runs, title[1], more[1])

    def _compare_runs(self, runs: Sequence[str], title: list[str], more: list[str]) -> None:
        """Compare what is written without blanks: the longest parts that the note has."""
        known = {pair for run in (*title, *more) for pair in pairs(run)}
        of_title = {pair for run in title for pair in pairs(run)}
        for part, is_known in (found for run in runs for found in _parts(run, known)):
            value = _value_of_run(part)
            if not is_known:
                self.others += value
            elif value:
                self.values[part] = value
                if not of_title.isdisjoint(pairs(part)):
                    self._titled.add(part)

    def features(self, crowded: set[str]) -> tuple[float, ...]:
        """`crowded`: words that more notes have than are shown."""
        values = {
            word: min(value, EVERYDAY) if word in crowded else value
            for word, value in self.values.items()
        }
        said = sum(values.values())
        return (
            1.0,
            max(values.values(), default=0.0),
            float(len(values) > 1),
            said / (said + self.others) if said else 0.0,
            min(1.0, self._titled_words() / (self._title_words or 1)),
            float(self._named),
            float(self._is_elsewhere),
        )

    def _titled_words(self) -> int:
        """How many words of the title are shared; two letters without blanks make one."""
        return sum(len(word) // 2 if is_unspaced(word) else 1 for word in self._titled)


def _is_misspelt(word: str, known: set[str]) -> bool:
    """Is it one slip away from a word of the note?"""
    if len(word) < SHORTEST_MISSPELT or not word.isalpha():
        return False
    return any(edits_between(word, other, 1) == 1 for other in known if other[:1] == word[:1])


def _parts(run: str, known: set[str]) -> Iterator[tuple[str, bool]]:
    """The run in parts, as long as possible, that a note has or lacks."""
    part, was_known = "", False
    for pair in pairs(run):
        is_known = pair in known
        if part and is_known == was_known:
            part += pair[1:]
            continue
        if part:
            yield part, was_known
        part, was_known = pair, is_known
    yield part, was_known


def _value_of_run(part: str) -> float:
    """What letters count that stand together; grammar, written in hiragana, counts nothing."""
    rest = [pair for pair in pairs(part) if not any("\u3040" <= sign <= "\u309f" for sign in pair)]
    if not rest or len(part) < 2:
        return 0.0
    return EVERYDAY if all(map(is_everyday, rest)) else 1.0


def _is_title(prompt: PromptText, note: MemoryNote) -> bool:
    said, title = (tokens(fold_case(text)) for text in (prompt.query, note.title))
    return bool(said) and said == title and not prompt.paths


def _names_path(prompt: PromptText, note: MemoryNote) -> bool:
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
