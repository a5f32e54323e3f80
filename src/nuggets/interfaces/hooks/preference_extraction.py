"""Finds lasting preferences in a prompt: English ones by the patterns here, others by phrases of
`language/data/preferences_in_other_languages.txt`. Prefers missing one to storing a wrong one.

Knows only text; storing is decided elsewhere.
"""

import re

from nuggets.domain.memory_tag import carries_mark
from nuggets.interfaces.hooks.host_payload import PROMPT_CHARACTERS
from nuggets.interfaces.hooks.preferences_in_other_languages import (
    has_phrase,
    is_foreign_order,
    parse_foreign,
)
from nuggets.interfaces.prompt_quoting import remove_fenced
from nuggets.language.text import tokens, visible
from nuggets.language.word_lists import order_verbs, stop_words
from nuggets.named_tuple import NamedTuple

LONGEST_PROMPT = 4000  # characters; longer prompts are pasted documents
LONGEST = 300  # of one statement
AT_MOST = 3  # of one prompt

# Most prompts state no preference, and compiling the patterns takes 25 ms. So they are tried only
# if a prompt contains one of these or a phrase of another language: a new pattern needs one here.
_HINTS = (
    *("always", "never", "prefer", "remember", "forget", "now on", "here on", "future", "forward"),
    *("default", "don", "do not", "avoid", "stop", "use ", "in mind", "note that", "note:", "fyi"),
    *("every time", "each time", " go in", " goes in", " go under", " goes under", " belong"),
    *(" live in", " lives in", " live under", " lives under", "whenever", "unless i ", "next time"),
    *("memor", "the record", "for later", "so you know", "note to self", "note this", "note it"),
    *("to know", "to note", "keep that", "keep this", "keep it", "by the way", "decided", "agreed"),
    *("settled", "rather"),
)
_OPENINGS = (  # or begins with one of these
    *("we ", "our ", "i said", "i like ", "i love ", "i hate ", "i dislike ", "i really "),
    *("i work ", "i code ", "i program ", "i mostly ", "i mainly ", "i usually ", "my ", "i'm on "),
    *("i’m on ", "i am on ", "when you ", "before you ", "if you ", "all ", "every", "each "),
    *("anything ", "nothing ", "call me ", "no,", "no:", "no.", "no ", "nope", "nah", "wrong"),
    *("actually", "that's ", "that’s ", "that is ", "i want ", "this project ", "this repo"),
    *("this codebase ", "you should ", "you must ", "in this ", "for this ", "the rule "),
    *("the convention ", "the policy "),
)
_LEADS = ("ok", "okay", "also", "and", "but", "so", "please", "hey", "hi", "yes", "well", "btw")
# Patterns are compiled when they are first used: most prompts need few of them. Those with _DO are
# matched with a copy of the sentence in which it stands for any verb of the data file; with all
# verbs in each pattern, compiling would take 80 ms.
_DO = "ⱽ"
_SINCE = r"(?:from now on|from here on|in (?:the )?future|going forward|by default|next time)"
_WRONG = r"(?:no|nope|nah|wrong|actually|that(?:['’]s| is) (?:wrong|not right|not true|incorrect))"
_LEAD = rf"(?:(?:{'|'.join(_LEADS)}|by the way|{_SINCE})[,:]?\s+)*"
_PROJECT = r"this (?:project|repo(?:sitory)?|codebase)"
_IN_THIS_PROJECT = rf"(?i)\b(?:in|for) {_PROJECT}\b"
_HERE = rf"(?:(?:in|for) {_PROJECT}[,:]?\s+)?"
_NOT = r"(?:do not|don['’]?t)"
_RULE = (
    rf"(?i){_LEAD}{_HERE}{_LEAD}"
    rf"(?:(?:you should |you must |we |I want you to )?(?:always|never(?: ever)?)|{_NOT} ever)"
    rf" {_DO}\b|{_LEAD}{_HERE}{_DO}\b.*(?:,? always$|\b(?:every|each) time you\b)"
)
_STANDING = (
    rf"(?i)(?:{_LEAD}{_SINCE}[,:]?\s+{_LEAD}{_HERE}(?:no \w|"
    rf"(?:let['’]s |we (?:will )?)?(?:{_NOT} |only )?{_DO}\b)"
    rf"|{_LEAD}{_HERE}(?:{_NOT} |only |I want )?(?:{_DO}|all)\b.*\b{_SINCE}$)"
)
_TASTE = rf"(?i){_LEAD}{_HERE}(?P<who>I|we)(?: would|['’]d)? (?:really |always )?prefer\b"
_LATER = r"(?: for (?:later|next time|the future|future (?:reference|sessions)))?"
_REMEMBER = (
    rf"(?i){_LEAD}(?:one )?(?:(?:(?:can|could|would|will) you (?:please )?"
    r"|(?:make sure|try) (?:you |to )|I (?:want|need|(?:woul|['’])d like) you to )?"
    rf"(?:remember|memori[sz]e|(?:keep|bear) in mind|{_NOT} forget|(?:(?:make|take) a )?note"
    r"|(?:save|add|store|put) (?:to|in|into) (?:your )?memory)"
    rf"(?: (?:this|it|the following|to (?:your )?memory|down)){{0,2}}{_LATER}(?: that\b|:)"
    rf"|remember,? (?=(?:I|my|our|we (?:always|never|{_NOT}|use|run|write|keep|pin|deploy|ship)) )"
    rf"|(?:keep|bear) in mind (?=(?:the|our|my|all|we) )|{_NOT} forget, "
    rf"|(?:for (?:future reference|the record|later)|fyi|just so you know{_LATER})[,:]"
    r"|(?:note to self|things? to (?:remember|know|note))\b[^:.]{0,20}:)\s*(?P<what>.+)"
)
_REMEMBER_AFTER = (  # "the build needs Node 22, remember that"
    rf"(?i){_LEAD}(?P<what>\w.*\w)[,;.]? (?:please )?(?:remember|keep|note|{_NOT} forget)"
    r" (?:that|this|it)(?: in mind)?$"
)
_STORY = (  # tells how things are at the moment
    r"(?i).*?(?:fyi|you know|record)[,:] I(?: |['’])(?:m|am|have|ve|will|ll|just|did|\w+ed)\b"
    r"|.*\b(?:is|are) (?:still |currently )?"
    r"(?:down|up|red|green|back|broken|failing|in the middle)\b"
)
# An order without "always" counts only as the first sentence, and not about specific things.
_ORDER = (
    rf"(?i)(?:please )?{_HERE}(?:{_NOT} (?:add|commit|import|include|install|mention|mock|push|use|"
    r"write)|avoid|stop (?:add|apologi[sz]|ask|commit|creat|explain|generat|import|includ|install|"
    r"mention|mock|push|repeat|suggest|summari[sz]|us|writ)ing|"
    r"use \S+(?: \S+)?,? (?:instead of|rather than|over|not)|prefer \S+.* (?:over|to)) \w"
    rf"|{_WRONG}, (?:indent|format|name|spell|answer|reply|prefix) \w"
    r"|(?:please )?(?:in|for) this (?:project|repo(?:sitory)?|codebase),? (?:please )?(?:use|prefer"
    r"|write|put|keep|name|format|indent|follow|prefix|sort|spell|wrap|answer|reply) \w"
)
# So does a correction: "no, use pnpm not npm".
_CORRECTION = (
    rf"(?i)(?:{_WRONG}[,:.]? (?:please |we |it['’]s |you should )?"
    r"(?:(?:use|put|run|write|call|name|install|import|deploy|build|test|format|indent) )?"
    r"|I said )(?P<what>not \S+, use \S+|"
    r"(?P<thing>(?:the|our) (?!bug|error|problem|issue|reason|cause|culprit|fail|first|second|last)"
    r"\w+(?: \w+)? is) [\w./+-]+?,? not [\w./+-]+|"
    r"\S+(?: \S+)??(?: here)?,? (?:instead of|rather than|not) \w\S*(?: \w+)?)$"
)
_CONTRADICTED = rf"(?i)^(?:{_WRONG}|I said)[,:.]? "  # says nothing later on
# So does the way in which a person works and things are done: by what begins the sentence.
_HABITS = (
    rf"(?i){_LEAD}(?:I (?:really )?(?:like|love|hate|dislike|{_NOT} like) \w+ \w"
    r"|I (?:mostly |mainly |usually )?(?:work|code|program)(?: mostly| mainly| usually)?"
    r" (?:in|with) "
    r"|I use \w+(?: \w+){0,3}$|I(?:['’]m| am) on (?:a )?(?:mac|windows|linux|ubuntu|debian)\w*\b"
    r"|I(?:['’]d| would) (?:much )?rather (?:you (?:used|wrote|kept|asked|answered|replied|put|ran"
    r"|named|showed)|have (?!you)|see|get|read) \w"
    r"|I(?:['’]m| am) an? (?:\w+ ){0,2}(?:developer|engineer|programmer|designer|scientist|student"
    r"|beginner|researcher|analyst)\b"
    r"|I want (?:all )?(?:your )?(?:answers|replies|responses|explanations|comments|docstrings"
    r"|names|commits|commit messages|code|tests|docs)\b"
    r"|my (?:name|pronouns|time ?zone|native language|github (?:name|user(?:name)?)) (?:is|are)"
    r" (?!not\b)\w\S*$|my (?:editor|shell|terminal|keyboard|os) is (?-i:[A-Z])\w+$"
    r"|call me (?-i:[A-Z])\w+$)"
)
_OF_ONESELF = r"(?i)^(?:my .*|call me )|\brather you\b"  # names nothing at hand
_CONVENTIONS = (
    rf"(?i){_LEAD}{_HERE}(?:our (?:convention|rule|policy|standard|style) is\b"
    r"|the (?:rule|convention|policy) here is (?!wrong|broken|not\b|unclear|missing)"
    r"|our \w+ must\b|our (?!users?|customers?|clients?|app|build|tests?)\w+ (?:always|never)\b"
    r"|(?:everything|anything|nothing) (?:in|under|below) \S+ (?:is|must|should|goes|belongs)\b"
    r"|(?!the|this|that|these|it|he|she|they|my)\w+(?: \w+)? (?:go|goes|belong|belongs|live|lives)"
    r" (?:in|into|under) )"
)
_PRACTICES = (
    rf"(?i){_LEAD}(?:(?:in|for) {_PROJECT},? we (?:{_NOT} )?{_DO}\b"
    rf"|we {_DO}\b[^,]*, (?:not|never) \w|we (?:{_NOT} )?{_DO}\b.*\b(?:here|in {_PROJECT})$"
    rf"|our (?:team|project|company|repo(?:sitory)?|codebase) {_DO}s\b"
    rf"|you (?:should|must) {_DO}\b.*\beverywhere$|(?:only )?{_DO}\b.*\bunless I {_DO}\b)"
)
_CUSTOM = rf"(?i)we (?:only )?{_DO} \w+ \w"  # "We write docs in British English."
_SINCE_NOW = rf"(?i)\S+ \S+.*\b{_SINCE}$"  # "We are using Node 22 from now on"
# So do decisions and duties, unless they are about something at hand.
_DECIDED = (
    r"(?i)(?:we|(?:the|my|our) team)(?: have|['’]ve)? (?:decided|agreed|settled) (?:to|on|that)\b"
    rf"|{_PROJECT} (?:uses|follows|targets|supports|needs|requires|runs on) (?!too\b|so\b|more\b)"
    rf"|{_PROJECT} is an? \w+ (?:managed|written|built|made|deployed)\b"
    rf"|{_HERE}(?:all|every|each|no) \w+(?: \w+)? (?:must|should|needs?|have to|has to)"
    r" (?!pass|work)"
    rf"|(?:in|for) {_PROJECT},? \w+s (?:are|get) \w+(?:ed|en|pt|t)"
    r" (?:with|in|by|to|from|as|under|at|on)\b"
)
_OMITTED = rf"(?i)we {_NOT} {_DO} \w+ \w|we no longer (?:{_DO}|need|have)\b"
_POINTING = (  # to something at hand; unlike _AT_HAND it allows "the release branch" and numbers
    r"(?i)\b(?:this|that|these|those|it|them|now|again|yet|already|still|so many|so much)\b"
)
_THE_THING = r"(?i)\bthe\b(?! (?:linter|formatter|tests?|build|changelog|docs|type checker)\b)"
_WHEN = (  # "Whenever you change the schema, regenerate the client."
    rf"(?i){_LEAD}{_HERE}(?:(?P<each>whenever|every time|each time)|when|before|if) you "
    rf"{_DO}\b[^,]*, (?:please |also |always |never |{_NOT} )*{_DO}\b"
)
_AT_HAND = (
    r"(?i)\b(?:the|an?|this|that|these|those|it|its|them|here|there|yet|again|now|so"
    r"|any(?:thing|more)?|until|my|me|your|you|\w+\.\w+|\w*_\w*|\d+)\b|(?-i:\b(?!macOS)[a-z]+[A-Z])|[/(){}=`]"
)
_TASK_AFTER = (  # what comes before is the reason of a task
    r"(?i)[,;:] (?:so |and |please )*(?:fix|look|check|change|clean|remove|rename|make|explain|see"
    r"|try|add|update|why|how|what|where|go|do|reword|revert|move)\b"
)
# A rule may name things, but not the place in the code that is being discussed. "Never use X here"
# is a rule of the project.
_IN_THIS_PLACE = (
    rf"(?i)\b(?!{_PROJECT}\b)(?:this|these|those)\b"
    r"|(?<!from )\bhere\b(?!$| on\b| is\b|,? not\b)"
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
    r"|\bprefer to (?:wait|stop|think|see|leave|go|finish|look|.*\bit\b)"
    r"|\bremember that (?!(?:when|if|once|while|before|after)\b)\w+ (?:I|we|you|they)\b"
)
_PASSING = (
    r"(?i)\b(?:today|tonight|tomorrow|yesterday|right now|for now|just now|at the moment|this time"
    r"|for once|this (?:morning|afternoon|evening|week|month|once)|next (?:week|month)"
    r"|in (?:\d+|an?|a few) (?:minutes?|hours?|days?)"
    r"|(?<!every )(?<!each )(?<!first )(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|\b(?:I|we)\b.*\bat (?:\d|noon|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b)"
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
_ABOUT_ANSWERS = (  # of the agent, in general
    r"(?i)(?: (?:at|in|to|of|with|from) (?:the (?:end|start|beginning|top) of )?your (?:answer"
    r"|repl(?:y|ie)|response|explanation|commit|comment|message|summar(?:y|ie))s?)\b"
)
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


def find_preferences(prompt: str) -> tuple[list[Preference], str]:
    """The lasting preferences that a prompt states, or why an order to remember is refused."""
    lower = prompt[:PROMPT_CHARACTERS].lower()
    has_hint = any(hint in lower for hint in _HINTS) or _opens_preference(lower)
    if not has_hint and not has_phrase(lower):
        return [], ""
    stated = extract_preferences(prompt)
    return stated, "" if stated else refusal_of_order(prompt)


def _opens_preference(lower: str) -> bool:
    first, _, rest = lower.lstrip().partition(" ")
    while first.rstrip(",:") in _LEADS:
        first, _, rest = rest.lstrip().partition(" ")
    return f"{first} {rest}".startswith(_OPENINGS)


def extract_preferences(prompt: str) -> list[Preference]:
    """Lasting preferences of a prompt; none from questions, quotes, code or injected memory.

    Text after a blank line, a colon or a quote may be pasted, so only what stands before counts.
    """
    from nuggets.language.code_fences import without_code

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
    if first.endswith((":", "：")) and re.match(_REMEMBER, f"{first} …"):
        return "it is a list or a pasted text. Please say each point in a sentence of its own"
    ordered = _match_order(first)
    is_foreign = ordered is None and is_foreign_order(first[:LONGEST])
    if not is_foreign and (ordered is None or _is_question(first, ordered)):
        return ""
    if len(first) > LONGEST:
        return f"the sentence is longer than {LONGEST} characters"
    if is_foreign or re.search(_PASSING, first):
        return "it holds only for a time"
    return "it is about this conversation"


def _match_order(sentence: str) -> re.Match[str] | None:
    """An order to remember something, with `what`."""
    return re.match(_REMEMBER, sentence) or re.match(_REMEMBER_AFTER, sentence.rstrip(".!"))


def _is_question(sentence: str, ordered: re.Match[str]) -> bool:
    return sentence.endswith("?") and " you " not in f" {sentence[: ordered.start('what')]} "


def _parse_sentence(sentence: str, opening: bool) -> Preference | None:
    if len(sentence) > LONGEST or _QUOTED in sentence:  # the sentence contains quoted text
        return None
    stated = _parse_statement(sentence, opening)
    if stated and (re.search(_OF_THE_TALK, sentence) or re.search(_PASSING, sentence)):
        return None
    return stated


def _parse_statement(sentence: str, opening: bool) -> Preference | None:
    ordered = _match_order(sentence)
    if ordered:
        what = ordered["what"].strip().rstrip(".!;?")
        is_kept = len(what.split()) > 1 and not _is_question(sentence, ordered)
        is_kept = is_kept and not re.search(_TASK_AFTER, what) and not re.match(_STORY, sentence)
        return Preference(what, personal=False) if is_kept else None
    if sentence.endswith(("?", "？")):
        return None
    stated = _parse_rule(sentence.rstrip(".!;"), opening)
    if stated is None:
        foreign = parse_foreign(sentence, opening=opening)
        stated = Preference(*foreign) if foreign else None
    return stated


def _parse_rule(text: str, opening: bool) -> Preference | None:
    if len(text.split()) < (2 if opening else 3):
        return None
    stated, marked = None, _mark_verbs(text)
    taste = re.match(_TASTE, text)
    if taste:
        is_personal = taste["who"].lower() == "i" and not re.search(_OF_THIS_WORK, text)
        stated = Preference(text, personal=is_personal)
    elif re.match(_RULE, marked) or re.match(_STANDING, marked):
        stated = Preference(text, personal=False)
    elif opening:
        stated = _parse_opening(text, marked)
    return None if stated and re.search(_IN_THIS_PLACE, text) else stated


def _mark_verbs(text: str) -> str:
    verbs = order_verbs()

    def mark(word: re.Match[str]) -> str:
        lower = word[0].lower()
        if lower in verbs:
            return _DO
        is_third_person = lower.endswith("s") and not verbs.isdisjoint((lower[:-1], lower[:-2]))
        return f"{_DO}s" if is_third_person else word[0]

    return re.sub(r"[A-Za-z-]+", mark, text)


def _parse_opening(text: str, marked: str) -> Preference | None:
    """What counts only as the first sentence of a prompt."""
    stated = _parse_first(text, marked)
    rest = re.sub(_CONTRADICTED, "", text, count=1)
    return stated or (_parse_rule(rest, opening=True) if rest != text else None)


def _parse_first(text: str, marked: str) -> Preference | None:
    stated = _parse_condition(text, marked)
    if stated is None:
        stated = _parse_custom(text, marked)
        stated = None if stated and re.search(_TASK_AFTER, text) else stated
    return stated


def _parse_condition(text: str, marked: str) -> Preference | None:
    when = re.match(_WHEN, marked)
    if when is None or re.search(_POINTING, text):
        return None
    is_general = when["each"] or not re.search(_THE_THING, text)
    return Preference(text, personal=False) if is_general else None


def _parse_custom(text: str, marked: str) -> Preference | None:
    bare = re.sub(_ABOUT_ANSWERS, "", re.sub(rf"{_FRAME_AROUND}|(?<=ed )that\b", " ", text))
    correction = re.match(_CORRECTION, text)
    if correction:
        what = correction["what"].replace(" here", "")
        is_general = correction["thing"] or not re.search(_AT_HAND.replace(r"|\d+", ""), what)
        rule = re.sub(_CONTRADICTED, "", text, count=1)
        return Preference(rule, personal=False) if is_general else None
    if re.match(_CONVENTIONS, text) or re.match(_PRACTICES, marked):
        return Preference(text, personal=False)
    if re.match(_HABITS, text):
        is_general = not re.search(_AT_HAND, re.sub(_OF_ONESELF, "", bare))
        return Preference(text, personal=True) if is_general else None
    if re.match(_DECIDED, text) or re.match(_OMITTED, marked):
        rest = re.sub(f"(?i)^{_PROJECT}", "", bare)
        return None if re.search(_POINTING, rest) else Preference(text, personal=False)
    at_hand = _AT_HAND.replace(r"|\d+", "") if re.search(f"{_SINCE}$", text) else _AT_HAND
    order = re.match(_ORDER, text) or re.match(_CUSTOM, marked) or re.match(_SINCE_NOW, text)
    return Preference(text, personal=False) if order and not re.search(at_hand, bare) else None
