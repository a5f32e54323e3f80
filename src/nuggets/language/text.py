"""Words of any language, made comparable. Knows no note.

Patterns are compiled when they are first used: most cold commands need none.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

from nuggets.language.word_lists import stop_words

# Marks that belong to the letter before them but are no letters themselves. Without them in the
# pattern, words in Hindi, Thai, Arabic and with decomposed accents would be split.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0dff\u0e31-\u0e4e\u0eb1-\u0ecd\u0f18-\u0fbc\u102b-\u109d\u1712-\u17dd\u3099\u309a"
)
LETTER = rf"(?:[^\W\d_]|[{_MARKS}])"  # a pattern
# One token: letters, digits and underscores with inner apostrophes; or a lone symbol beyond
# ASCII (an emoji, an arrow). ASCII punctuation and control characters separate.
_TOKEN = (
    rf"[\w{_MARKS}]+(?:['’][\w{_MARKS}]+)*"
    rf"|[^\w\s!-/:-@\[-`{{-~\x01-\x1f\x7f{_MARKS}¡¿«»‹›‘-‟…–—、。，．：；！？（）「」『』【】《》]"
)
# Where an identifier's parts meet: camelCase, HTTPServer, snake_case; not inside URLs.
_SEAM = r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?!.s(?![a-z]))"
# The same for plain ASCII, five times as fast: every separator becomes a blank.
_BLANKS = "".join(c if c.isalnum() or c in "_'\0" else " " for c in map(chr, range(128)))

# Scripts that put no blanks between words, or none before particles (Korean): their runs are
# cut into pairs of letters.
_UNSPACED = (
    *(("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\u30ff")),
    *(("\u3400", "\u9fff"), ("\uac00", "\ud7a3"), ("\uf900", "\ufaff")),
    ("\U00020000", "\U0003134f"),
)
_UNSPACED_LETTERS = "".join(f"{low}-{high}" for low, high in _UNSPACED)
_SCRIPT_RUN = f"[{_UNSPACED_LETTERS}]+|[^{_UNSPACED_LETTERS}]+"
# Invisible in a word: soft hyphen, zero-width space, byte order mark.
_UNSEEN = dict.fromkeys((0xAD, 0x200B, 0x2060, 0xFEFF))
# Characters that steer a display or hide text: controls and separators, direction marks and
# overrides, fillers, tag characters. Joiners belong to letters; line feeds and tabs are harmless.
STEERING = {
    *range(0x20),
    *range(0x7F, 0xA0),
    *(0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x200E, 0x200F),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    *(0x3164, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFA, 0xFFFB),
    *range(0xE0000, 0xE01F0),
} - {0x09, 0x0A}

ELLIPSIS = "…"  # of what was cut
_CONTRACTED = frozenset(("s", "t", "m", "d", "re", "ve", "ll"))  # it's, can't, I'm, she'd, …
_BEFORE_NT = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}  # can't, won't, …
_LETTERS_OF_WORD = 24  # for each significant word of most texts, with what stands between them
LONGEST_WORD = 64  # letters; what is longer (a hash, base64) is compared by its beginning
_SHORTEST_NUMBERED_PART = 2  # "rs256" is "rs" and "256"; "v2" and "s3" stay whole


def visible(text: str) -> str:
    """The text without invisible characters: a model or a file gets what a person sees."""
    return text if text.isascii() and text.isprintable() else text.translate(_visible_signs())


@cache
def _visible_signs() -> dict[int, str | None]:
    return {code: " " if chr(code).isspace() else None for code in (*STEERING, *_UNSEEN)}


def one_line(text: str, most: int = 0) -> str:
    """The visible text on one line, with single blanks, shortened to `most` characters if that is
    given."""
    flat = " ".join(visible(text).split())
    return shorten(flat, most) if most else flat


def shorten(text: str, most: int) -> str:
    """The text in `most` characters, with an ellipsis if it is cut: at a word, unless words are
    long."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    words = head.rsplit(" ", 1)[0] if text[most - 1] != " " else head
    head = words if len(words) > most // 2 else head
    # not between a letter and its accent, nor inside an emoji
    while head and unicodedata.category(text[len(head)]) in ("Mn", "Mc", "Me", "Cf", "Sk"):
        head = head[:-1]
    return head.rstrip() + ELLIPSIS


def digest(text: str, size: int) -> bytes:
    """A hash of the text of so many bytes, the same on every machine."""
    try:
        from _blake2 import blake2b  # `hashlib` has the same one, and loads OpenSSL as well
    except ImportError:
        from hashlib import blake2b
    return blake2b(text.encode(errors="replace"), digest_size=size).digest()


def fold_case(text: str) -> str:
    """The form in which keys and names compare: NFC, case folded, blanks trimmed."""
    if text.isascii():
        return text.strip().lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text.strip()).casefold())


def plain(word: str) -> str:
    """Case folded and without accents: ``Café`` and ``cafe`` become one."""
    if word.isascii():
        return word.lower()
    if len(word) == 1 and not word.isalnum():
        return word  # a symbol has no accents: "≠" is not "="
    parted = unicodedata.normalize("NFKD", word.casefold())
    bare = "".join(letter for letter in parted if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", bare)


def tokens(text: str) -> list[str]:
    """The tokens of a text in order, unchanged."""
    if text.isascii():
        return text.translate(_BLANKS).split()
    return re.findall(_TOKEN, text.translate(_UNSEEN))


def is_unspaced(word: str) -> bool:
    """Whether the word begins in a script that writes no blanks between words."""
    first = word[:1]
    return first >= _UNSPACED[0][0] and any(low <= first <= high for low, high in _UNSPACED)


def pairs(run: str) -> list[str]:
    """Neighbouring letters two by two; a lone letter stays alone."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def without_contraction(token: str) -> list[str]:
    """``Anna's`` is Anna, ``don't`` is do, ``can't`` is can, ``l'eau`` is l and eau."""
    if token.isalnum():
        return [token]
    halves = [part for part in token.replace("’", "'").split("'") if part]
    if len(halves) != 2 or halves[1].lower() not in _CONTRACTED:
        return halves
    head, end = halves
    if end in "tT" and head[-1] in "nN" and len(head) > 1:
        head = _BEFORE_NT.get(head[:-1].lower(), head[:-1])
    return [head]


def parts(token: str) -> list[str]:
    """The parts of an identifier; an ordinary word has one part."""
    if token.isalpha() and (token.islower() or token.isupper() or token[1:].islower()):
        return [token]
    has_seams = "_" in token or not (token.islower() or token.isdigit())
    names = filter(None, re.split(_SEAM, token)) if has_seams else [token]
    return [piece for name in names for piece in _without_number(_singular(name))] or [token]


def _singular(part: str) -> str:
    """``URLs`` is URL; the stemmer does not know this plural."""
    several = part[-1] == "s" and len(part) > 2 and part[:-1].isupper() and part.isalpha()
    return part[:-1] if several else part


def _without_number(part: str) -> list[str]:
    """``rs256`` is rs and 256; v2, s3 and the hash 9fceb02 stay whole."""
    if part.isalpha() or part.isdigit():
        return [part]
    pieces = re.findall(r"\d+|[^\W\d_]+", part)
    if "".join(pieces) != part or any(len(piece) < _SHORTEST_NUMBERED_PART for piece in pieces):
        return [part]
    return pieces


def split_scripts(token: str) -> list[str]:
    """The runs of one script: ``Python設定`` is two words without a blank between."""
    if token.isascii() or max(token) < _UNSPACED[0][0]:
        return [token]
    return re.findall(_SCRIPT_RUN, token)


def pieces(token: str) -> list[str]:
    """The words of one token: the whole of an identifier first, then its parts."""
    if token.isalpha() and token.isascii() and token.islower():
        return [token[:LONGEST_WORD]]  # a plain word, as most are
    words: list[str] = []
    for bare in without_contraction(token):
        for run in split_scripts(bare):
            if is_unspaced(run):
                words += pairs(run) if len(run) == 1 else [*pairs(run), *run]
                continue
            cut = parts(run[:LONGEST_WORD])
            if len(cut) > 1:
                words.append("".join(cut).casefold())
                cut = [part for part in cut if len(part) > 1]
            words += [part.casefold() for part in cut]
    return words


def words_and_runs(text: str) -> tuple[list[str], list[str]]:
    """The words of a text, identifiers whole and in parts; and what is written without blanks."""
    words: list[str] = []
    runs: list[str] = []
    for run in (run for token in tokens(text) for run in split_scripts(token)):
        if is_unspaced(run):
            runs.append(run)
        else:
            words += pieces(run)
    return words, runs


def query_words(token: str) -> tuple[list[str], str]:
    """The words that a token asks for, and the whole identifier if they are its parts."""
    words = pieces(token)
    if any(map(is_unspaced, words)):
        return [word for word in words if len(word) > 1] or words, ""
    return (words[1:], words[0]) if len(words) > 1 and "'" not in token else (words, "")


def words(text: str) -> list[str]:
    """The significant words of a text, in order: case folded, identifiers in parts.

    Stop words are left out, unless there is nothing else.
    """
    stop, every_word = stop_words(), list(all_words(text))
    return [word for word in every_word if word not in stop] or every_word


def first_words(text: str, most: int) -> list[str]:
    """The first distinct ones of `words`, without reading much further than that."""
    end, stop = text.find(" ", most * _LETTERS_OF_WORD), stop_words()
    for part in (text[:end], text) if end > 0 else (text,):
        chosen = dict.fromkeys(word for word in all_words(part) if word not in stop)
        if len(chosen) >= most:
            break
    return list(chosen or dict.fromkeys(all_words(text)))[:most]


def all_words(text: str) -> Iterator[str]:
    """Every word of a text, in order: case folded, identifiers in parts."""
    for token in tokens(text):
        if token.isascii() and token.isalpha() and token.islower():
            yield token  # a plain word, as most are
            continue
        for bare in without_contraction(token):
            yield from folded_parts(bare)


def folded_parts(word: str) -> Iterator[str]:
    """The words of a token that is no contraction: case folded, identifiers in parts, scripts
    without blanks in pairs of letters."""
    for run in split_scripts(word):
        for part in parts(run):
            folded = fold_case(part)
            yield from filter(None, pairs(folded) if is_unspaced(part) else (folded,))


def closest_name(name: str, names: Iterable[str]) -> str:
    """The one of the names that a mistyped one is most like; "" if it is like none."""
    from difflib import get_close_matches  # only what goes wrong needs it

    return next(iter(get_close_matches(name, names, 1)), "")


def edits_between(a: str, b: str, limit: int) -> int:
    """Edits between two words, swapped neighbours counting once; above `limit`: limit + 1.

    Limits are small, so trying every edit at the first difference is faster than filling a table.
    """
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    if not limit:
        return int(a != b)
    same = 0
    for letter, other in zip(a, b, strict=False):
        if letter != other:
            break
        same += 1
    a, b = a[same:], b[same:]
    if not a or not b:
        return min(max(len(a), len(b)), limit + 1)
    fewest = min(
        edits_between(a[1:], b[1:], limit - 1),
        edits_between(a[1:], b, limit - 1),
        edits_between(a, b[1:], limit - 1),
    )
    if a[:2] == b[1::-1]:
        fewest = min(fewest, edits_between(a[2:], b[2:], limit - 1))
    return 1 + fewest


# --- tokens of a model ------------------------------------------------------------------------

# An estimate without a model's vocabulary. Compared with three public ones (two of OpenAI, one of
# Anthropic) on this project's English texts, Markdown, Python and identifiers: 1.00 to 1.17 times
# the most expensive of them. Languages with long or accented words cost up to a third more than
# estimated, Cyrillic half as much.
LETTERS_OF_TOKEN = 7  # of one word that are one token on average, beyond its first


def estimate_tokens(text: str) -> int:
    """A token for each short word, three digits, sign, letter beyond ASCII and line break."""
    return sum(
        1 + (len(piece) - 1) // LETTERS_OF_TOKEN if piece[0].isalpha() else 1
        for piece in re.findall(r"[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]|\n", text)
    )
