"""What a text names of a repository: files, symbols, commands, versions, branches. Reads no file.

Only what looks like a name counts: whether there is such a file or symbol, the caller looks up.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeVar

from nuggets.language.text import all_words, split_scripts
from nuggets.language.word_lists import stop_words
from nuggets.named_tuple import NamedTuple

T = TypeVar("T")

# Bounds of the time: every name costs a look at the repository, before a hook has answered.
READ_CHARACTERS = 4000
NAMES_OF_EACH_KIND = 12

# Tools whose second word is a target that a file defines, with the names of that file.
TARGET_FILES = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile"),
    "npm": ("package.json",),
    "pnpm": ("package.json",),
    "yarn": ("package.json",),
    "bun": ("package.json",),
}
# Subcommands of package managers, which no package.json defines.
_OWN_COMMANDS = ("add", "audit", "ci", "exec", "i", "init", "install", "link", "remove", "run")

_EDGES = "`'\"“”‘’()[]{}<>*,;!?，。；：！？、（）「」『』《》【】"
_ENDS = "`'\"”’*,;.:!?"  # after a call
_LINE = r":(\d{1,7})(?:[-:]\d{1,7})?$"
_SYMBOL = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:\.x)?")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_QUOTED = r"`([^`\n]{1,80})`"
_CHOICE = r"[^\W\d_]+/[^\W\d_]+"


class References(NamedTuple):
    """What a text names, in its order."""

    files: tuple[tuple[str, int], ...]  # path and line; 0: the file as a whole
    symbols: tuple[str, ...]
    numbers: tuple[str, ...]
    targets: tuple[tuple[str, str], ...]  # tool and target: make, test
    versions: tuple[tuple[str, str], ...]  # name and version: node, 18
    branches: tuple[str, ...]
    words: frozenset[str]  # all words, names split into their parts

    @property
    def telling_words(self) -> frozenset[str]:
        """The words that say what it is about."""
        return frozenset(
            word for word in self.words - stop_words() if len(word) > 1 and not word.isdigit()
        )


def read_references(text: str) -> References:
    """The names in a text."""
    text = text[:READ_CHARACTERS]
    words = [word.strip(_EDGES).rstrip(".:") for word in text.split()]
    words = [word for word in words if word]
    return References(
        files=_unique(_file(word) for word in words),
        symbols=_unique([*_quoted_symbols(text), *map(_symbol, text.split())]),
        numbers=_unique(numbers_in(text)),
        targets=_unique(map(_target, words, words[1:], [*words[2:], ""])),
        versions=_unique(map(_version, words, words[1:])),
        branches=_unique(map(_branch, words, words[1:])),
        words=frozenset(all_words(text)),
    )


def read_paths(text: str) -> tuple[str, tuple[str, ...]]:
    """A text without the paths that it names, and these. What may as well be a choice, such as
    `read/write`, stays in the text too."""
    rest: list[str] = []
    paths: list[str] = []
    for piece in (run for word in text[:READ_CHARACTERS].split() for run in split_scripts(word)):
        word = piece.strip(_EDGES).rstrip(".:")
        path = word if word.endswith("/") else (_file(word) or ("", 0))[0]
        if path.strip("/"):
            paths.append(path.strip("/"))
        if not path.strip("/") or (path.count("/") == 1 and re.fullmatch(_CHOICE, path)):
            rest.append(piece)
    return " ".join(rest), tuple(dict.fromkeys(paths))


def numbers_in(text: str) -> list[str]:
    """The numbers of a text, as they are written."""
    return _NUMBER.findall(text)


def _unique(names: Iterable[T | None]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(name for name in names if name))[:NAMES_OF_EACH_KIND]


def _file(word: str) -> tuple[str, int] | None:
    """A word with a slash or an ending, with the line after it."""
    match = re.search(_LINE, word) if ":" in word else None
    path = word[: match.start()] if match else word
    name = path.rpartition("/")[2]
    ending = name.rpartition(".")[2] if "." in name else ""
    if "://" in path or not (name and ("/" in path or ending[:1].isalpha())):
        return None
    return path.removeprefix("./"), int(match[1]) if match else 0


def _quoted_symbols(text: str) -> list[str]:
    if "`" not in text:
        return []
    quoted = (name.removesuffix("()") for name in re.findall(_QUOTED, text))
    return [name for name in quoted if _SYMBOL.fullmatch(name)]


def _symbol(word: str) -> str:
    """A word that only code has: snake_case, camelCase, or with brackets of a call."""
    is_call = word.rstrip(_ENDS).endswith("()")
    name = word.strip(_EDGES).rstrip(".:")
    if not _SYMBOL.fullmatch(name):
        return ""
    has_hump = any(a.islower() and b.isupper() for a, b in pairwise(name))
    return name if is_call or has_hump or "_" in name.strip("_") else ""


def _target(tool: str, word: str, following: str) -> tuple[str, str] | None:
    tool = tool.lower()
    if tool not in TARGET_FILES or not word[:1].isalnum():
        return None
    if TARGET_FILES[tool] == ("package.json",) and word in _OWN_COMMANDS:
        return (tool, following) if word == "run" and following else None
    return tool, word


def _version(name: str, word: str) -> tuple[str, str] | None:
    bare = word.removeprefix("v")
    is_version = _VERSION.fullmatch(word) and name[:1].isalpha() and _SYMBOL.fullmatch(name)
    return (name.lower(), bare) if is_version else None


def _branch(word: str, other: str) -> str:
    """The name before or after the word branch."""
    names = [b for a, b in ((word, other), (other, word)) if a.lower() == "branch"]
    name = names[0] if names else ""
    return name if name and all(sign.isalnum() or sign in "._-/" for sign in name) else ""
