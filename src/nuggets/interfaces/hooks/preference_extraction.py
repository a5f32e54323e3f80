"""Finds lasting preferences in a prompt. Prefers missing one to storing a wrong one.

Knows only text; storing is decided elsewhere.
"""

import re
from typing import NamedTuple

from nuggets.domain.memory_markup import carries_mark
from nuggets.interfaces.hooks.preference_languages import parse_foreign
from nuggets.interfaces.prompt_quoting import remove_fenced
from nuggets.language.code_fences import without_code
from nuggets.language.text import tokens, visible
from nuggets.language.word_lists import stop_words

LONGEST_PROMPT = 4000  # characters; longer prompts are pasted documents
LONGEST = 300  # of one statement
AT_MOST = 3  # of one prompt

# Patterns are compiled when they are first used: most prompts need few of them.
_VERBS = (
    "add|address|answer|ask|assume|avoid|build|call|change|check|cite|commit|create|delete|deploy|"
    "do|edit|end|explain|follow|force|format|generate|give|import|include|indent|install|keep|lint|"
    "link|log|make|merge|mention|mock|name|open|prefer|prefix|push|put|quote|rebase|reformat|"
    "regenerate|remove|rename|reply|respond|return|rewrite|run|say|show|sign|sort|speak|spell|"
    "squash|start|store|suggest|summari[sz]e|tell|test|touch|translate|type|update|use|validate|"
    "wrap|write"
)
_SINCE = r"(?:from now on|from here on|in (?:the )?future|going forward|by default)"
_LEAD = rf"(?:(?:ok|okay|also|and|but|so|please|{_SINCE})[,:]?\s+)*"
_PROJECT = r"this (?:project|repo(?:sitory)?|codebase)"
_IN_THIS_PROJECT = rf"(?i)\b(?:in|for) {_PROJECT}\b"
_HERE = rf"(?:(?:in|for) {_PROJECT}[,:]?\s+)?"
_NOT = r"(?:do not|don['’]?t)"
_RULE = (
    rf"(?i){_LEAD}{_HERE}{_LEAD}"
    rf"(?:(?:you should |you must |we |I want you to )?(?:always|never(?: ever)?)|{_NOT} ever)"
    rf" (?:{_VERBS})\b|{_LEAD}{_HERE}(?:{_VERBS})\b.*(?:,? always$|\b(?:every|each) time you\b)"
)
_STANDING = (
    rf"(?i)(?:{_LEAD}{_SINCE}[,:]?\s+{_LEAD}{_HERE}(?:no \w|(?:{_NOT} |only )?(?:{_VERBS})\b)"
    rf"|{_LEAD}{_HERE}(?:{_NOT} |only |I want )?(?:{_VERBS}|all)\b.*\b{_SINCE}$)"
)
_TASTE = rf"(?i){_LEAD}{_HERE}(?P<who>I|we) (?:really |always )?prefer\b"
_REMEMBER = (
    rf"(?i){_LEAD}(?:(?:(?:can|could|would|will) you (?:please )?|make sure (?:you |to ))?"
    rf"(?:remember|(?:keep|bear) in mind|{_NOT} forget|(?:make a |please )?note)(?: that\b|:)"
    r"|remember,? (?=(?:I|my|our) )|for future reference[,:]|fyi[,:])\s*(?P<what>.+)"
)
# An order without "always" counts only as the first sentence, and not about specific things.
_ORDER = (
    rf"(?i)(?:please )?{_HERE}(?:{_NOT} (?:add|commit|import|include|install|mention|mock|push|use|"
    r"write)|avoid|stop (?:add|apologi[sz]|ask|commit|creat|explain|generat|import|includ|install|"
    r"mention|mock|push|repeat|suggest|summari[sz]|us|writ)ing|"
    r"use \S+(?: \S+)?,? (?:instead of|rather than|over|not)) \w"
)
# So does a correction: "no, use pnpm not npm".
_CORRECTION = (
    r"(?i)(?:(?:no|nope|actually|that['’]s wrong)[,:.]? (?:please |we |it['’]s |you should )?"
    rf"(?:(?:{_VERBS}) )?|I said )(?P<what>not \S+, use \S+|"
    r"\S+(?: \S+)?,? (?:instead of|rather than|not) \w\S*(?: \w+)?)$"
)
_CONTRADICTED = r"(?i)^(?:no|nope|actually|that['’]s wrong|I said)[,:.]? "  # says nothing later on
# So does the way in which a person works and things are done: by what begins the sentence.
_HABITS = (
    rf"(?i){_LEAD}(?:I (?:really )?(?:like|love|hate|dislike|{_NOT} like) \w+ \w"
    r"|I (?:mostly |mainly |usually )?(?:work|code|program)(?: mostly| mainly| usually)?"
    r" (?:in|with) "
    r"|my name is (?-i:[A-Z])\w+$|call me (?-i:[A-Z])\w+$)"
)
_CONVENTIONS = (
    rf"(?i){_LEAD}(?:(?:in|for) {_PROJECT},? we (?:{_NOT} )?(?:{_VERBS})\b"
    rf"|we (?:{_NOT} )?(?:{_VERBS})\b.*\b(?:here|in {_PROJECT})$"
    r"|our (?:convention|rule|policy|standard|style) is\b"
    r"|the (?:rule|convention|policy) here is (?!wrong|broken|not\b|unclear|missing)"
    r"|our \w+ (?:must|always|never)\b"
    rf"|our (?:team|project|company|repo(?:sitory)?|codebase) (?:{_VERBS})e?s\b"
    rf"|you (?:should|must) (?:{_VERBS})\b.*\beverywhere$"
    rf"|only (?:{_VERBS})\b.*\bunless I (?:say|ask|tell)\b"
    rf"|(?:whenever|every time|each time) you (?:{_VERBS})\b[^,]*, (?:please |also |always )*"
    rf"(?:{_VERBS})\b"
    r"|(?!the|this|that|these|it|he|she|they|my)\w+(?: \w+)? (?:go|goes|belong|belongs|live|lives)"
    r" (?:in|into|under) )"
)
_CUSTOM = rf"we (?:only )?(?:{_VERBS}) \w+ \w"  # "We write docs in British English."
_AT_HAND = (
    r"(?i)\b(?:the|an?|this|that|these|those|it|its|them|here|there|yet|again|any(?:thing|more)?"
    r"|until|my|me|your|you|\w+\.\w+|\w*_\w*|\d+)\b|(?-i:\b[a-z]+[A-Z])|[/(){}=`]"
)
_TASK_AFTER = (  # what comes before is the reason of a task
    r"(?i)[,;:] (?:so |and |please )*(?:fix|look|check|change|clean|remove|rename|make|explain|see"
    r"|try|add|update|why|how|what|where|go|do|reword|revert|move)\b"
)
# A rule may name things, but not the place in the code that is being discussed. "Never use X here"
# is a rule of the project.
_IN_THIS_PLACE = (
    rf"(?i)\b(?!{_PROJECT}\b)(?:this|these|those)\b"
    r"|(?<!from )\bhere\b(?!$| on\b| is\b)"
    r"|^(?!.*\b(?:use|run|install|commit|push)\b).*\bhere$"
)
# References to the conversation, and to a limited time: useless to the next session.
_OF_THE_TALK = (
    r"(?i)\b(?:prefer|(?:always|never) \w+) (?:this|that|it|these|those|them|so|neither|either"
    r"|both)\b(?! (?:project|repo|codebase))"
    r"|\b(?:the|this|that|your) (?:\w+ )?(?:options?|approach(?:es)?|solutions?|suggestions?|ideas?"
    r"|proposals?|variants?|alternatives?|versions?|drafts?|ones?|former|latter|first|second|third)\b"
    r"|\b(?:option|version|variant) (?:\w|\d+)\b"
    r"|\bprefer(?:red)? (?:not to|to not) (?:say|answer|tell|share|discuss|talk|comment|think)\b"
    r"|\bprefer (?:if|when|that) (?:you|we|I)\b"
    r"|\bprefer to (?:wait|stop|think|see|leave|go|finish)\b"
    r"|\bremember that (?!(?:when|if|once|while|before|after)\b)\w+ (?:I|we|you|they)\b"
)
_PASSING = (
    r"(?i)\b(?:today|tonight|tomorrow|yesterday|right now|for now|just now|at the moment|this time"
    r"|for once|this (?:morning|afternoon|evening|week|month|once)|next (?:week|month|time)"
    r"|in (?:\d+|an?|a few) (?:minutes?|hours?|days?)"
    r"|(?<!every )(?<!each )(?<!first )(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|\b(?:I|we)\b.*\bat \d"
)
_BLANK_LINE = r"\n[ \t\r]*\n"
_SENTENCE = r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+"
_TAGGED = (  # text between tags, or after a tag that begins a line
    r"(?ims)<([a-z][\w-]*+)[^<>]*+>.*?</\1>|^[ \t]*+<[a-z][^<>\n]*+>.*"
)
_QUOTED = "\0"  # replaces quoted text
_ANNOUNCED = (  # "translate this: …": what follows is quoted
    r"(?i):(?:\s|$)|^#|^here(?:['’]s| is| are)\b|\bbelow\b"
)
_SPEECH = (  # quoted sentences; atomic, so that no text takes long
    r'["“](?=[^.!?"”]*+(?>(?:[.!?](?!\s)[^.!?"”]*+)*)[.!?]\s)[^"”]*+["”]'
)
_OF_THIS_WORK = rf"{_IN_THIS_PROJECT}|\b(?:the|here)\b"
_FRAME_AROUND = rf"{_IN_THIS_PROJECT}|\b{_SINCE}\b"
_FRAME = {  # words that mark a preference but not its subject
    *("always", "never", "prefer", "please", "ok", "okay", "use", "using", "really"),
    *("don't", "don’t", "dont", "stop", "avoid", "instead", "rather"),
}


# Stop words in which two rules about one thing differ: "Never use any in TypeScript".
_TELLING = {"any", "before", "after", "without", "only", "off", "all", "each", "other", "same"}


class Preference(NamedTuple):
    """A preference in the person's own words."""

    text: str
    personal: bool  # valid in all projects; otherwise a rule of this project

    @property
    def key(self) -> str:
        """Its content words, so that a later preference on the same subject replaces it."""
        bare = re.sub(_FRAME_AROUND, " ", self.text)
        frame = (stop_words() - _TELLING) | _FRAME
        telling = [word for word in dict.fromkeys(tokens(bare)) if word.lower() not in frame]
        return " ".join(telling or self.text.split())


def extract_preferences(prompt: str) -> list[Preference]:
    """Lasting preferences of a prompt; none from questions, quotes, code or injected memory.

    Text after a blank line, a colon or a quote may be pasted, so only what stands before counts.
    """
    text = remove_fenced(visible(prompt))
    if carries_mark(text):  # part of injected memory, whose end is unknown
        return []
    written = without_code(text)
    if len(written) > LONGEST_PROMPT:
        return []
    own = re.sub(_SPEECH, "\n", re.sub(_TAGGED, _QUOTED, written)).lstrip(f"{_QUOTED} \t\r\n")
    by_text: dict[str, Preference] = {}
    sentences = map(str.strip, re.split(_SENTENCE, re.split(_BLANK_LINE, own)[0]))
    for place, sentence in enumerate(sentences):
        stated = _parse_sentence(sentence, opening=place == 0)
        if stated is not None:
            by_text.setdefault(stated.text.casefold(), stated)
        if re.search(_ANNOUNCED, sentence):
            break
    return list(by_text.values())[:AT_MOST]


def refusal_of_order(prompt: str) -> str:
    """Why an order to remember something, from which nothing was extracted, is not kept; or ""."""
    first = re.split(_SENTENCE, remove_fenced(visible(prompt[:LONGEST_PROMPT])).strip())[0]
    if re.match(_REMEMBER, first) is None or first.endswith(("?", "？")):
        return ""
    if len(first) > LONGEST:
        return f"the sentence is longer than {LONGEST} characters"
    if re.search(_PASSING, first):
        return "it holds only for a time"
    return "it is about this conversation" if re.search(_OF_THE_TALK, first) else ""


def _parse_sentence(sentence: str, opening: bool) -> Preference | None:
    if len(sentence) > LONGEST or _QUOTED in sentence:  # the sentence contains quoted text
        return None
    stated = _parse_statement(sentence, opening)
    if stated and (re.search(_OF_THE_TALK, sentence) or re.search(_PASSING, sentence)):
        return None
    return stated


def _parse_statement(sentence: str, opening: bool) -> Preference | None:
    remember = re.match(_REMEMBER, sentence)
    if remember:
        what = remember["what"].strip().rstrip(".!;?")
        is_question = sentence.endswith("?") and " you " not in sentence[: remember.start("what")]
        is_kept = len(what.split()) > 1 and not is_question and not re.search(_TASK_AFTER, what)
        return Preference(what, personal=False) if is_kept else None
    if sentence.endswith(("?", "？")):
        return None
    stated = _parse_rule(sentence.rstrip(".!;"), opening)
    if stated is None:
        foreign = parse_foreign(sentence)
        stated = Preference(*foreign) if foreign else None
    return stated


def _parse_rule(text: str, opening: bool) -> Preference | None:
    if len(text.split()) < (2 if opening else 3):
        return None
    stated = None
    taste = re.match(_TASTE, text)
    if taste:
        is_personal = taste["who"].lower() == "i" and not re.search(_OF_THIS_WORK, text)
        stated = Preference(text, personal=is_personal)
    elif re.match(_RULE, text) or re.match(_STANDING, text):
        stated = Preference(text, personal=False)
    elif opening:
        stated = _parse_opening(text)
    return None if stated and re.search(_IN_THIS_PLACE, text) else stated


def _parse_opening(text: str) -> Preference | None:
    """What counts only as the first sentence of a prompt."""
    stated = _parse_custom(text)
    return None if stated and re.search(_TASK_AFTER, text) else stated


def _parse_custom(text: str) -> Preference | None:
    bare = re.sub(_IN_THIS_PROJECT, " ", text)
    correction = re.match(_CORRECTION, text)
    if correction:
        is_general = not re.search(_AT_HAND.replace(r"|\d+", ""), correction["what"])
        rule = re.sub(_CONTRADICTED, "", text, count=1)
        return Preference(rule, personal=False) if is_general else None
    if re.match(_CONVENTIONS, text):
        return Preference(text, personal=False)
    if re.match(_HABITS, text):
        is_general = not re.search(_AT_HAND, re.sub("(?i)^my name is ", "", bare))
        return Preference(text, personal=True) if is_general else None
    is_order = re.match(f"{_ORDER}|{_CUSTOM}", text) and not re.search(_AT_HAND, bare)
    return Preference(text, personal=False) if is_order else None
