"""Texts that a client without a person may not store: credentials, and what memory has shown it."""

from nuggets.domain.credentials import credential_kinds
from nuggets.domain.memory_tag import carries_mark
from nuggets.errors import RefusedText
from nuggets.language.text import visible


def refuse_unfit(*texts: str) -> None:
    """Refuse credentials, and text that memory itself has shown."""
    if any(map(carries_mark, texts)):
        raise RefusedText(
            "this text was shown by memory and is stored already; "
            "store only what is new, or edit_note the note it came from"
        )
    refuse_credentials(*texts)


def refuse_credentials(*texts: str) -> None:
    for text in texts:
        kinds = credential_kinds(visible(text))
        if kinds:
            raise RefusedText(
                f"this looks like a credential ({', '.join(sorted(set(kinds)))}) and is not kept; "
                "store where it is found instead. A person can insist on the command line"
            )
