"""Which names a nugget may have."""

import unicodedata

from nuggets.domain.limits import storable
from nuggets.errors import InvalidInput
from nuggets.language.text import fold_case

NUGGET_NAME_CHARACTERS = 64
NUGGET_NAME_BYTES = 200  # as UTF-8: file systems allow 255 with our ending and a staging name
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)
_ALLOWED = "letters, digits, '-', '_', '.' and spaces"


def checked_nugget_name(name: str) -> str:
    """A nugget's name in NFC; it also names a file, on any disk, so it is never a path."""
    written = unicodedata.normalize("NFC", storable(name, "a nugget's name"))
    if not 1 <= len(written) <= NUGGET_NAME_CHARACTERS:
        raise InvalidInput(
            f"a nugget's name has 1 to {NUGGET_NAME_CHARACTERS} characters; "
            f"this one has {len(written)}"
        )
    if len(written.encode()) > NUGGET_NAME_BYTES:
        raise InvalidInput(
            f"a nugget's name may take {NUGGET_NAME_BYTES} bytes as UTF-8; "
            f"this one takes {len(written.encode())}"
        )
    stranger = next((sign for sign in written if not _is_allowed_in_name(sign)), None)
    if stranger is not None:
        raise InvalidInput(f"a nugget's name has only {_ALLOWED}; not {stranger!r}")
    if written[0] in ". " or written[-1] in ". ":
        raise InvalidInput(
            f"a nugget's name must not begin or end with a dot or a space; {written!r} does"
        )
    if fold_case(written.partition(".")[0]) in _DEVICES:
        raise InvalidInput(f"{written!r} is reserved for a device on some systems; choose another")
    return written


def _is_allowed_in_name(sign: str) -> bool:
    # marks belong to the letters of many scripts; variation selectors are marks nobody can see
    if unicodedata.name(sign, "").startswith("VARIATION SELECTOR"):
        return False
    return sign in "-_. " or unicodedata.category(sign)[0] in "LM" or sign.isdecimal()
