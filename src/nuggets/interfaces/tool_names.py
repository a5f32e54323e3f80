"""The names of our tools as each host has them: Pi's are camelCase, as its documents say."""

import re

CAMEL_CASE_HOSTS = ("pi",)
# compiled when needed: a hook of any other host passes here too
_TOOL = r"\b(?:create_note|edit_note|get_note|search_notes|add_link|reflect_and_clean_memory)\b"


def camel_case(name: str) -> str:
    """`search_notes` as `searchNotes`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def name_tools(text: str, host: str, *, in_fences: bool = False) -> str:
    """Our text with the names that tools have at the host. Memory inside a fence stays as it is;
    `in_fences` if what is there is our own, such as the reason of a refusal."""
    if host not in CAMEL_CASE_HOSTS:
        return text
    from nuggets.interfaces.prompt_quoting import FENCED

    skipped = "(?!)" if in_fences else FENCED.pattern
    return re.sub(
        f"(?P<skipped>{skipped})|{_TOOL}",
        lambda found: found[0] if found["skipped"] else camel_case(found[0]),
        text,
        flags=FENCED.flags,
    )
