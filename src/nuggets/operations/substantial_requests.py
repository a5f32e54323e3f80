"""Tells requests that name a topic from words that only keep a conversation going."""

import re
from functools import cache

from nuggets.language.text import fold_case, is_unspaced, tokens
from nuggets.language.word_lists import assent_words, conversation_words, stop_words

READ_CHARACTERS = 4000  # of a text
SHORTEST_UNSPACED = 4  # letters of a request in a script that puts no blanks between words


# asks for an earlier session
LAST_SESSION = re.compile(
    r"\bwhere (?:were|was|are|did|do|have|had) (?:we|i|you|things)\b(?: (?:leave|left|stop|get|got|"
    r"been|at))?(?: off)?|\b(?:we|i|you) left off|\bpick(?:ing)? up where|"
    r"\b(?:last|previous|yesterday'?s?) (?:session|conversation|time)\b|\bcatch me up\b|"
    r"\bwhat (?:did|were|was|have|had) (?:we|i|you) (?:do|doing|done|work(?:ing)?(?: on)?|been)\b|"
    r"\bwo (?:waren|sind|standen|stehen) wir\b|\bletzte[nr]? (?:sitzung|mal)\b|"
    r"\bwas haben wir (?:zuletzt|gestern)\b|\bd[oó]nde (?:est[aá]bamos|lo dejamos|quedamos)\b|"
    r"\b[uú]ltima (?:sesi[oó]n|vez)\b|\boù en (?:étions|était|sommes)\b|"
    r"上次|昨天|(?:我们)?(?:做|说|聊)到哪(?:里|儿)?了?|前回|どこまで",
    re.IGNORECASE,
)


def is_substantial(request: str) -> bool:
    """Does it say what to do? "Go on", "where were we?" and commands to the host do not."""
    if request.startswith("/") and " " not in request.split("\n", 1)[0].strip():
        return False
    asked = LAST_SESSION.sub(" ", request[:READ_CHARACTERS])
    said = [fold_case(word) for word in tokens(asked)]
    telling = {word for word in said if not _is_idle(word)}
    if any(is_unspaced(word[0]) for word in telling):
        return sum(map(len, telling)) >= SHORTEST_UNSPACED
    return len(telling) > 1 or (len(telling) == 1 and len(said) > 2)


def has_topic(text: str) -> bool:
    """Does it name anything?"""
    return any(not _is_idle(fold_case(word)) for word in tokens(text))


def _is_idle(word: str) -> bool:
    return word in _idle_words() or word.isdigit()


@cache
def _idle_words() -> frozenset[str]:
    return stop_words() | conversation_words() | assent_words()
