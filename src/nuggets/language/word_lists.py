"""The word lists of `data/`, each read when it is first asked for.

A file has comment lines first, then words; several lists in one file have `[headings]`.
"""

import os
from functools import cache

ENGLISH = "english"


def _read(name: str) -> str:
    """The text of a list after its comments."""
    text = _read_bytes(f"{name}.txt").decode()
    while text.startswith("#"):
        text = text.partition("\n")[2]
    return text


def _read_bytes(name: str) -> bytes:
    """The loader also reads a zipped package."""
    path = os.path.join(os.path.dirname(__file__), "data", name)
    data: bytes = __loader__.get_data(path)  # type: ignore[name-defined]
    return data


def everyday_filters() -> bytes:
    """What `languages` reads."""
    return _read_bytes("everyday_words.bin")


@cache
def _read_sections(name: str) -> dict[str, list[str]]:
    """The words of a file by heading. Read once: each list of a file asks for it."""
    sections = (section.partition("]") for section in _read(name)[1:].split("\n["))
    return {heading: words.split() for heading, _, words in sections}


def _read_entries(name: str) -> list[list[str]]:
    """The words of a file line by line."""
    return [line.split() for line in _read(name).splitlines()]


@cache
def stop_words(language: str = ENGLISH) -> frozenset[str]:
    """The commonest words of a language.

    Russian ones are always among them: their letters set them apart from any other language.
    """
    words = _read_sections("stop_words")
    return frozenset([*words[language], *words["russian"]])


@cache
def idle_words() -> frozenset[str]:
    """Words of any language that only ask: "please show me the", "wie ist"."""
    lists = _read_sections("stop_words").values()
    return frozenset(word for words in lists for word in words) | _generic_words("request")


@cache
def _generic_words(*headings: str) -> frozenset[str]:
    sections = _read_sections("generic_words")
    return frozenset(word for heading in headings for word in sections[heading])


def conversation_words() -> frozenset[str]:
    """English words that belong to a conversation, or tell an agent what to do."""
    return _generic_words("request", "question", "conversation")


@cache
def assent_words() -> frozenset[str]:
    """Words of several languages that only keep a conversation going: "yes, go ahead"."""
    return frozenset(_read("assent_words").split())


def generic_words() -> frozenset[str]:
    """English words that say little about the text they stand in, parts of addresses included."""
    return _generic_words("request", "question", "conversation", "path")


def common_prompts() -> list[str]:
    """Prompts that people give to any assistant, and that ask for no memory."""
    return [line for line in _read("common_prompts").splitlines() if not line.startswith("#")]


@cache
def irregular_forms() -> dict[str, str]:
    """English inflected forms, each with its base form."""
    return {form: base for base, *forms in _read_entries("irregular_forms") for form in forms}


@cache
def abbreviations() -> dict[str, tuple[str, ...]]:
    """Short forms with their long forms, and long forms with their short forms."""
    related: dict[str, tuple[str, ...]] = {}
    for short, *long_forms in _read_entries("abbreviations"):
        related[short] = (*related.get(short, ()), *long_forms)
        for long_form in long_forms:
            related[long_form] = (*related.get(long_form, ()), short)
    return related


@cache
def synonyms() -> dict[str, tuple[str, ...]]:
    """Words of several languages, each with others that name the same thing in a title or key."""
    return {
        word: tuple(other for other in group if other != word)
        for group in _read_entries("synonyms")
        for word in group
    }


def months() -> dict[str, list[str]]:
    """The names of the twelve months by language."""
    return _read_sections("months")


@cache
def order_phrases() -> dict[str, list[str]]:
    """By role, the phrases by which people order memory, or state something lasting."""
    sections = _read_sections("orders")
    return {
        role: [phrase.replace("_", " ") for phrase in phrases] for role, phrases in sections.items()
    }


@cache
def lasting_words() -> dict[str, float]:
    """Words of any language, each with how much it speaks for a lasting statement."""
    sections = _read_sections("lasting_words")
    return {word: float(weight) for weight, words in sections.items() for word in words}


@cache
def filler_words() -> frozenset[str]:
    """English words that may come or go without a change of what a sentence says."""
    return frozenset(_read("filler_words").split())


@cache
def equivalent_words() -> dict[str, str]:
    """English words, each with the first one of its group."""
    return {word: group[0] for group in _read_entries("equivalent_words") for word in group}


@cache
def stances() -> dict[str, frozenset[str]]:
    """Words that are for or against something, or neither, and that no rule is about."""
    return {name: frozenset(words) for name, words in _read_sections("stances").items()}


@cache
def contrasts() -> dict[str, str]:
    """English stop words that tell one thing from another, each with its kind."""
    kinds = _read_sections("contrasting_words")
    return {word: kind for kind, words in kinds.items() for word in words}


@cache
def opposites() -> dict[str, str]:
    """The second word of each pair of opposites, with the first."""
    words = _read_sections("stances")["opposites"]
    return dict(zip(words[1::2], words[::2], strict=True))
