"""Makes the filters of everyday words that hooks tell names from.

    python -m benchmarks.everyday_words LANGUAGE=FILE …

A file has words, one a line, the commonest first; 400 of them are the commonest, 4,000 everyday
ones (of Chinese 8,000). English has further files, of which 1,000 words are everyday. Stop words of
every language are commonest, and so is `generic_words.txt` in English; the words of
`common_prompts.txt` are everyday.
The filters that ship were made of counts that spaCy and pyspellchecker publish (MIT licence:
web pages in English, German and Spanish; film subtitles in French, Italian, Portuguese, Dutch and
Russian), of the 8,000 commonest Chinese words of two letters by jieba,
and for English of the 1,000 words that most files of documentation on a Linux system with Python
have. Without them a third of the names in `data/everyday` are missed.
"""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from nuggets.language import languages
from nuggets.language.languages import CHINESE, SIZES, everyday_form, filter_places
from nuggets.language.text import plain, words
from nuggets.language.word_lists import (
    ENGLISH,
    common_prompts,
    conversation_words,
    stop_words,
)

COMMONEST, EVERYDAY, CHINESE_WORDS, FURTHER = 400, 4_000, 8_000, 1_000


def main() -> int:
    filters: dict[str, tuple[list[str], list[str]]] = {
        language: ([] if language == CHINESE else [*stop_words(language)], []) for language in SIZES
    }
    for source in sys.argv[1:]:
        language, _, path = source.partition("=")
        commonest, everyday = filters[language]
        listed = Path(path).read_text(encoding="utf-8").split()
        if language == CHINESE:
            everyday += listed[:CHINESE_WORDS]
        elif everyday:
            everyday += listed[:FURTHER]
        else:
            commonest += listed[:COMMONEST]
            everyday += listed[:EVERYDAY]
    filters[ENGLISH][0].extend(conversation_words())
    filters[ENGLISH][1].extend(word for prompt in common_prompts() for word in words(prompt))
    data = Path(languages.__file__).parent / "data"
    (data / "everyday_words.bin").write_bytes(make_filters(filters))
    return 0


def make_filters(words: Mapping[str, tuple[Iterable[str], Iterable[str]]]) -> bytes:
    """The filters; `words`: of each language the commonest and the everyday ones."""
    return b"".join(
        _make_filter(commonest, map(plain, words[language][0]))
        + _make_filter(everyday, map(everyday_form, words[language][1]))
        for language, (commonest, everyday) in SIZES.items()
    )


def _make_filter(size: int, forms: Iterable[str]) -> bytes:
    bits = bytearray(size)
    for form in forms:
        for place in filter_places(form, size):
            bits[place >> 3] |= 1 << (place & 7)
    return bytes(bits)


if __name__ == "__main__":
    sys.exit(main())
