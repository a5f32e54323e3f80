"""Preferences that a person states in passing. Conservative: a sentence too few beats one too many.

Knows text only; where a preference is kept is decided elsewhere.
"""

import re
from typing import NamedTuple

from nuggets.interfaces.fencing import carries_mark, without_fenced
from nuggets.text import STOP_WORDS, tokens, visible

LONGEST_PROMPT = 4000  # characters; longer ones are pasted documents, not someone talking
LONGEST = 300  # of one statement
AT_MOST = 3  # of one prompt

_VERBS = (
    "add|address|answer|ask|assume|avoid|build|call|change|check|commit|create|delete|deploy|do|"
    "edit|end|explain|follow|force|format|import|include|indent|install|keep|lint|log|make|merge|"
    "mention|mock|name|open|prefer|prefix|push|put|rebase|reformat|remove|rename|reply|respond|"
    "return|rewrite|run|show|sign|sort|speak|squash|start|store|summari[sz]e|test|touch|translate|"
    "type|use|wrap|write"
)
_SINCE = r"(?:from now on|from here on|in (?:the )?future|going forward|by default)"
_LEAD = rf"(?:(?:ok|okay|also|and|but|so|please|{_SINCE})[,:]?\s+)*"
_HERE = r"(?:(?:in|for) this (?:project|repo(?:sitory)?|codebase)[,:]?\s+)?"
_NOT = r"(?:do not|don['’]?t)"
_RULE = re.compile(
    rf"{_LEAD}{_HERE}{_LEAD}(?:you should |you must )?(?:always|never) (?:{_VERBS})\b",
    re.IGNORECASE,
)
_STANDING = re.compile(
    rf"(?:{_LEAD}{_SINCE}[,:]?\s+{_LEAD}{_HERE}(?:{_NOT} |no |only )?(?:{_VERBS})\b"
    rf"|{_LEAD}{_HERE}(?:{_NOT} |only )?(?:{_VERBS})\b.*\b{_SINCE}$)",
    re.IGNORECASE,
)
_TASTE = re.compile(rf"{_LEAD}{_HERE}(?P<who>I|we) (?:really |always )?prefer\b", re.IGNORECASE)
_REMEMBER = re.compile(
    rf"{_LEAD}(?:remember|{_NOT} forget)(?: that\b|:)\s*(?P<what>.+)", re.IGNORECASE
)
# An order without "always" is for good only if it opens a prompt and is about nothing at hand.
_ORDER = re.compile(
    rf"(?:please )?{_HERE}(?:{_NOT} (?:add|commit|import|include|install|mention|mock|push|use|"
    r"write)|avoid|stop (?:add|apologi[sz]|ask|commit|creat|explain|generat|import|includ|install|"
    r"mention|mock|push|repeat|suggest|summari[sz]|us|writ)ing|"
    r"use \S+(?: \S+)?,? (?:instead of|rather than|over|not)) \w",
    re.IGNORECASE,
)
_AT_HAND = re.compile(
    r"\b(?:the|an?|this|that|these|those|it|its|them|him|her|here|there|yet|again|any(?:thing|more)?"
    r"|my|me|your|you|so|too|first|both|all|more|else|something|to do|(?:and|then|but|until|before"
    rf"|after) (?:{_VERBS}|fix|we|I)|for (?:now|once)|\w+\.\w+|\w+\(\)|\w*_\w*|\d+)\b"
    r"|(?-i:\b[a-z]+[A-Z])|[/(){}=`]",
    re.IGNORECASE,
)
# A rule or a taste may name things, but not the place in the code that is being talked about. What
# one may "never use here" is not used in this project.
_IN_THIS_PLACE = re.compile(
    r"\b(?:this|these|those|(?:in|for|of|to|on|from|with|at) that)\b"
    r"(?! (?:project|repo(?:sitory)?|codebase)\b)"
    r"|(?<!from )\bhere\b(?!$| on\b)|^(?!.*\b(?:use|run|install|commit|push)\b).*\bhere$",
    re.IGNORECASE,
)
# What was said a moment ago, and what is over tomorrow: worth nothing to the next conversation.
_OF_THE_TALK = re.compile(
    r"\b(?:prefer|(?:always|never) \w+) (?:this|that|it|these|those|them|so|neither|either|both)\b"
    r"(?! (?:project|repo|codebase))"
    r"|\b(?:the|this|that|your) (?:\w+ )?(?:options?|approach(?:es)?|solutions?|suggestions?|ideas?"
    r"|proposals?|variants?|alternatives?|versions?|drafts?|ones?|former|latter|first|second|third)\b"
    r"|\b(?:option|version|variant) (?:\w|\d+)\b"
    r"|\byou (?:just )?(?:gave|suggested|proposed|showed|made|wrote|mentioned|said|had)\b"
    r"|\bprefer(?:red)? (?:not to|to not) (?:say|answer|tell|share|discuss|talk|comment|think)\b"
    r"|\bprefer (?:if|when|that) (?:you|we|I)\b"
    r"|\bprefer to (?:wait|stop|think|see|leave|go|finish)\b"
    r"|\bremember that (?!(?:when|if|once|while|before|after)\b)\w+ (?:I|we|you|they)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|for now|just now|at the moment|this time"
    r"|for once|this (?:morning|afternoon|evening|week|month|once)|next (?:week|month|time)"
    r"|in (?:\d+|an?|a few) (?:minutes?|hours?|days?)"
    r"|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|\b(?:I|we)\b.*\bat \d",
    re.IGNORECASE,
)
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TAGGED = re.compile(  # what stands between tags, or after one that begins a line
    r"<([a-z][\w-]*)[^<>]*>.*?</\1>|^[ \t]*<[a-z][\w-]*[^<>\n]*>.*",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_ANOTHERS = "\0"  # in the place of what is not the person's own
_ANNOUNCED = re.compile(  # "translate this: …": what follows is somebody else's
    r":(?:\s|$)|^here(?:['’]s| is| are)\b|\b(?:below|(?:the|as) (?:following|follows))\b",
    re.IGNORECASE,
)
_SPEECH = re.compile(r'["“][^"”]*[.!?]\s[^"”]*["”]')  # sentences that someone else said
_QUOTED = (">", "|", "$", "#", "+", "- [", "at ")  # quotes, tables, shells, patches, stack traces
_IN_THIS_PROJECT = re.compile(r"\b(?:in|for) this (?:project|repo(?:sitory)?|codebase)\b", re.I)
_OF_THIS_WORK = re.compile(rf"\b(?:the|here)\b|{_IN_THIS_PROJECT.pattern}", re.IGNORECASE)
_FRAME_AROUND = re.compile(rf"\b{_SINCE}\b|{_IN_THIS_PROJECT.pattern}", re.IGNORECASE)
_FRAME = STOP_WORDS | {  # says that it is a preference, not which one
    *("always", "never", "prefer", "please", "ok", "okay", "use", "using", "really"),
    *("don't", "don’t", "dont", "stop", "avoid", "instead", "rather"),
}


class Stated(NamedTuple):
    """One preference in the person's own words."""

    text: str
    personal: bool  # a taste that goes everywhere; otherwise a rule of this project

    @property
    def key(self) -> str:
        """What to call it: its telling words, so that a change of mind finds the old one."""
        bare = _FRAME_AROUND.sub(" ", self.text)
        telling = [word for word in dict.fromkeys(tokens(bare)) if word.lower() not in _FRAME]
        return " ".join(telling or self.text.split())


def preferences(prompt: str) -> list[Stated]:
    """What a prompt states for good; nothing from questions, quotes, code, or what we showed.

    After a blank line, a colon or a quote a person may have pasted anything, which nobody can
    tell from their own words: only what stands before counts.
    """
    said = without_fenced(visible(prompt))
    if carries_mark(said):  # half of what we showed: where it ends nobody can tell
        return []
    written = _CODE.sub("\n", said)
    if len(written) > LONGEST_PROMPT:
        return []
    own = _SPEECH.sub("\n", _TAGGED.sub(_ANOTHERS, written)).lstrip(f"{_ANOTHERS} \t\r\n")
    found: dict[str, Stated] = {}
    sentences = map(str.strip, _SENTENCE.split(_BLANK_LINE.split(own)[0]))
    for place, sentence in enumerate(sentences):
        stated = _stated(sentence, opening=place == 0)
        if stated is not None:
            found.setdefault(stated.text.casefold(), stated)
        if _ANNOUNCED.search(sentence) or sentence.startswith(_QUOTED):
            break
    return list(found.values())[:AT_MOST]


def _stated(sentence: str, opening: bool) -> Stated | None:
    if sentence.endswith("?") or sentence.startswith(_QUOTED) or len(sentence) > LONGEST:
        return None
    if _ANOTHERS in sentence:  # without it, it would say something else
        return None
    if _OF_THE_TALK.search(sentence) or _PASSING.search(sentence):
        return None
    remember = _REMEMBER.match(sentence)
    if remember is not None:
        what = remember["what"].strip().rstrip(".!;")
        return Stated(what, personal=False) if len(what.split()) > 1 else None
    text = sentence.rstrip(".!;")
    if len(text.split()) < (2 if opening else 3):
        return None
    if _IN_THIS_PLACE.search(text):
        return None
    taste = _TASTE.match(text)
    if taste:
        of_all_work = taste["who"].lower() == "i" and not _OF_THIS_WORK.search(text)
        return Stated(text, personal=of_all_work)
    is_rule = _RULE.match(text) or _STANDING.match(text) or (opening and _is_standing_order(text))
    return Stated(text, personal=False) if is_rule else None


def _is_standing_order(text: str) -> bool:
    order = _ORDER.match(text)
    return order is not None and not _AT_HAND.search(_IN_THIS_PROJECT.sub(" ", text))
