"""Which format a path has, by what is in it; and which importer reads it."""

import json
import os

from nuggets.errors import NotFound, NuggetsError
from nuggets.interfaces.importers import DATABASE_BEGIN, ReadFile, Records, read_file
from nuggets.interfaces.importers.markdown_files import is_instruction_file, read_instructions
from nuggets.interfaces.importers.own_shelves import fact_files
from nuggets.interfaces.importers.past_sessions import (
    ZIP_BEGIN,
    archive_files,
    unpacked_files,
)

KNOWN = (
    "a directory of Nuggets or of Markdown, a backup, Markdown, JSON, lines of JSON, CSV, a "
    "transcript, an export of ChatGPT or Claude, or the database of claude-mem, hippo, "
    "mcp-memory-service or opencode"
)
_HEAD = 5  # lines of a transcript by which it is known: the first ones may be of any kind


def read_path(path: str, found: Records) -> None:
    """Add what a path holds that is no shelf."""
    before = _count(found)
    if os.path.isdir(path):
        _read_directory(path, found)
    else:
        _read_content(path, read_file(path, follow_link=True), found)
    if _count(found) == before:
        raise NotFound(f"{path} contains no shelf and no memories; name {KNOWN}")


def _count(found: Records) -> int:
    sessions = found.idle_sessions + found.old_sessions
    return len(found.notes) + len(found.problems) + sessions


def _read_directory(path: str, found: Records) -> None:
    """A folder of Markdown, one of transcripts, one that an export was unpacked to, or one of the
    TypeScript program."""
    from nuggets.interfaces.importers.discovery import transcripts_below
    from nuggets.interfaces.importers.markdown_files import read_folder
    from nuggets.interfaces.importers.past_sessions import read_transcripts

    sessions = transcripts_below(path)
    files = unpacked_files(path) or fact_files(path)
    if sessions:
        found.form = "transcripts of sessions"
        read_transcripts(sessions, found)
    elif not files:
        read_folder(path, found)
    for name in () if sessions else files:
        try:
            _read_file_of_records(read_file(os.path.join(path, name)), name, found)
        except NuggetsError as problem:
            found.problems.append(str(problem))


def _read_file_of_records(file: ReadFile, name: str, found: Records) -> None:
    """JSON, or an archive of such files, of which each is read for itself."""
    from nuggets.interfaces.importers.record_files import read_json

    if not file.content.startswith(ZIP_BEGIN):
        read_json(file.text(name), name, file.changed_at, found)
        return
    for place, member in archive_files(file, name, found):
        try:
            read_json(member.text(place), place, member.changed_at, found)
        except NuggetsError as problem:
            found.problems.append(str(problem))


def _read_content(path: str, file: ReadFile, found: Records) -> None:
    from nuggets.interfaces.importers.markdown_files import read_markdown
    from nuggets.interfaces.importers.past_sessions import read_transcripts
    from nuggets.interfaces.importers.program_databases import read_database
    from nuggets.interfaces.importers.record_files import read_json, read_rows

    name, at = os.path.basename(path), file.changed_at
    if file.content.startswith(DATABASE_BEGIN):
        read_database(path, at, found)
        return
    if file.content.startswith(ZIP_BEGIN):
        _read_file_of_records(file, name, found)
        return
    text = file.text(name)
    if is_instruction_file(name):
        found.form = "instructions for agents"
        read_instructions(text, name, at, found)
    elif name.lower().endswith((".md", ".markdown")):
        read_markdown(file, name, found)
    elif _is_transcript(text):
        found.form = "a transcript of a session"
        read_transcripts([path], found)
    elif text.lstrip()[:1] in ("{", "["):
        read_json(text, name, at, found)
    elif text.strip():
        read_rows(text, name, at, found)


def _is_transcript(text: str) -> bool:
    from nuggets.interfaces.hooks.transcript_reader import host_by_entries

    if not text.startswith("{"):
        return False
    if text[:2] in ("{\n", "{\r"):  # one object: of Gemini CLI
        return '"sessionId"' in text[:1000] and '"messages"' in text
    entries = []
    for line in text.split("\n", _HEAD)[:_HEAD]:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            entries.append(entry)
    return bool(host_by_entries(entries))
