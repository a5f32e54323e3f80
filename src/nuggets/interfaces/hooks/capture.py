"""Preferences that a person states in passing. Conservative: a sentence too few beats one too many.

Knows text only; where a preference is kept is decided elsewhere.
"""

import re
from typing import NamedTuple

from nuggets.interfaces.fencing import without_fenced

LONGEST_PROMPT = 4000  # characters; longer ones are pasted documents, not someone talking
LONGEST = 300  # of one statement
AT_MOST = 3  # of one prompt

_VERBS = (
    "add|answer|ask|assume|avoid|build|call|change|check|commit|create|delete|deploy|do|edit|"
    "end|explain|follow|force|format|import|include|indent|install|keep|lint|log|make|merge|mock|"
    "name|open|prefer|prefix|push|put|rebase|reformat|remove|rename|reply|respond|return|rewrite|"
    "run|show|sort|squash|start|store|test|touch|type|use|wrap|write"
)
_LEAD = r"(?:(?:ok|okay|also|and|but|please|from now on|in future|going forward)[,:]?\s+)*"
_HERE = r"(?:(?:in|for) this (?:project|repo(?:sitory)?|codebase)[,:]?\s+)?"
_RULE = re.compile(
    rf"{_LEAD}{_HERE}{_LEAD}(?:you should |you must )?(?:always|never) (?:{_VERBS})\b",
    re.IGNORECASE,
)
_TASTE = re.compile(rf"{_LEAD}{_HERE}(?:I|we) (?:really |always )?prefer\b", re.IGNORECASE)
_REMEMBER = re.compile(
    rf"{_LEAD}(?:remember|do not forget|don['’]t forget)(?: that\b|:)\s*(?P<what>.+)", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SPEECH = re.compile(r'["“][^"”]*[.!?]\s[^"”]*["”]')  # sentences that someone else said
_QUOTED = (">", "|", "$", "#", "+", "- [", "at ")  # quotes, tables, shells, patches, stack traces
_IN_THIS_PROJECT = re.compile(r"\b(?:in|for) this (?:project|repo(?:sitory)?|codebase)\b", re.I)


class Stated(NamedTuple):
    """One preference in the person's own words."""

    text: str
    personal: bool  # a taste that goes everywhere; otherwise a rule of this project


def preferences(prompt: str) -> list[Stated]:
    """What a prompt states for good; nothing from questions, quotes, code, or what we showed."""
    own = _SPEECH.sub("\n", _CODE.sub("\n", without_fenced(prompt)))
    if len(own) > LONGEST_PROMPT:
        return []
    found: dict[str, Stated] = {}
    for sentence in _SENTENCE.split(own):
        stated = _stated(sentence.strip())
        if stated is not None:
            found.setdefault(stated.text.casefold(), stated)
    return list(found.values())[:AT_MOST]


def _stated(sentence: str) -> Stated | None:
    if sentence.endswith("?") or sentence.startswith(_QUOTED) or len(sentence) > LONGEST:
        return None
    here = _IN_THIS_PROJECT.search(sentence) is not None
    remember = _REMEMBER.match(sentence)
    if remember is not None:
        what = remember["what"].strip().rstrip(".!;")
        return Stated(what, personal=False) if len(what.split()) > 1 else None
    text = sentence.rstrip(".!;")
    if len(text.split()) < 3:
        return None
    if _TASTE.match(text):
        return Stated(text, personal=not here)
    return Stated(text, personal=False) if _RULE.match(text) else None
