"""Reads what a prompt orders of memory: to remember something, to forget something; and how
probably it states something lasting, which the agent's model shall judge. Knows no memory.

The phrases of all languages are in `language/data/orders.txt`. An order counts at the start of a
sentence, or after it ("…, remember that"). Nothing is read from questions, quotes, code, text
between tags, what follows a blank line (it may be pasted), or text that memory has shown.

An order waits in a private file from before the shelf is opened, which may be busy or slow, until
it is obeyed or refused. What is left is taken in by the next hook or command; purging erases it
(`filesystem/hook_files.drop_diaries`). A credential never gets there.
"""

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from math import exp, log

from nuggets.domain.host_markup import carries_mark
from nuggets.filesystem.atomic_files import open_plain
from nuggets.filesystem.hook_files import (
    ORDER_PREFIX,
    append,
    file_size,
    hook_path,
    waiting_order_paths,
)
from nuggets.interfaces.hooks.help_probability import telling_words
from nuggets.interfaces.hooks.host_payload import PROMPT_CHARACTERS, is_command
from nuggets.interfaces.prompt_quoting import remove_fenced
from nuggets.language.text import fold_case, is_unspaced, pairs, split_scripts, tokens, visible
from nuggets.language.word_lists import lasting_words, order_phrases
from nuggets.named_tuple import NamedTuple

LONGEST_PROMPT = 4000  # characters; longer prompts are pasted documents
LONGEST = 1000  # of what is to be remembered
LONGEST_SIGN = 400  # of a sentence in which signs are looked for
LEAST_ORDERED = 2  # words of what is to be remembered: one alone is no statement
LEAST_WORDS = 2.5  # of a lasting statement: three, or five letters without blanks
MOST_PASSING = 4  # signs of the moment: more make no difference
MOST_WAITING = 200  # more are left by a loop, not by a person
ASK_WHAT = "it does not say what to remember. Please say it in one sentence"
MAY_BE_SECRET = "it may hold a credential"
TOO_LONG = f"it is longer than {LONGEST} characters. `nuggets note add` keeps long texts"

# Fitted on what people said to keep, and on other prompts: `python -m benchmarks.everyday --fit`.
LASTING_WEIGHTS = {
    "any": -5.9,
    "length": 2.17,  # the logarithm of the number of words
    "about": 1.64,  # the probability that a memory is about it
    "we": 1.84,
    "rule": 0.95,  # "always", "must", "nobody"
    "lasting": 2.72,  # "from now on", "prefer"
    "passing": -1.1,  # each sign of the moment: "this", "today", "broken"
}
LEAST_LASTING = 0.32  # one other prompt in ten has it

_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_LIST_LINE = re.compile(r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+\S")
_TAGGED = re.compile(  # text between tags, or after a tag that begins a line
    r"(?ims)<([a-z][\w-]*+)[^<>]*+>.*?</\1>|^[ \t]*+<[a-z][^<>\n]*+>.*"
)
_SPEECH = re.compile(  # quoted sentences; atomic, so that no text takes long
    r'["“](?=[^.!?"”]*+(?>(?:[.!?](?!\s)[^.!?"”]*+)*)[.!?]\s)[^"”]*+["”]'
)
_ENDS = ".!;,:。！；，、： \t"
_PAUSES = tuple(",;:，；、：")
_BLANK = re.compile(r"\s")
_CLAUSE_END = re.compile(r"[,;.，；、。]|\s(?:but|and|because|since|und|weil|y|porque|et|car)\s")


class Order(NamedTuple):
    """What a person told memory to do."""

    kind: str  # "remember" or "forget"
    text: str  # what; "" if it does not say
    refusal: str = ""  # why it is not obeyed


class OldValue(NamedTuple):
    """What a statement says no longer holds."""

    statement: str
    old: str


def read_orders(prompt: str) -> list[Order]:
    """The explicit orders of a prompt."""
    own = _own_text(prompt)
    orders = []
    for sentence in _SENTENCE.split(own):
        order = _read_order(sentence.strip())
        if order and order.kind == "remember" and order.refusal in ("", ASK_WHAT):
            order = _with_list(order, own, sentence)
        if order:
            orders.append(order)
    return orders


def lasting_probability(prompt: str, about: float = 0.0) -> float:
    """That a prompt states a lasting rule, wish, fact or correction. A statement is longer than a
    task, and says "we", "always" or "from now on" rather than "this", "please" or "broken".

    `about`: the probability that some memory is about the same.
    """
    stated = statements(prompt)
    known = lasting_words()
    signs = sum(map(float.__mul__, LASTING_WEIGHTS.values(), lasting_features(stated, about)))
    return 1 / (1 + exp(-signs - sum(known.get(word, 0.0) for word in stated_words(stated))))


def lasting_features(stated: Sequence[str], about: float) -> tuple[float, ...]:
    """What speaks for it, in the order of the weights; `stated`: its statements."""
    text = " ".join(stated)
    return (
        1.0,
        log(1 + _count_words(text)),
        about,
        float(_has_phrase(text, "we")),
        float(_has_phrase(text, "rule")),
        float(_has_phrase(text, "lasting")),
        float(min(MOST_PASSING, len(_find_phrases(text, "passing")))),
    )


def stated_words(stated: Sequence[str]) -> set[str]:
    """The words of the statements; where no blanks are written, the letters, alone and in pairs."""
    words: set[str] = set()
    for run in (run for text in stated for token in tokens(text) for run in split_scripts(token)):
        words.update([*run, *pairs(run)] if is_unspaced(run) else [fold_case(run)])
    return {word for word in words if not any(map(str.isdigit, word))}


def has_sign_of_rule(text: str) -> bool:
    """Does it say "we", "always" or "from now on"?"""
    return _has_phrase(text, "we", "rule", "lasting")


def statements(prompt: str) -> list[str]:
    """The sentences that may state something: no questions, no shreds."""
    return [
        sentence
        for sentence in _sentences(prompt)
        if len(sentence) <= LONGEST_SIGN
        and _count_words(sentence) >= LEAST_WORDS
        and not is_question(sentence)
    ]


def _sentences(prompt: str) -> list[str]:
    return [found for part in _SENTENCE.split(_own_text(prompt)) if (found := part.strip())]


def is_question(sentence: str) -> bool:
    """Does it ask, by its sign or its first word? "When you do this, do that" does not."""
    if sentence.rstrip(" )\"'”’").endswith(("?", "？")):
        return True
    if is_unspaced(sentence[:1] or " "):
        return _has_phrase(sentence, "asks")
    return "," not in sentence and _end_of_phrase(sentence, "asks") > 0


def find_old_value(prompt: str) -> OldValue | None:
    """What a statement says no longer holds: "X, not Y", "instead of Y", "from Y to X"."""
    for sentence in statements(prompt):
        found = _find_phrases(sentence, "instead of") or _find_phrases(sentence, "but not")
        ends = _CLAUSE_END
        if not found and _has_phrase(sentence, "moved"):
            found, ends = _find_phrases(sentence, "moved from"), _BLANK
        rest = sentence[found[0].end :].strip() if found else ""
        if rest:
            old = ends.split(rest, maxsplit=1)[0].strip(_ENDS)
            return OldValue(sentence.rstrip(_ENDS), old)
    return None


def _read_order(sentence: str) -> Order | None:
    rest = _skip_phrases(sentence, "polite")
    asks_us = rest != sentence
    rest = rest[_end_of_phrase(rest, "lasting") :].lstrip()  # "from now on remember: …"
    if not rest or (rest.endswith(("?", "？")) and not asks_us):
        return None
    end = _end_of_order(rest)
    if end < _end_of_phrase(rest, "except"):  # the longer phrase is meant
        return None
    if end:
        return _remember(_without_that(rest[end:]))
    end = _end_of_phrase(rest, "forget") or _end_of_phrase(rest, "delete")
    if end:
        return _forget(rest[end:], rest[:end])
    bare = rest.rstrip(_ENDS)
    for found in _find_phrases(bare, "after")[:1]:
        if found.end == len(bare) and bare[: found.start].rstrip()[-1:] in _PAUSES:
            return _remember(rest[: found.start])
    return None


def _remember(what: str) -> Order:
    text = what.strip().strip("?？").strip(_ENDS)
    if _says_nothing(text) or _count_words(text) < LEAST_ORDERED:
        return Order("remember", "", ASK_WHAT)
    return Order("remember", text, TOO_LONG if len(text) > LONGEST else "")


def _forget(what: str, phrase: str) -> Order | None:
    """None if it is said to the agent, not to memory: "forget it, let's go on"."""
    text = what.strip(_ENDS + "?？")
    # files, lines and branches are deleted all day: memory must be named
    deletes = _end_of_phrase(phrase, "delete") > 0
    is_of_memory = _has_phrase(f"{phrase} {first_clause(text)}", "of memory")
    for found in _find_phrases(first_clause(text), "of memory")[:1]:  # "from your memory"
        said = [*text[: found.start].split()[:-2], text[found.end :]]
        text = " ".join(said).strip() or text
    starts_clause = what.lstrip(" ")[:1] in ",;，"
    if starts_clause or _says_nothing(first_clause(text)) or (deletes and not is_of_memory):
        return None
    text = _skip_phrases(text, "polite")
    for found in _find_phrases(text, "polite")[-1:]:
        text = text[: found.start].rstrip(_ENDS) if found.end == len(text) else text
    return Order("forget", text)


def first_clause(text: str) -> str:
    """A text up to the comma or conjunction behind which something else is said."""
    return _CLAUSE_END.split(text, maxsplit=1)[0].strip(_ENDS)


def _with_list(order: Order, own: str, sentence: str) -> Order:
    """The order with the list that follows it after a colon."""
    if not sentence.rstrip().endswith((":", "：")) and order.text:
        return order
    lines = own[own.find(sentence) + len(sentence) :].strip("\n").split("\n")
    listed = []
    for text in lines:
        if not _LIST_LINE.match(text):
            break
        listed.append(text.strip())
    if not listed:
        return order
    text = "\n".join(filter(None, [order.text, *listed]))
    return Order("remember", text, TOO_LONG if len(text) > LONGEST else "")


def _without_that(what: str) -> str:
    """What follows "that", "the following" or a colon."""
    rest = what.strip(_ENDS)
    for role in ("polite", "that"):
        shorter = _skip_phrases(rest, role)
        rest = shorter if shorter.strip(_ENDS) else rest
    return rest


def _says_nothing(text: str) -> bool:
    """Does it only point at something?"""
    rest = text
    for found in reversed(_find_phrases(text, "that")):
        rest = f"{rest[: found.start]} {rest[found.end :]}"
    return not any(map(str.isdigit, rest)) and not telling_words(rest)


def _count_words(text: str) -> float:
    """How many words it has; where no blanks are written, two letters make one."""
    return len(text) / 2 if is_unspaced(text[:1] or " ") else len(text.split())


def _own_text(prompt: str) -> str:
    """The words that the person wrote, up to the first blank line."""
    text = remove_fenced(visible(prompt[:PROMPT_CHARACTERS])).replace("’", "'")
    if is_command(text.lstrip()) or carries_mark(text):  # injected memory, whose end is unknown
        return ""
    if "```" in text:
        from nuggets.language.markdown import without_code

        text = without_code(text)
    if len(text) > LONGEST_PROMPT:
        return ""
    own = _SPEECH.sub("\n", _TAGGED.sub("\n", text)).strip()
    return _BLANK_LINE.split(own)[0]


# --- phrases -------------------------------------------------------------------------------------
# Without patterns, which would take longer to compile than all the rest of most prompts.


class _Place(NamedTuple):
    start: int
    end: int


def _has_phrase(text: str, *roles: str) -> bool:
    return any(_find_phrases(text[:PROMPT_CHARACTERS], role) for role in roles)


def _find_phrases(text: str, role: str) -> list[_Place]:
    """Where phrases of a role stand as whole words; of those that overlap the first and longest."""
    found = []
    said = text.lower()
    if len(said) != len(text):  # "İ" has two letters then; the places are those of the text
        said = "".join([low if len(low := letter.lower()) == 1 else letter for letter in text])
    for phrase in _phrases(role):
        start = said.find(phrase)
        while start >= 0:
            place = _Place(start, start + len(phrase))
            if is_unspaced(phrase) or not _cuts_word(said, place):
                found.append(place)
            start = said.find(phrase, start + 1)
    chosen: list[_Place] = []
    for place in sorted(found, key=lambda place: (place.start, -place.end)):
        if not chosen or place.start >= chosen[-1].end:
            chosen.append(place)
    return chosen


def _end_of_phrase(text: str, role: str) -> int:
    """Where the phrase ends that a text begins with, and its comma or colon; 0 without one."""
    end = next((place.end for place in _find_phrases(text, role)[:1] if not place.start), 0)
    return end + (text[end : end + 1] in (",", ":", "，", "、", "：")) if end else 0


def _end_of_order(text: str) -> int:
    """The same for a phrase of remembering, which may have its object inside: "keep it in mind"."""
    end = _end_of_phrase(text, "remember")
    verb, _, rest = text.partition(" ")
    thing = next(
        (place.end for place in _find_phrases(rest.lstrip(), "that")[:1] if not place.start), 0
    )
    without = f"{verb} {rest.lstrip()[thing:].lstrip()}"
    inside = _end_of_phrase(without, "remember") if thing else 0
    return max(end, len(text) - len(without) + inside) if inside > len(f"{verb} ") else end


def _skip_phrases(text: str, role: str) -> str:
    """The text after up to three phrases that it begins with."""
    for _ in range(3):
        end = _end_of_phrase(text, role)
        text = text[end:].lstrip() if end else text
    return text


def _cuts_word(text: str, place: _Place) -> bool:
    """Do letters go on where the phrase begins or ends? One may begin with a comma."""
    before, after = text[max(0, place.start - 1) : place.start], text[place.end : place.end + 1]
    is_part = text[place.start].isalnum() and (before.isalnum() or before == "_")
    return is_part or after.isalnum() or after == "_"


@cache
def _phrases(role: str) -> tuple[str, ...]:
    return tuple(map(fold_case, order_phrases()[role]))


# --- orders that wait ----------------------------------------------------------------------------


class WaitingOrder(NamedTuple):
    order: Order
    folder: str  # where it was given; "" for where the shelf is at work
    path: str  # of the file; "" for an order that does not wait


def leave_orders(directory: str, orders: list[Order], folder: str) -> list[WaitingOrder]:
    """The orders, each with its file. One that is refused, or holds a credential, gets none."""
    from time import time_ns

    waiting = [refuse_credential(order) for order in orders]
    left = []
    for order in waiting:
        path = ""
        if not order.refusal:
            # the time first: orders are taken in as they were given
            name = f"{ORDER_PREFIX}{time_ns():020d}-{os.urandom(4).hex()}"
            path, line = hook_path(directory, name), json.dumps([order.kind, order.text, folder])
            append(path, line + "\n")
            if file_size(path) <= len(line):  # the disk is full: it is obeyed now or refused
                path = ""
        left.append(WaitingOrder(order, folder, path))
    return left


def refuse_credential(order: Order) -> Order:
    """The order, refused if it holds a credential, or names one: then the model judges."""
    from nuggets.domain.credentials import credential_kinds, names_secret

    if order.refusal or order.kind == "forget":
        return order
    kinds = credential_kinds(order.text)
    if kinds:
        return order._replace(text="", refusal=f"this looks like a credential ({kinds[0]})")
    return order._replace(text="", refusal=MAY_BE_SECRET) if names_secret(order.text) else order


def waiting_orders(directory: str, here: str = "") -> list[WaitingOrder]:
    """The orders that wait, oldest first; `here`: the folder that the shelf is at work in."""
    found = map(_read, waiting_order_paths(directory)[:MOST_WAITING])
    return [one._replace(folder=one.folder if one.folder != here else "") for one in found if one]


def _read(path: str) -> WaitingOrder | None:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_plain) as file:
            kind, text, folder = json.loads(file.read())
        return WaitingOrder(Order(str(kind), str(text)), str(folder), path)
    except (OSError, ValueError, TypeError, RecursionError):  # gone, or still being written
        return None


def settle(waiting: WaitingOrder) -> None:
    """Take the order away: it is obeyed or refused."""
    if waiting.path:
        with suppress(OSError):
            os.unlink(waiting.path)
