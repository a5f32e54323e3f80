"""Cheap tests of a text before a write: is it worth looking up contradictions, or files?"""

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


def may_state_rule(text: str, title: str, *, plain: bool) -> bool:
    """Whether it is worth a search for what it may contradict.

    `plain`: only if a word of a short text says so; else any text that is no account.
    """
    if not isinstance(text, str) or len(text) > (PLAIN_CHARACTERS if plain else MOST_CHARACTERS):
        return False
    words = f"{title} {text}".casefold().split()
    if len(words) < LEAST_WORDS:
        return False
    return not plain or any(word in _SIGNS or word.endswith(_NEGATED) for word in words)


def may_name_place(text: str) -> bool:
    """Whether a text may name a file, a symbol, a command, a version or a branch."""
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS]
    return any(sign in text for sign in "/._`(0123456789") or not _PLACE_WORDS.isdisjoint(
        text.casefold().split()
    )
