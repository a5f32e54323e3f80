"""Requests for an earlier session, such as "where were we?" and "continue the UUID migration"; and
which requests say themselves what to do.
"""

import re
from functools import cache

from nuggets.language.text import fold_case, is_unspaced, tokens
from nuggets.language.word_lists import assent_words, conversation_words, stop_words
from nuggets.named_tuple import NamedTuple

READ_CHARACTERS = 4000  # of a text: who pastes a page has said before it what to do
LONGEST_QUESTION = 300  # characters: a longer request says itself what to do
SHORTEST_UNSPACED = 4  # letters of a request in a script that puts no blanks between words

# Questions for an earlier session, each by a part that it contains: others are not compiled.
_QUESTIONS = {
    "where": r"\bwhere (?:(?:were|was|did|have|had) (?:we|i|you|things)|(?:are|do) we)\b"
    r"(?: (?:leave|left|stop|get|got|been|at))?(?: off)?",
    "left off": r"\b(?:we|i|you) left off",
    "up where": r"\bpick(?:ing)? up where",
    "session": r"\b(?:last|previous|yesterday'?s?) session\b",
    "conversation": r"\b(?:last|previous|yesterday'?s?) conversation\b",
    " time": r"\b(?:last|previous|yesterday'?s?) time\b",
    "catch me up": r"\bcatch me up\b",
    "what": r"\bwhat (?:did|were|was|have|had) (?:we|i|you)"
    r" (?:do|doing|done|work(?:ing)?(?: on)?|been)\b",
    "wo ": r"\bwo (?:waren|sind|standen|stehen) wir\b",
    "letzte": r"\bletzte[nrs]? (?:sitzung|mal)\b",
    "was haben wir": r"\bwas haben wir (?:zuletzt|gestern)\b",
    "nde ": r"\bd[oó]nde (?:est[aá]bamos|lo dejamos|quedamos)\b",
    "ltima ": r"\b[uú]ltima (?:sesi[oó]n|vez)\b",
    "où en": r"\boù en (?:étions|était|sommes)\b",
    "上次": "上次",
    "昨天": "昨天",
    "到哪": r"(?:我们)?(?:做|说|聊)到哪(?:里|儿)?了?",
    "前回": "前回",
    "どこまで": "どこまで",
}
_GO_ON = (
    *("continue", "resume", "carry on", "go on", "keep going", "pick up", "get back to"),
    *("back to", "finish", "weitermachen", "weiter", "mach weiter", "continúa", "seguimos"),
    *("sigamos", "reprends", "reprenons", "继续", "続け"),
)
_GOING_ON = (
    r"(?i)(?:(?:please|ok|okay|let's|lets|can we|can you|we|so|and|now)[, ]+){0,3}"
    rf"(?:{'|'.join(_GO_ON)})(?: (?:with|working|on|the|mit|con))*"
)


class SessionRequest(NamedTuple):
    """A request for an earlier session."""

    topic: str  # which one; "" for the last one
    is_question: bool  # else it says to go on, which may also be about the session at hand


def read_session_request(prompt: str) -> SessionRequest | None:
    """What a prompt asks for of earlier sessions; None for nothing."""
    if len(prompt) > LONGEST_QUESTION:
        return None
    lower = prompt.lower()
    is_question = any(
        part in lower and re.search(f"(?i){question}", prompt)
        for part, question in _QUESTIONS.items()
    )
    goes_on = any(words in lower for words in _GO_ON) and re.match(_GOING_ON, prompt)
    if not is_question and not goes_on:
        return None
    rest = re.sub(_GOING_ON, " ", _without_questions(prompt), count=1).strip()
    has_topic = any(not _is_idle(fold_case(word)) for word in tokens(rest))
    return SessionRequest(rest if has_topic else "", is_question)


def is_substantial(request: str) -> bool:
    """Does it say what to do? "Go on", "where were we?" and commands to the host do not."""
    if request.startswith("/") and " " not in request.split("\n", 1)[0].strip():
        return False
    asked = _without_questions(request[:READ_CHARACTERS])
    said = [fold_case(word) for word in tokens(asked)]
    telling = {word for word in said if not _is_idle(word)}
    if any(is_unspaced(word[0]) for word in telling):
        return sum(map(len, telling)) >= SHORTEST_UNSPACED
    return len(telling) > 1 or (len(telling) == 1 and len(said) > 2)


def _without_questions(text: str) -> str:
    return re.sub(f"(?i){'|'.join(_QUESTIONS.values())}", " ", text)


def _is_idle(word: str) -> bool:
    return word in _idle_words() or word.isdigit()


@cache
def _idle_words() -> frozenset[str]:
    return stop_words() | conversation_words() | assent_words()
