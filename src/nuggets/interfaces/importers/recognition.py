"""Which format a path has, by what is in it; and which importer reads it."""

import json
import os

from nuggets.errors import NotFound, NuggetsError
from nuggets.interfaces.importers import DATABASE_BEGIN, ReadFile, Records, read_file
from nuggets.interfaces.importers.chat_exports import ZIP_BEGIN, export_files, read_archive
from nuggets.interfaces.importers.instruction_files import is_instruction_file, read_instructions

KNOWN = (
    "a directory of Nuggets or of Markdown, a backup, Markdown, JSON, lines of JSON, CSV, a "
    "transcript, an export of ChatGPT or Claude, or the database of claude-mem, hippo or "
    "mcp-memory-service"
)
_HEAD = 5  # lines of a transcript by which it is known: the first ones may be of any kind


def read_path(path: str, nugget: str, found: Records, directory: str = "") -> None:
    """Add what a path holds that is no shelf; notes without a nugget get this one. `directory`: of
    the shelf that it is read for."""
    before = _count(found)
    if os.path.isdir(path):
        _read_directory(path, nugget, found, directory)
    else:
        _read_content(path, read_file(path, follow_link=True), nugget, found, directory)
    if _count(found) == before:
        raise NotFound(f"{path} contains no shelf and no memories; name {KNOWN}")


def _count(found: Records) -> int:
    sessions = found.idle_sessions + found.old_sessions
    return len(found.notes) + len(found.problems) + sessions


def _read_directory(path: str, nugget: str, found: Records, directory: str) -> None:
    """A folder of Markdown, one of transcripts, or one that an export was unpacked to."""
    from nuggets.interfaces.importers.discovery import transcripts_below

    sessions = transcripts_below(path)
    if sessions:
        from nuggets.interfaces.importers.past_sessions import read_transcripts

        found.form = "transcripts of sessions"
        read_transcripts(sessions, directory, found)
        return
    names = [name for name in sorted(os.listdir(path)) if name.endswith(".json")]
    chats = export_files(names)
    for name in chats:
        try:
            file = read_file(os.path.join(path, name))
            _read_json(file.text(name), name, nugget, file.changed_at, found)
        except NuggetsError as problem:
            found.problems.append(str(problem))
    if not chats:
        from nuggets.interfaces.importers.markdown_folders import read_folder

        read_folder(path, nugget, found)


def _read_content(path: str, file: ReadFile, nugget: str, found: Records, directory: str) -> None:
    name, at = os.path.basename(path), file.changed_at
    if file.content.startswith(DATABASE_BEGIN):
        from nuggets.interfaces.importers.foreign_databases import read_database

        read_database(path, nugget, at, found)
        return
    if file.content.startswith(ZIP_BEGIN):
        read_archive(
            file.content, name, lambda text, place: _read_json(text, place, nugget, at, found)
        )
        return
    text = file.text(name)
    if is_instruction_file(name):
        found.form = "instructions for agents"
        read_instructions(text, name, nugget, at, found)
    elif name.lower().endswith((".md", ".markdown")):
        from nuggets.interfaces.importers.markdown_folders import read_markdown

        read_markdown(file, name, nugget, found)
    elif _is_transcript(text):
        from nuggets.interfaces.importers.past_sessions import read_transcripts

        found.form = "a transcript of a session"
        read_transcripts([path], directory, found)
    elif text.lstrip()[:1] in ("{", "["):
        _read_json(text, name, nugget, at, found)
    elif text.strip():
        from nuggets.interfaces.importers.csv_tables import read_rows

        read_rows(text, name, nugget, at, found)


def _read_json(text: str, name: str, nugget: str, at: str, found: Records) -> None:
    from nuggets.interfaces.importers.json_records import read_json

    read_json(text, name, nugget, at, found)


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
