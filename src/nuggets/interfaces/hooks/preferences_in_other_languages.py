"""Finds lasting preferences in sentences that are not English, by the phrases of a data file."""

import re
from functools import cache

from nuggets.language.word_lists import phrases_in_other_languages

UNSPACED = frozenset(("chinese",))  # no blanks between words


def has_phrase(lower_text: str) -> bool:
    """Has a text in small letters a phrase of these languages?"""
    return any(_hints(language, lower_text) for language in phrases_in_other_languages())


def parse_foreign(sentence: str, *, opening: bool) -> tuple[str, bool] | None:
    """What a sentence wants to be kept, and whether it is a taste; None for nothing.

    `opening`: it begins a prompt; only then an order without "always" counts."""
    text = sentence.rstrip(".!;。！；")
    lower = text.lower()
    for language in phrases_in_other_languages():
        if _hints(language, lower):
            stated = _parse(language, text, opening)
            if stated:
                return stated
    return None


def is_foreign_order(sentence: str) -> bool:
    """Is it an order to remember something?"""
    lower = sentence.lower()
    return any(
        _hints(language, lower) and re.match(_patterns(language)["remember"], sentence)
        for language in phrases_in_other_languages()
    )


def _hints(language: str, lower_text: str) -> bool:
    phrases = phrases_in_other_languages()[language]
    roles = ("remember", "since", "always", "prefer", "custom", "instead", "forbid")
    return any(phrase in lower_text for role in roles for phrase in phrases[role])


def _parse(language: str, text: str, opening: bool) -> tuple[str, bool] | None:
    remember = re.match(_patterns(language)["remember"], text)
    if remember:
        what = remember["what"].strip()
        is_kept = len(what) > 4 and not re.search(_patterns(language)["passing"], text)
        return (what, False) if is_kept else None
    if re.search(_patterns(language)["passing"], text):
        return None
    if re.search(_patterns(language)["at_hand"], text):
        return None
    if re.match(_patterns(language)["prefer"], text):
        return text, True
    names = ("rule", "since", "custom", "correction", *(["forbid"] if opening else []))
    rules = (_patterns(language)[name] for name in names)
    return (text, False) if any(re.match(rule, text) for rule in rules) else None


@cache
def _patterns(language: str) -> dict[str, str]:
    phrases = phrases_in_other_languages()[language]
    edge, gap = ("", r"\s*") if language in UNSPACED else (r"\b", r"\s+")

    def any_of(role: str) -> str:
        longest_first = sorted(phrases[role], key=len, reverse=True)
        return f"(?:{'|'.join(map(re.escape, longest_first))}){edge}"

    lead = rf"(?i)(?:{any_of('polite')}[,，]?\s*){{0,3}}"
    that = rf",?\s*{any_of('that')}" if "that" in phrases else "[，,]?"
    verb, always, since, we = map(any_of, ("verbs", "always", "since", "we"))
    subject, done = (r"(?!我|为什么)\w{0,6}?", verb) if language in UNSPACED else ("", "")
    infinitive = (
        rf"|{always}.{{0,200}}\b{any_of('infinitives')}$" if "infinitives" in phrases else ""
    )
    return {
        "remember": rf"{lead}{any_of('remember')}(?:{gap}{any_of('polite')})?"
        rf"(?:{that}|\s*[:：])\s*(?P<what>.+)",
        "at_hand": f"(?i){edge}{any_of('at_hand')}",
        "passing": f"(?i){edge}{any_of('passing')}",
        "prefer": f"{lead}{any_of('prefer')}{gap}.",
        "custom": rf"{lead}(?:{any_of('custom')}{gap}.|{always}{gap}{we}{gap}."
        rf"|{we}{gap}(?:\S{{1,30}}\s){{0,2}}{always}{done})",
        "forbid": rf"{lead}{any_of('forbid')}{gap}\w",
        "rule": rf"{lead}(?:{verb}{gap}(?:\S{{1,30}}\s){{0,3}}{always}"
        rf"|{subject}{always}{gap}{verb}{infinitive})",
        "since": rf"{lead}(?:{since}[,，]?\s*{lead[4:]}(?:{always}{gap})?{verb}"
        rf"|{since}[,，]?\s*{any_of('polite')}{gap}\w|{verb}.{{1,200}}{since}$)",
        "correction": rf"(?i)(?:{any_of('no')}[,，:]\s*)?{lead[4:]}(?:{we}|{verb}){gap}.{{1,60}}?"
        rf"{edge}{any_of('instead')}{gap}\w",
    }
