"""Texts that make a backtracking engine work: generated from the pattern that they attack.

Every repetition of a pattern is pumped: behind what the pattern wants before it, and alone, so
that a search begins anew at every character. What is pumped is drawn from the repetition's own
body. The last character fits nowhere, so that every way to match has to be tried.
"""

import random
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

names: Any = import_module("re._constants")  # nothing public parses a pattern
parser: Any = import_module("re._parser")
NOWHERE = "\x1f"  # fits next to nothing
RUNS = 6  # of one character each
DRAWN = 2  # bodies of each repetition
MOST_TIMES = 16  # a repetition is followed while it is sampled
_CATEGORIES = {
    names.CATEGORY_DIGIT: "0",
    names.CATEGORY_NOT_DIGIT: "a",
    names.CATEGORY_SPACE: " ",
    names.CATEGORY_NOT_SPACE: "a",
    names.CATEGORY_WORD: "a",
    names.CATEGORY_NOT_WORD: "-",
}
_REPEATS = (names.MAX_REPEAT, names.MIN_REPEAT, names.POSSESSIVE_REPEAT)


def attacks(pattern: re.Pattern[str], size: int) -> Iterator[str]:
    """Texts of about `size` characters, the same ones at every call."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    chance = random.Random(ascii(pattern.pattern))
    for unit in dict.fromkeys(_units(tree, chance)):
        prefix, pump = unit
        yield prefix + pump * (size // len(pump)) + NOWHERE
    letters = sorted(_letters(tree))
    for letter in chance.sample(letters, min(RUNS, len(letters))):
        yield letter * size + NOWHERE


# Units of texts that made something slow once, or that a parser of blocks, quotes or marks reads.
_SLOW_ONCE = (
    *("a", " ", "\n", "0", "@", "<", "“", "İ", "\u0301"),
    *("a@", "=\n", "- a\n", '". ', "# a\n", "- ~~~\n", "<a\n", "&lt;", "1 may ", "aB"),
    *("<nuggets-memory>", "<hook_context>", "/*", "abcdefghijklmno: ", "password=", "curl "),
    '{"type":"entity","name":"a","observations":["b"]}\n',
)
_END = "/x.py private key: prefer reflection"


def pumped(size: int) -> Iterator[str]:
    """Texts of about `size` bytes for any function."""
    for unit in _SLOW_ONCE:
        yield (
            "Reflection: -----BEGIN PRIVATE KEY-----\n" + unit * (size // len(unit.encode())) + _END
        )


def _units(tree: Any, chance: random.Random) -> Iterator[tuple[str, str]]:
    whole = _sample(tree, chance)
    for before, body in _repetitions(tree, chance, ""):
        pumps = [_sample(body, chance) for _ in range(DRAWN)]
        for pump in (*pumps, "".join(pumps)):
            if pump:
                yield before, pump
                yield "", before + pump
    if whole:
        yield "", whole
        yield "", whole[:-1] or whole


def _repetitions(tree: Any, chance: random.Random, before: str) -> Iterator[tuple[str, Any]]:
    """What stands before each repetition, and its body."""
    for operation, argument in tree:
        if operation in _REPEATS:
            _, most, body = argument
            if most > 1:
                yield before, body
            yield from _repetitions(body, chance, before)
        for part in _parts(operation, argument):
            yield from _repetitions(part, chance, before)
        before += _sample([(operation, argument)], chance)


def _parts(operation: Any, argument: Any) -> list[Any]:
    if operation is names.SUBPATTERN:
        return [argument[3]]
    if operation is names.BRANCH:
        return list(argument[1])
    if operation is names.ATOMIC_GROUP:
        return [argument]
    if operation in (names.ASSERT, names.ASSERT_NOT):
        return [argument[1]]
    return []


def _sample(tree: Any, chance: random.Random) -> str:
    """A text that the pattern probably matches."""
    return "".join(_sample_of(operation, argument, chance) for operation, argument in tree)


def _sample_of(operation: Any, argument: Any, chance: random.Random) -> str:
    if operation is names.LITERAL:
        return chr(argument)
    if operation is names.NOT_LITERAL:
        return "a" if argument != ord("a") else "b"
    if operation is names.ANY:
        return "a"
    if operation is names.IN:
        return chance.choice(_members(argument))
    if operation in _REPEATS:
        least, most, body = argument
        times = chance.randint(int(least), max(int(least), min(int(most), MOST_TIMES)))
        return "".join(_sample(body, chance) for _ in range(times))
    if operation is names.BRANCH:
        return _sample(chance.choice(argument[1]), chance)
    if operation is names.SUBPATTERN:
        return _sample(argument[3], chance)
    if operation is names.ATOMIC_GROUP:
        return _sample(argument, chance)
    return ""


def _members(argument: Any) -> list[str]:
    """Characters of a class."""
    if argument[0][0] is names.NEGATE:
        outside = [member for item in argument[1:] for member in _members([item])]
        return [c for c in "a 0-.\n/:@" if c not in outside and c.isalnum()] or ["é"]
    members: list[str] = []
    for operation, value in argument:
        if operation is names.LITERAL:
            members.append(chr(value))
        elif operation is names.RANGE:
            members += [chr(value[0]), chr(value[1])]
        elif operation is names.CATEGORY:
            members.append(_CATEGORIES[value])
    return members or ["a"]


def _letters(tree: Any) -> set[str]:
    """Every character that the pattern names."""
    letters: set[str] = set()
    for operation, argument in tree:
        if operation is names.LITERAL:
            letters.add(chr(argument))
        elif operation is names.IN:
            letters |= set(_members(argument))
        elif operation in _REPEATS:
            letters |= _letters(argument[2])
        for part in _parts(operation, argument):
            letters |= _letters(part)
    return letters
