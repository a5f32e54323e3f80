"""The header with which a client over HTTP says which project it works in."""

from collections.abc import Mapping
from urllib.parse import unquote

PROJECT_HEADER = "nuggets-project"


def project_from_headers(headers: Mapping[str, str]) -> str | None:
    """A folder, an id or the name of a project, percent-encoded; "" for none; None if not sent."""
    value = headers.get(PROJECT_HEADER)
    return None if value is None else unquote(value).strip()
