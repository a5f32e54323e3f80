"""Every error that Nuggets raises on purpose.

NuggetsError          "error"
├── InvalidInput      "invalid_input"   also ValueError
│   └── RefusedText   "invalid_input"   a credential, or what memory showed an agent
├── NotFound          "not_found"       also LookupError
├── Ambiguous         "ambiguous"       also LookupError; lists the candidates
├── Conflict          "conflict"        it would overwrite what someone else has
├── NotAllowed        "not_allowed"     the member's role does not allow it
├── StaleWrite        "stale_write"     the store moved on since it was read
├── StoreError        "store_error"     says where and what to do
│   ├── StoreBusy     "store_busy"      lock not obtained; names the holder
│   └── StoreCorrupt  "store_corrupt"   fails closed; names the file and the way out
├── SettingsError     "settings_error"  names the setting and what is allowed
└── MissingExtra      "missing_extra"   prints the install line; also ImportError

A message says what happened and what to do next. A miss is no error: it is an answer.
"""


class NuggetsError(Exception):
    """Base of the tree; `code` is what scripts see in ``{"error": {"code", "message"}}``, and
    `status` what HTTP says."""

    code = "error"
    status = 500


class InvalidInput(NuggetsError, ValueError):
    code = "invalid_input"
    status = 400


class RefusedText(InvalidInput):
    """A text that a client which no person attends may not store."""


class NotFound(NuggetsError, LookupError):
    code = "not_found"
    status = 404


class Ambiguous(NuggetsError, LookupError):
    code = "ambiguous"
    status = 409


class Conflict(NuggetsError):
    code = "conflict"
    status = 409


class NotAllowed(NuggetsError):
    code = "not_allowed"
    status = 403


class StaleWrite(NuggetsError):
    code = "stale_write"
    status = 409


class StoreError(NuggetsError):
    code = "store_error"
    status = 503


class StoreBusy(StoreError):
    code = "store_busy"


class StoreCorrupt(StoreError):
    code = "store_corrupt"


class SettingsError(NuggetsError):
    code = "settings_error"


class MissingExtra(NuggetsError, ImportError):
    code = "missing_extra"


def opened_before_fork() -> StoreError:
    """A forked child uses a shelf of its parent, whose connections and locks are not its own."""
    return StoreError(
        "this shelf was opened before the program forked; open a new one in this process. "
        "Nothing was changed"
    )
