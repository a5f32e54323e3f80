"""Whether a text is about the person who says it, and not about the project: "answer me in German".

The words of several languages are in `data/orders.txt`, under `person`.
"""

from functools import cache

from nuggets.language.text import fold_case, is_unspaced, tokens
from nuggets.language.word_lists import order_phrases


def is_personal(text: str) -> bool:
    """Does the person speak of themselves?"""
    folded = fold_case(text.replace("’", "'"))
    spoken = {part for token in folded.split() for part in (token, *tokens(token))}
    words = _words()
    return not words.isdisjoint(spoken) or any(
        word in folded for word in words if is_unspaced(word)
    )


@cache
def _words() -> frozenset[str]:
    return frozenset(map(fold_case, order_phrases()["person"]))
