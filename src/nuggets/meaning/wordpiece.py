"""Text into the word pieces of BERT's uncased vocabulary, as the encoder was trained with them."""

import unicodedata
from collections.abc import Iterator, Mapping

LONGEST_WORD = 100  # characters; a longer word is unknown
MOST_WORDS = 20_000  # that a process remembers the pieces of
UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
CONTROL = ("Cc", "Cf", "Co")  # categories of characters that say nothing
CONTINUED = "##"  # before a piece that is not the first of its word
IDEOGRAPHS = (  # every one is a word
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPieceTokenizer:
    """Cuts text into pieces of a vocabulary, longest first."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._unknown = vocabulary[UNKNOWN]
        self._words: dict[str, list[int]] = {}  # words cut before

    def encode(self, text: str, most: int) -> list[int]:
        """The numbers of at most `most` pieces, the marks of beginning and end included."""
        pieces = [self._vocabulary[FIRST]]
        for word in split_words(text):
            if len(pieces) >= most:
                break
            pieces += self._pieces(word)
        return [*pieces[: most - 1], self._vocabulary[LAST]]

    def _pieces(self, word: str) -> list[int]:
        pieces = self._words.get(word)
        if pieces is None:
            pieces = self._cut(word)
            if len(self._words) >= MOST_WORDS:
                self._words.clear()
            if len(word) <= LONGEST_WORD:
                self._words[word] = pieces
        return pieces

    def _cut(self, word: str) -> list[int]:
        if len(word) > LONGEST_WORD:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = CONTINUED if start else ""
            end = len(word)
            while end > start and prefix + word[start:end] not in self._vocabulary:
                end -= 1
            if end == start:
                return [self._unknown]
            pieces.append(self._vocabulary[prefix + word[start:end]])
            start = end
        return pieces


def split_words(text: str) -> Iterator[str]:
    """Lower-case words without accents; every punctuation mark and ideograph is one."""
    if not text.isascii():
        text = "".join(map(_space_ideograph, text))
    text = text.lower()
    if not text.isascii():
        decomposed = unicodedata.normalize("NFD", text)
        text = "".join(char for char in decomposed if unicodedata.category(char) != "Mn")
    for run in "".join(map(_clean, text)).split():
        yield from _split_punctuation(run)


def _split_punctuation(run: str) -> Iterator[str]:
    start = 0
    for place, char in enumerate(run):
        if is_punctuation(char):
            if place > start:
                yield run[start:place]
            yield char
            start = place + 1
    if start < len(run):
        yield run[start:]


def is_punctuation(char: str) -> bool:
    """All ASCII signs that are neither letter nor digit, and Unicode's punctuation."""
    if char.isascii():
        return not char.isalnum() and char.isprintable() and char != " "
    return unicodedata.category(char).startswith("P")


def _clean(char: str) -> str:
    if char.isalnum():
        return char
    category = unicodedata.category(char)
    if char in "\t\n\r" or category == "Zs":
        return " "
    return "" if char == "\ufffd" or category in CONTROL else char


def _space_ideograph(char: str) -> str:
    code = ord(char)
    is_ideograph = code >= 0x3400 and any(first <= code <= last for first, last in IDEOGRAPHS)
    return f" {char} " if is_ideograph else char
