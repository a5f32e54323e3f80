"""Which format a path has, by what is in it; and which importer reads it."""

import os

from nuggets.errors import InvalidInput, NotFound
from nuggets.interfaces.importers import DATABASE_BEGIN, ReadFile, Records, read_file
from nuggets.interfaces.importers.instruction_files import is_instruction_file, read_instructions

KNOWN = (
    "a directory of Nuggets or of Markdown, a backup, Markdown, JSON, lines of JSON, CSV, or the "
    "database of claude-mem"
)


def read_path(path: str, nugget: str, found: Records) -> None:
    """Add what a path holds that is no shelf; notes without a nugget get this one."""
    before = len(found.notes) + len(found.problems)
    if os.path.isdir(path):
        from nuggets.interfaces.importers.markdown_folders import read_folder

        read_folder(path, nugget, found)
    else:
        file = read_file(path, follow_link=True)
        _read_content(path, file, nugget, found)
    if len(found.notes) + len(found.problems) == before:
        raise NotFound(f"{path} contains no shelf and no memories; name {KNOWN}")


def _read_content(path: str, file: ReadFile, nugget: str, found: Records) -> None:
    name, at = os.path.basename(path), file.changed_at
    if file.content.startswith(DATABASE_BEGIN):
        from nuggets.interfaces.importers.databases import is_claude_mem, read_database

        if not is_claude_mem(path):
            raise InvalidInput(f"{path} is the database of another program; name {KNOWN}")
        read_database(path, name, nugget, at, found)
        return
    text = file.text(name)
    if is_instruction_file(name):
        found.form = "instructions for agents"
        read_instructions(text, name, nugget, at, found)
    elif name.lower().endswith((".md", ".markdown")):
        from nuggets.interfaces.importers.markdown_folders import read_markdown

        read_markdown(file, name, nugget, found)
    elif text.lstrip()[:1] in ("{", "["):
        from nuggets.interfaces.importers.json_and_csv import read_json

        read_json(text, name, nugget, at, found)
    elif text.strip():
        from nuggets.interfaces.importers.json_and_csv import read_rows

        read_rows(text, name, nugget, at, found)
