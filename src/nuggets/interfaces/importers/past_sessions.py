"""Sessions that are over: transcripts that hosts keep, and conversations of chats, become the notes
that sessions have had ever since an agent was connected, by the same rules. And what else ChatGPT
and Claude give to a person who asks for their data: memories and projects.
"""

import io
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nuggets.domain import codec, times
from nuggets.errors import InvalidInput
from nuggets.filesystem.hook_files import purge_time
from nuggets.interfaces.hooks.session_note_update import make_record
from nuggets.interfaces.hooks.transcript_formats import object_of, objects_of, text_of, texts_of
from nuggets.interfaces.hooks.transcript_reader import Unreadable, read_named_transcript
from nuggets.interfaces.importers import (
    LARGEST_FILE,
    Json,
    ReadFile,
    Records,
    modification_time,
    moment,
)
from nuggets.operations.session_note_text import Step
from nuggets.operations.session_notes import NUGGET, PREVIOUS, SessionRecord, new_session_note


def add_session(
    found: Records, place: str, steps: Iterable[Step], *, folder: str = "", **about: str
) -> None:
    """The note of a session; one in which nothing was asked gets none, and none is kept that ended
    before those of live sessions are dropped. `about`: its id, its host, and when it was."""
    project = found.project_of(folder) if folder else ""
    add_record(make_record(steps, folder=folder, project=project, **about), place, found)


def add_record(record: SessionRecord | None, place: str, found: Records) -> None:
    """The same for what is known of a session; None if nothing was asked in it."""
    if record is None:
        found.idle_sessions += 1
    elif record.ended < found.oldest_session:
        found.old_sessions += 1
    else:
        shape = codec.note_to_json(new_session_note(record, times.now()), vector=False)
        found.add(shape, place)


def read_transcripts(paths: Sequence[str], found: Records) -> None:
    """The notes of transcripts."""
    since = purge_time(found.directory)  # nothing that was erased may come back
    for number, path in enumerate(paths):
        found.report(f"{number} of {len(paths)} sessions")
        try:
            transcript = read_named_transcript(path, since)
        except Unreadable as problem:
            found.problems.append(f"{path}: {problem}")
            continue
        modified = moment(modification_time(path), "")  # if its host writes no times
        add_session(
            found,
            path,
            transcript.steps,
            session=transcript.session or os.path.splitext(os.path.basename(path))[0],
            host=transcript.host,
            started=transcript.started or modified,
            ended=transcript.ended or modified,
            folder=transcript.folder,
        )


def link_sessions(found: Records) -> None:
    """Link each session to the one before it in its project, as live ones are."""
    last: dict[str, Json] = {}
    for note in sorted(_sessions(found), key=lambda note: (str(note["updatedAt"]), note["id"])):
        before = last.get(note["project"])
        if before is not None:
            link = {"to": before["id"], "reason": PREVIOUS, "createdAt": note["updatedAt"]}
            note["links"] = [*note["links"], link]
        last[note["project"]] = note


def _sessions(found: Records) -> Iterator[Json]:
    is_made = {"nuggetName": NUGGET, "source": "system", "scope": "session"}.items()
    for note in found.notes:
        if all(note.get(name) == value for name, value in is_made) and not note["links"]:
            yield note


# --- what ChatGPT and Claude export ---------------------------------------------------------------
#
# A conversation of ChatGPT is a tree of messages, of which the branch that was read last counts.


ZIP_BEGIN = b"PK\x03\x04"
# What is read of an export, memories first: they say what conversations are about.
_FILES = ("memories", "projects", "conversations")
_PART = re.compile(rf"(?:{'|'.join(_FILES)})-\d+\.zip")  # of an export of Claude, in a folder
# What zipfile and zlib raise of what they cannot unpack.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,
    NotImplementedError,
    EOFError,
    ValueError,
)
_MOST_MESSAGES = 100_000  # of a conversation: a year of writing one every five minutes


# --- the files of an export -----------------------------------------------------------------------


def export_files(names: list[str]) -> list[str]:
    """Which of the files of an archive or a folder are read, in which order."""
    wanted = [
        (_FILES.index(kind), name)
        for name in names
        for kind in _FILES
        if kind in (os.path.basename(name).split("-")[0].split(".")[0], *name.split("/")[:-1])
        and name.endswith((".json", ".zip"))
    ]
    return [name for _, name in sorted(wanted)]


def unpacked_files(folder: str) -> list[str]:
    """The files of an export that someone unpacked to a folder; newer ones consist of archives, and
    of a folder of projects."""
    names = [name for name in os.listdir(folder) if name.endswith(".json") or _PART.fullmatch(name)]
    projects = os.path.join(folder, "projects")
    if export_files(names) and os.path.isdir(projects) and not os.path.islink(projects):
        names += [f"projects/{name}" for name in os.listdir(projects)]
    return export_files(sorted(names))


def archive_files(
    archive: ReadFile, name: str, found: Records, *, inner: bool = False
) -> Iterator[tuple[str, ReadFile]]:
    """The JSON files of an archive, each with its place; one that cannot be read is named. Nothing
    is unpacked to the disk; an archive within it is read too, but none within that."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive.content)) as packed:
            left = LARGEST_FILE
            for member in export_files(packed.namelist()):
                place = f"{name}, {member}"
                try:
                    with packed.open(member) as file:
                        data = ReadFile(file.read(left + 1), archive.changed_at)
                except _UNREADABLE as problem:
                    found.problems.append(f"{place}: cannot be unpacked: {problem}")
                    continue
                left -= len(data.content)
                if left < 0:
                    raise InvalidInput(
                        f"{name} unpacks to more than {LARGEST_FILE >> 20} MB; import its parts"
                    )
                if member.endswith(".json"):
                    yield place, data
                elif not inner:
                    yield from archive_files(data, place, found, inner=True)
    except _UNREADABLE as problem:
        if not inner:
            raise InvalidInput(f"{name} cannot be read as an archive: {problem}") from None
        found.problems.append(f"{name}: cannot be read as an archive: {problem}")


# --- memories and projects of Claude --------------------------------------------------------------


def is_account(record: Json) -> bool:
    return isinstance(record.get("conversations_memory"), str) or isinstance(
        record.get("memory_files"), list
    )


def account_texts(record: Json) -> Iterator[tuple[str, Json]]:
    """What Claude remembers of a person, and of each project: a paragraph is a memory."""
    texts = {"conversations_memory": record.get("conversations_memory") or ""}
    texts |= object_of(record.get("project_memories"))
    for file in objects_of(record.get("memory_files")):
        name = str(file.get("path") or file.get("name") or "memory_files")
        texts[name] = file.get("content") or file.get("text") or ""
    for field, text in texts.items():
        heading = ""
        if text and not isinstance(text, str):
            yield field, {"memory": text}  # is refused, by its place
            continue
        for paragraph in map(str.strip, (text or "").split("\n\n")):
            if "\n" not in paragraph and (paragraph.startswith("#") or _is_bold(paragraph)):
                heading = paragraph.strip("#* ")
            elif any(sign.isalnum() for sign in paragraph):
                yield field, {"memory": paragraph, "categories": [heading]}


def _is_bold(line: str) -> bool:
    return line.startswith("**") and line.endswith("**") and "**" not in line[2:-2]


def is_project(record: Json) -> bool:
    return "prompt_template" in record and isinstance(record.get("docs"), list)


def project_texts(record: Json) -> Iterator[tuple[str, Json]]:
    """The instructions of a project, and the documents that it was given."""
    name = str(record.get("name") or "project")
    template = record.get("prompt_template")
    if isinstance(template, str) and template.strip():
        memory = {"title": f"{name}: instructions", "memory": template, "categories": [name]}
        yield "prompt_template", {**memory, "updated_at": record.get("updated_at")}
    for doc in objects_of(record["docs"]):
        if isinstance(doc.get("content"), str):
            file, at = str(doc.get("filename")), doc.get("created_at")
            memory = {"title": f"{name}: {file}", "memory": doc["content"], "categories": [name]}
            yield file, {**memory, "id": doc.get("uuid"), "updated_at": at}


# --- conversations --------------------------------------------------------------------------------


def is_conversation(record: Json) -> bool:
    return isinstance(record.get("mapping"), dict) or isinstance(record.get("chat_messages"), list)


def add_conversation(record: Json, place: str, at: str, found: Records) -> None:
    """The note of a conversation; one in which nothing was asked gets none."""
    is_tree = isinstance(record.get("mapping"), dict)
    found.form = found.form or ("an export of ChatGPT" if is_tree else "an export of Claude")
    messages = list(_tree_messages(record) if is_tree else _list_messages(record))
    times = sorted(moment(time, "") for time, _ in messages if moment(time, ""))
    updated = moment(record.get("update_time", record.get("updated_at")), at)
    created = moment(record.get("create_time", record.get("created_at")), "")
    called = record.get("conversation_id") or record.get("id") or record.get("uuid")
    host = "chatgpt" if is_tree else "claude"
    add_session(
        found,
        place,
        [step for _, step in messages],
        session=f"{host} {called or (record.get('title', record.get('name')), created)}",
        host=host,
        started=created or next(iter(times), updated),
        ended=times[-1] if times else updated,
    )


def _list_messages(record: Json) -> Iterator[tuple[Any, Step]]:
    for message in objects_of(record["chat_messages"][:_MOST_MESSAGES]):
        text = text_of(message.get("text")) or texts_of(message.get("content"))
        kind = {"human": "request", "assistant": "reply"}.get(str(message.get("sender")))
        yield from _step(kind, text, message.get("created_at"))


def _tree_messages(record: Json) -> Iterator[tuple[Any, Step]]:
    for message in reversed([*_branch(record)]):
        content = object_of(message.get("content"))
        hidden = object_of(message.get("metadata")).get("is_visually_hidden_from_conversation")
        parts = content.get("parts")
        texts = parts if isinstance(parts, list) else [content.get("text")]
        role = str(object_of(message.get("author")).get("role"))
        kind = None if hidden else {"user": "request", "assistant": "reply"}.get(role)
        text = "\n".join(part for part in texts if isinstance(part, str))
        yield from _step(kind, text, message.get("create_time"))


def _branch(record: Json) -> Iterator[Mapping[str, Any]]:
    """The messages of the branch that was read last, from its end."""
    nodes = {str(key): node for key, node in record["mapping"].items() if isinstance(node, dict)}
    leaves = [key for key, node in nodes.items() if not node.get("children")]
    key: Any = record.get("current_node") or (leaves[-1] if leaves else None)
    while isinstance(key, str) and key in nodes:
        node = nodes.pop(key)  # so that a ring ends
        yield object_of(node.get("message"))
        key = node.get("parent")


def _step(kind: str | None, text: str, time: object) -> Iterator[tuple[Any, Step]]:
    if kind and text.strip():
        yield time, Step("request" if kind == "request" else "reply", text.strip())
