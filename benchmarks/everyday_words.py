"""Makes the filters of everyday words that hooks tell names from.

    python -m benchmarks.everyday_words FILE=COMMONEST,EVERYDAY …

A file has words, one a line, the commonest first; so many of them are taken for each filter. To the
first are added stop words and `generic_words.txt`, to the second the words of `common_prompts.txt`.
The filters that ship were made of counts that spaCy and pyspellchecker publish (MIT licence:
web pages in English, German and Spanish; film subtitles in French, Italian, Portuguese, Dutch and
Russian; 400 and 4,000 words of each), of the 8,000 commonest Chinese words of two letters by jieba,
and of the 1,000 words that most files of the documentation on a Linux system with Python have.
Without them a third of the names in `data/everyday` are missed.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nuggets.language import everyday_words
from nuggets.language.text import words
from nuggets.language.word_lists import common_prompts, conversation_words, idle_words


def first_words(sources: Sequence[str], which: int) -> Iterator[str]:
    """So many words of each file as are taken for the first (0) or the second filter (1)."""
    for source in sources:
        path, _, numbers = source.rpartition("=")
        text = Path(path).read_text(encoding="utf-8")
        yield from text.split()[: int(numbers.split(",")[which])]


def main() -> int:
    path = Path(everyday_words.__file__).parent / "data" / "everyday_words.bin"
    commonest = [*first_words(sys.argv[1:], 0), *idle_words(), *conversation_words()]
    prompted = [word for prompt in common_prompts() for word in words(prompt)]
    everyday = [*first_words(sys.argv[1:], 1), *prompted]
    path.write_bytes(everyday_words.make_filters(commonest, everyday))
    return 0


if __name__ == "__main__":
    sys.exit(main())
