"""What is looked up about a text before its write is decided: contradictions, and files it names.

The lookups run outside of the transaction; cheap tests of the text tell whether they are worth it.
"""

from collections.abc import Sequence

from nuggets.domain.records import Anchor
from nuggets.named_tuple import NamedTuple

MOST_CHARACTERS = 2000  # a longer text is an account, not a rule
PLAIN_CHARACTERS = 400  # of a text with a mere sign of a rule, which most accounts have as well
LEAST_WORDS = 3

# Most facts are paths, commands and names, without any of these words.
_LISTED_SIGNS = """
accept accepts allow allowed always avoid before disable disabled disallow enable enabled exclude
excluded forbidden hide hidden include included instead keep must never no not off on over prefer
prefers rather reject rejected require required requires should show stop support use without
immer kein keine nicht nie niemals statt  jamais toujours  nunca siempre
"""
_SIGNS = frozenset(_LISTED_SIGNS.split())
_NEGATED = ("n't", "n’t")
_PLACE_WORDS = frozenset(["make", "just", "npm", "pnpm", "yarn", "bun", "branch"])


class WritingContext(NamedTuple):
    """What a shelf looked up for a text that is about to be written."""

    rivals: Sequence[str] = ()  # ids of notes that it may contradict
    anchors: tuple[Anchor, ...] = ()  # what it names of the repository someone works in


NO_CONTEXT = WritingContext()
_PLACE = Anchor._fields.index("size")  # the fields before it say what is named


def may_state_rule(text: str, title: str, *, plain: bool) -> bool:
    """Whether it is worth a search for what it may contradict.

    `plain`: only if a word of a short text says so; else any text that is no account.
    """
    if not isinstance(text, str) or len(text) > (PLAIN_CHARACTERS if plain else MOST_CHARACTERS):
        return False
    words = f"{title} {text}".casefold().split()
    if len(words) < LEAST_WORDS:
        return False
    return (
        not plain or not _SIGNS.isdisjoint(words) or any(word.endswith(_NEGATED) for word in words)
    )


def may_name_place(text: str) -> bool:
    """Whether a text may name a file, a symbol, a command, a version or a branch."""
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS]
    return any(sign in text for sign in "/._`(0123456789") or not _PLACE_WORDS.isdisjoint(
        text.casefold().split()
    )


def same_places(anchors: Sequence[Anchor], others: Sequence[Anchor]) -> bool:
    """Whether they name the same; when, and at which commit, aside."""
    return [anchor[:_PLACE] for anchor in anchors] == [anchor[:_PLACE] for anchor in others]
