"""Commands on the history: history, undo."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from nuggets.domain import codec
from nuggets.domain.limits import check_count
from nuggets.domain.records import Commit, LeftNote, MemoryNote, MemoryVersion
from nuggets.domain.state import merged_into
from nuggets.errors import NotFound
from nuggets.filesystem.current_project import distinguish_projects, name_of
from nuggets.interfaces import json_responses
from nuggets.interfaces.cli import DRY_RUN_ARGUMENT, Call, Outcome, argument, command
from nuggets.interfaces.cli.run_command import NAME_HELP
from nuggets.interfaces.cli.terminal_output import fit, format_minute, one_line, style
from nuggets.language.text import fold_case
from nuggets.maintenance.undo import is_upkeep

# An entry is read at a glance, on a terminal of 80 columns; the JSON has all of it.
_NOTES_SHOWN = 5  # notes of one entry: four entries on a screen of 24 lines
_TITLE = 40  # columns: half of the line
_TEXT = 60  # columns of added or removed text: with a short title in one line
_EXCERPT = 40  # columns of each side of a change: both fill a line
_LEAD = 16  # characters before the first difference: two or three words
_EVERYTHING = 1 << 30  # entries: more than a history has
_VERBS = {  # as the commands call them; "delete_note" is one of two
    "create_note": "add",
    "edit_note": "edit",
    "restore_note": "restore",
    "merge_notes": "merge",
    "add_link": "link",
    "remove_link": "unlink",
    "move_project": "project move",
    "join_project": "project join",
    "leave_project": "project leave",
    "recognize_project": "project recognized",
    "take_in_shared": "repository's memories",
    "share_project": "project share",
    "untrust_project": "project untrust",
    "keep_session": "session",
    "add_member": "member add",
    "revoke_member": "member revoke",
    "edit_memory_file": "edit",
    "import_memories": "import",
}
_BOOKKEEPING = frozenset(  # derived fields and counters
    (
        *("updated_at", "last_rewritten_at", "archived_at", "last_inspected_at"),
        *("last_accessed_at", "hits", "last_hit_session", "hit_sessions", "anchors"),
    )
)
_Pair = tuple[MemoryNote | None, MemoryNote | None]


@command(
    "history",
    argument("key", "what this fact or note said and when, instead of all changes", nargs="?"),
    argument("--note", f"only what changed this note: {NAME_HELP}"),
    argument("--limit", "maximum number of entries (default: 20)", type=int, default=20),
    examples=(
        "nuggets history",
        'nuggets history "deploy host"    # what it was, and when',
        'nuggets history --note "Auth middleware" --json',
    ),
)
def _history(call: Call) -> Outcome:
    name, limit = call.options.note, call.options.limit
    if call.options.key is not None:
        return _versions(call, call.options.key, limit)
    if name is None:
        entries = [(commit, _pairs(commit)) for commit in call.shelf.history(None, limit)]
    else:
        entries = _entries_of_note(call, name, limit)
    lines = [line for commit, pairs in entries for line in _entry(commit, pairs)]
    if name is None:
        lines = list(_folded_lines(entries))
    return Outcome([commit for commit, _ in entries], lines or ["The history is empty."])


def _folded_lines(entries: list[tuple[Commit, list[_Pair]]]) -> Iterator[str]:
    """The entries; what nobody asked for is one line a day, and what it put away."""
    for day, group in groupby(entries, lambda one: one[0].at[:10] if is_upkeep(one[0]) else ""):
        commits = list(group)
        if not day:
            for commit, pairs in commits:
                yield from _entry(commit, pairs)
            continue
        first, last = commits[-1][0].revision, commits[0][0].revision
        numbers = f"{first}" if first == last else f"{first}-{last}"
        kinds = ", ".join(dict.fromkeys(_verb(commit) for commit, _ in commits))
        when = format_minute(commits[0][0].at)
        number = style(f"{numbers:>5}", "cyan")
        yield f"{number}  {when}  upkeep: {kinds} (`--json` shows all of it)"
        for commit, pairs in commits:
            gone = list(_differences([pair for pair in pairs if _is_put_away(*pair)]))
            yield from (f"         {line}" for line in gone)
            if gone:
                yield f"         `nuggets undo {commit.revision}` brings back"


def _is_put_away(was: MemoryNote | None, is_now: MemoryNote | None) -> bool:
    return was is not None and not was.hidden and (is_now is None or is_now.hidden)


def _versions(call: Call, name: str, limit: int) -> Outcome:
    """What a memory said and when, newest first."""
    check_count(limit, "how many entries to show")
    versions = call.shelf.versions(name)[-limit:]
    lines = [_version_line(version) for version in versions[::-1]]
    return Outcome(versions[::-1], lines or ["No versions are recorded."])


def _version_line(version: MemoryVersion) -> str:
    end = "today           " if version.valid_until is None else format_minute(version.valid_until)
    title = style(fit(version.note.title, _TITLE), "bold")
    return f"{format_minute(version.valid_from)} – {end}  {title}: {one_line(version.note.content)}"


def _entries_of_note(call: Call, name: str, limit: int) -> list[tuple[Commit, list[_Pair]]]:
    """The entries that changed one note. A reflection that only inspected it is left out."""
    note_id = _id_of(call, name)
    reach = _EVERYTHING if limit > 0 else limit  # the shelf rejects an invalid limit
    entries = [(commit, _pairs(commit, note_id)) for commit in call.shelf.history(note_id, reach)]
    return [(commit, pairs) for commit, pairs in entries if pairs][:limit]


def _id_of(call: Call, name: str) -> str:
    """The id of the note with this title, also of a deleted one; else the name itself."""
    try:
        return call.shelf.get_note(name, session=None).id
    except NotFound:
        for commit in call.shelf.commits()[::-1]:
            for note in commit.before.put:
                if note.id in commit.changes.drop and fold_case(note.title) == fold_case(name):
                    return note.id
        return name  # it may be an id


def _entry(commit: Commit, pairs: list[_Pair]) -> Iterator[str]:
    """One entry: the action, the client, the project, and the notes that it changed."""
    yield _headline(commit, pairs)
    for line in _differences(pairs):
        yield f"         {line}"


def _headline(commit: Commit, pairs: list[_Pair]) -> str:
    number = style(f"{commit.revision:>5}", "cyan")
    client = one_line(commit.changes.client) or "?"
    done = f"{style(_verb(commit), 'bold')} from {client}{_project_suffix(pairs)}"
    return f"{number}  {format_minute(commit.at)}  {done}"


def _project_suffix(pairs: list[_Pair]) -> str:
    """The project of the changed notes, if they belong to one."""
    homes = {note.project for was, is_now in pairs if (note := is_now or was)} - {""}
    if len(homes) > 1:
        return f" in {len(homes)} projects"
    return "".join(f" in {one_line(name_of(home))}" for home in homes)


def _verb(commit: Commit) -> str:
    action = commit.changes.action
    if action == "delete_note":
        return "delete" if commit.changes.drop else "archive"
    return _VERBS.get(action) or one_line(action) or "change"


def _pairs(commit: Commit, note_id: str | None = None) -> list[_Pair]:
    """Each changed note (or the one asked for) before and after."""
    before = {note.id: note for note in commit.before.put}
    after: dict[str, MemoryNote | None] = {note.id: note for note in commit.changes.put}
    after.update(dict.fromkeys(commit.changes.drop))
    wanted = after if note_id is None else {note_id} & after.keys()
    pairs = ((before.get(changed), after[changed]) for changed in wanted)
    return [pair for pair in pairs if None in pair or _changed_fields(*pair)]


def _differences(pairs: list[_Pair]) -> Iterator[str]:
    names = {note.id: fit(note.title, _TITLE) for pair in pairs for note in pair if note}
    for was, is_now in pairs[:_NOTES_SHOWN]:
        yield _difference(was, is_now, names)
    if len(pairs) > _NOTES_SHOWN:
        yield f"and {len(pairs) - _NOTES_SHOWN} more"


def _difference(was: MemoryNote | None, is_now: MemoryNote | None, names: Mapping[str, str]) -> str:
    if was is None or is_now is None:
        note = was or is_now
        text = f"{fit(note.title, _TITLE)}: {one_line(note.content, _TEXT)}" if note else "purged"
        return f"{'-' if is_now is None else '+'} {text}"
    title = fit(is_now.title, _TITLE)
    if is_now.hidden and not was.hidden:
        into = [names[survivor] for survivor in merged_into(is_now) if survivor in names]
        return f"- {title}: {f'merged into {into[0]}' if into else 'archived'}"
    if was.hidden and not is_now.hidden:
        return f"+ {title}: back from the archive"
    if was.title != is_now.title:
        title = f"{fit(was.title, _TITLE)} → {title}"
    changes = [_field_change(field, was, is_now, names) for field in _changed_fields(was, is_now)]
    text = "; ".join(filter(None, changes))
    return f"~ {title}: {text}" if text else f"~ {title}"


def _field_change(field: str, was: MemoryNote, is_now: MemoryNote, names: Mapping[str, str]) -> str:
    if field == "title":
        return ""  # the line starts with it
    if field == "content":
        return _changed_text(was.content, is_now.content)
    if field == "project":
        homes = distinguish_projects(was.project, is_now.project)
        return f"project {' → '.join(one_line(home) or 'none' for home in homes)}"
    if field == "links":
        old, new = ([names.get(link.to, link.to) for link in note.links] for note in (was, is_now))
    elif field == "tags":
        old, new = list(was.tags), list(is_now.tags)
    else:
        return field.replace("_", " ")
    signs = [*(f"+{name}" for name in new if name not in old)]
    signs += (f"-{name}" for name in old if name not in new)
    return one_line(" ".join([field, *signs]), _TEXT)


def _changed_fields(was: MemoryNote | None, is_now: MemoryNote | None) -> list[str]:
    return [
        field
        for field in MemoryNote._fields
        if getattr(was, field) != getattr(is_now, field) and field not in _BOOKKEEPING
    ]


def _changed_text(was: str, is_now: str) -> str:
    """Both texts, from shortly before the first difference."""
    old, new = " ".join(was.split()), " ".join(is_now.split())
    if old == new:
        return "white space"
    signs = enumerate(zip(old, new, strict=False))
    different = next((i for i, (a, b) in signs if a != b), min(len(old), len(new)))
    start = max(0, different - _LEAD)
    if start:
        start = old.find(" ", start, different) + 1 or start  # at the start of a word, if possible
    lead = "…" if start else ""
    excerpts = (one_line(f"{lead}{text[start:]}", _EXCERPT) for text in (old, new))
    return " → ".join(excerpts)


@command(
    "undo",
    argument(
        "entry",
        "its number in the history (default: the last change of this command in this project)",
        nargs="?",
        type=int,
    ),
    DRY_RUN_ARGUMENT,
    examples=(
        "nuggets undo --dry-run    # what would be undone",
        "nuggets undo",
        "nuggets undo 42    # undo an undo to redo",
    ),
    summary="undo a change, by default your last one in this project, unless it changed since; of "
    "a reflection all that did not change",
)
def _undo(call: Call) -> Outcome:
    commit = call.shelf.undo(call.options.entry, call.options.dry_run)
    kept = None if call.options.entry else call.shelf.changes_in_effect(commit.revision)
    pairs = [pair for pair in _pairs(commit) if pair != (None, None)]  # without purged notes
    done = "Would undo" if call.options.dry_run else "Undone"
    notes = [note for pair in pairs for note in pair if note]
    where = _project_suffix(pairs) if any(map(call.shelf.is_foreign, notes)) else ""
    lines = [
        f"{done}: {_verb(commit)} of {format_minute(commit.at)} ({commit.revision} in the history)"
        f"{where}"
    ]
    lines += (f"  {line}" for line in _differences([(is_now, was) for was, is_now in pairs]))
    lines += _left_notes(commit.left)
    lines += _kept_changes(kept or ())
    shape = json_responses.undone_change(codec.commit_to_json(commit), commit.left, kept)
    return Outcome(shape, lines)


def _left_notes(left: Sequence[LeftNote]) -> Iterator[str]:
    """What a partial undo left as it is, each with the reason."""
    if left:
        yield "Left as it is now:"
    for note in left:
        later = f" (`nuggets undo {note.revision}` first)" if note.revision else ""
        yield f"  {fit(note.title, _TITLE)}: {note.reason}{later}"


def _kept_changes(commits: Sequence[Commit]) -> Iterator[str]:
    """What undo left as it is, newest first, each with its number."""
    if commits:
        yield "By others or in other projects since then, and kept (`nuggets undo NUMBER`):"
    for commit in commits[:_NOTES_SHOWN]:
        yield _headline(commit, _pairs(commit))
    if len(commits) > _NOTES_SHOWN:
        yield f"and {len(commits) - _NOTES_SHOWN} more (`nuggets history`)"
