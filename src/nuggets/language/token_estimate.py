"""Estimates how many tokens a text costs a model, without a model's vocabulary.

Compared with three public vocabularies (two of OpenAI, one of Anthropic) on this project's English
texts, Markdown, Python and identifiers: 1.00 to 1.17 times the most expensive of them. Languages
with long or accented words cost up to a third more than estimated, Cyrillic half as much.
"""

import re

LETTERS = 7  # of one word that are one token on average, beyond its first
_PIECE = re.compile(r"[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]|\n")


def estimate_tokens(text: str) -> int:
    """A token for each short word, three digits, sign, letter beyond ASCII and line break."""
    return sum(
        1 + (len(piece) - 1) // LETTERS if piece[0].isalpha() else 1
        for piece in _PIECE.findall(text)
    )
