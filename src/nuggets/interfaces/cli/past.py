"""Commands on the past: history, undo."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping

from nuggets import codec
from nuggets.errors import NotFound
from nuggets.interfaces.cli.arguments import NAME_HELP
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.printing import fitted, minute, one_line, styled
from nuggets.project import name_of, told_apart
from nuggets.records import Commit, MemoryNote
from nuggets.state import merged_into
from nuggets.text import folded

_SHOWN = 5  # notes of one entry; the JSON has them all
_EVERYTHING = 1 << 30  # entries
_TITLE = 40  # columns
_TEXT = 60  # columns of what came or went
_EXCERPT = 40  # columns of each side of a change
_LEAD = 16  # characters before the first difference: enough to know the place
_VERBS = {  # as the commands call them; "delete_note" is one of two
    "create_note": "add",
    "edit_note": "edit",
    "restore_note": "restore",
    "merge_notes": "merge",
    "add_link": "link",
    "remove_link": "unlink",
    "move_project": "project move",
    "take_in": "import",
}
_BOOKKEEPING = frozenset(  # follows from the rest, or counts who looked
    (
        *("updated_at", "last_rewritten_at", "archived_at", "last_inspected_at"),
        *("last_accessed_at", "hits", "last_hit_session", "hit_sessions"),
    )
)
_Pair = tuple[MemoryNote | None, MemoryNote | None]


def _history_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--note", help=f"only what changed this note: {NAME_HELP}")
    parser.add_argument("--limit", type=int, default=20, help="at most so many (default: 20)")


def _history(call: Call) -> Outcome:
    name, limit = call.options.note, call.options.limit
    if name is None:
        shown = [(commit, _pairs(commit)) for commit in call.shelf.history(None, limit)]
    else:
        shown = _about(call, name, limit)
    shape = [codec.commit_to_json(commit) for commit, _ in shown]
    lines = [line for commit, pairs in shown for line in _entry(commit, pairs)]
    return Outcome(shape, lines or ["Nothing was done yet."])


def _about(call: Call, name: str, limit: int) -> list[tuple[Commit, list[_Pair]]]:
    """The entries that changed what one note says; a clean-up that only looked at it did not."""
    note_id = _id_of(call, name)
    reach = _EVERYTHING if limit > 0 else limit  # which the shelf refuses
    entries = [(commit, _pairs(commit, note_id)) for commit in call.shelf.history(note_id, reach)]
    return [(commit, pairs) for commit, pairs in entries if pairs][:limit]


def _id_of(call: Call, name: str) -> str:
    """Of the note that is called so, or else was until it was taken away, or else the name."""
    try:
        return call.shelf.get_note(name, session=None).id
    except NotFound:
        for commit in call.shelf.commits()[::-1]:
            for note in commit.before.put:
                if note.id in commit.changes.drop and folded(note.title) == folded(name):
                    return note.id
        return name  # perhaps its whole id


def _entry(commit: Commit, pairs: list[_Pair]) -> Iterator[str]:
    """One entry for a person: what was done, and the notes it changed."""
    number = styled(f"{commit.revision:>5}", "cyan")
    client = one_line(commit.changes.client) or "?"
    done = f"{styled(_verb(commit), 'bold')} from {client}{_where(pairs)}"
    yield f"{number}  {minute(commit.at)}  {done}"
    for line in _differences(pairs):
        yield f"         {line}"


def _where(pairs: list[_Pair]) -> str:
    """The project whose memories it changed, if they are a project's."""
    homes = {note.project for was, is_now in pairs if (note := is_now or was)} - {""}
    if len(homes) > 1:
        return f" in {len(homes)} projects"
    return "".join(f" in {one_line(name_of(home))}" for home in homes)


def _verb(commit: Commit) -> str:
    action = commit.changes.action
    if action == "delete_note":
        return "delete" if commit.changes.drop else "hide"
    return _VERBS.get(action) or one_line(action) or "change"


def _pairs(commit: Commit, note_id: str | None = None) -> list[_Pair]:
    """Each note as it was and as it became (one, or all), where that makes a difference."""
    before = {note.id: note for note in commit.before.put}
    after: dict[str, MemoryNote | None] = {note.id: note for note in commit.changes.put}
    after.update(dict.fromkeys(commit.changes.drop))
    wanted = after if note_id is None else {note_id} & after.keys()
    pairs = ((before.get(one), after[one]) for one in wanted)
    return [pair for pair in pairs if None in pair or _changed_fields(*pair)]


def _differences(pairs: list[_Pair]) -> Iterator[str]:
    names = {note.id: fitted(note.title, _TITLE) for pair in pairs for note in pair if note}
    for was, is_now in pairs[:_SHOWN]:
        yield _difference(was, is_now, names)
    if len(pairs) > _SHOWN:
        yield f"and {len(pairs) - _SHOWN} more"


def _difference(was: MemoryNote | None, is_now: MemoryNote | None, names: Mapping[str, str]) -> str:
    if was is None or is_now is None:
        one = was or is_now
        said = f"{fitted(one.title, _TITLE)}: {one_line(one.content, _TEXT)}" if one else "purged"
        return f"{'-' if is_now is None else '+'} {said}"
    title = fitted(is_now.title, _TITLE)
    if is_now.hidden and not was.hidden:
        into = [names[survivor] for survivor in merged_into(is_now) if survivor in names]
        return f"- {title}: {f'merged into {into[0]}' if into else 'archived'}"
    if was.hidden and not is_now.hidden:
        return f"+ {title}: back from the archive"
    if was.title != is_now.title:
        title = f"{fitted(was.title, _TITLE)} → {title}"
    others = [_changed(field, was, is_now, names) for field in _changed_fields(was, is_now)]
    said = "; ".join(filter(None, others))
    return f"~ {title}: {said}" if said else f"~ {title}"


def _changed(field: str, was: MemoryNote, is_now: MemoryNote, names: Mapping[str, str]) -> str:
    if field == "title":
        return ""  # told before
    if field == "content":
        return _changed_text(was.content, is_now.content)
    if field == "project":
        homes = told_apart(was.project, is_now.project)
        return f"project {' → '.join(one_line(home) or 'none' for home in homes)}"
    if field == "links":
        old, new = ([names.get(link.to, link.to) for link in note.links] for note in (was, is_now))
    elif field == "tags":
        old, new = list(was.tags), list(is_now.tags)
    else:
        return field.replace("_", " ")
    signs = [*(f"+{one}" for one in new if one not in old)]
    signs += (f"-{one}" for one in old if one not in new)
    return one_line(" ".join([field, *signs]), _TEXT)


def _changed_fields(was: MemoryNote | None, is_now: MemoryNote | None) -> list[str]:
    return [
        field
        for field in MemoryNote._fields
        if getattr(was, field) != getattr(is_now, field) and field not in _BOOKKEEPING
    ]


def _changed_text(was: str, is_now: str) -> str:
    """Both from a little before the first difference on."""
    old, new = " ".join(was.split()), " ".join(is_now.split())
    if old == new:
        return "blanks and line breaks"
    signs = enumerate(zip(old, new, strict=False))
    different = next((i for i, (a, b) in signs if a != b), min(len(old), len(new)))
    start = max(0, different - _LEAD)
    if start:
        start = old.find(" ", start, different) + 1 or start  # with a whole word, if there is one
    lead = "…" if start else ""
    excerpts = (one_line(f"{lead}{text[start:]}", _EXCERPT) for text in (old, new))
    return " → ".join(excerpts)


def _undo_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "entry", nargs="?", type=int, help="its number in the history; otherwise the last one"
    )


def _undo(call: Call) -> Outcome:
    commit = call.shelf.undo(call.options.entry)
    back = [(is_now, was) for was, is_now in _pairs(commit) if was or is_now]  # else purged since
    lines = [f"Undone: {_verb(commit)} of {minute(commit.at)} ({commit.revision} in the history)"]
    lines += (f"  {line}" for line in _differences(back))
    return Outcome({"undone": codec.commit_to_json(commit)}, lines)


COMMANDS = {
    "history": Command(
        ("nuggets history", 'nuggets history --note "Auth middleware" --json'),
        _history,
        _history_arguments,
    ),
    "undo": Command(
        ("nuggets undo", "nuggets undo 42    # undo an undo to redo"),
        _undo,
        _undo_arguments,
        summary="take a change back, by default the last one; never at the cost of a later one",
        changes=True,
    ),
}
