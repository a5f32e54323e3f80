"""Finds lasting preferences in sentences that are not English, by the phrases of a data file."""

import re
from functools import cache

from nuggets.language.word_lists import preference_phrases

UNSPACED = frozenset(("chinese",))  # no blanks between words


def has_phrase(lower_text: str) -> bool:
    """Has a text in small letters a phrase of these languages?"""
    return any(_hints(language, lower_text) for language in preference_phrases())


def parse_foreign(sentence: str) -> tuple[str, bool] | None:
    """What a sentence wants to be kept, and whether it is a taste; None for nothing."""
    text = sentence.rstrip(".!;。！；")
    lower = text.lower()
    for language in preference_phrases():
        if _hints(language, lower):
            stated = _parse(language, text)
            if stated:
                return stated
    return None


def _hints(language: str, lower_text: str) -> bool:
    phrases = preference_phrases()[language]
    roles = ("remember", "since", "always", "prefer", "instead")
    return any(phrase in lower_text for role in roles for phrase in phrases[role])


def _parse(language: str, text: str) -> tuple[str, bool] | None:
    remember = re.match(_patterns(language)["remember"], text)
    if remember:
        what = remember["what"].strip()
        return (what, False) if len(what) > 4 else None
    if re.search(_patterns(language)["at_hand"], text):
        return None
    if re.match(_patterns(language)["prefer"], text):
        return text, True
    rules = (_patterns(language)[name] for name in ("rule", "since", "correction"))
    return (text, False) if any(re.match(rule, text) for rule in rules) else None


@cache
def _patterns(language: str) -> dict[str, str]:
    phrases = preference_phrases()[language]
    edge, gap = ("", r"\s*") if language in UNSPACED else (r"\b", r"\s+")

    def any_of(role: str) -> str:
        longest_first = sorted(phrases[role], key=len, reverse=True)
        return f"(?:{'|'.join(map(re.escape, longest_first))}){edge}"

    lead = rf"(?i)(?:{any_of('polite')}[,，]?\s*){{0,3}}"
    that = rf",?\s*{any_of('that')}" if "that" in phrases else "[，,]?"
    verb, always, since = any_of("verbs"), any_of("always"), any_of("since")
    infinitive = (
        rf"|{always}.{{0,200}}\b{any_of('infinitives')}$" if "infinitives" in phrases else ""
    )
    return {
        "remember": rf"{lead}{any_of('remember')}(?:{that}|\s*[:：])\s*(?P<what>.+)",
        "at_hand": f"(?i){edge}{any_of('at_hand')}",
        "prefer": f"{lead}{any_of('prefer')}{gap}.",
        "rule": rf"{lead}(?:{verb}{gap}(?:\S{{1,30}}\s){{0,3}}{always}"
        rf"|{always}{gap}{verb}{infinitive})",
        "since": rf"{lead}(?:{since}[,，]?\s*{lead[4:]}(?:{always}{gap})?{verb}"
        rf"|{verb}.{{1,200}}{since}$)",
        "correction": rf"(?i)(?:{any_of('no')}[,，:]\s*)?{lead[4:]}{verb}{gap}.{{1,60}}?"
        rf"{edge}{any_of('instead')}{gap}\w",
    }
