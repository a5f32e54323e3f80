"""Tools that change: remember, forget, create_note, edit_note, add_link, merge_notes."""

from nuggets.errors import Conflict, InvalidInput
from nuggets.graph.metadata import CONFIDENCES
from nuggets.interfaces import answers
from nuggets.interfaces.fencing import carries_mark, fenced, one_line
from nuggets.interfaces.mcp.arguments import (
    TEXT,
    TEXTS,
    TRUTH,
    WHOLE,
    object_schema,
    one_of,
    told,
)
from nuggets.interfaces.mcp.tool import (
    ADD,
    CHANGE,
    HEAD,
    Answer,
    Asked,
    Json,
    Tool,
    receipt,
    valid_in,
)
from nuggets.records import SCOPES, STABILITIES, TYPES, MemoryNote
from nuggets.text import folded, visible

_NOTE = told(TEXT, "id or exact title")
_NUGGET = told(TEXT, "topic, e.g. project, prefs, learnings; made if new")
_AGENTS = "agent_reflection"  # what an agent says of its own accord
_SOURCE = told(one_of((_AGENTS, "explicit_user")), "explicit_user: the user's word")
_META = {"scope": one_of(SCOPES), "stability": one_of(STABILITIES), "source": _SOURCE}


def _remember(asked: Asked, given: Json) -> Answer:
    _refuse_unfit(given["nugget"], f"{given['key']}: {given['value']}")
    nugget, key, value = given.pop("nugget"), given.pop("key"), given.pop("value")
    before = _known(asked, nugget, key)
    said = before is not None and before.content == value.strip()
    if "source" in given or not said:  # else it stays the word of whoever said it first
        _attribute(given)
    fact = asked.shelf.remember(nugget, key, value, **given)
    answer = receipt("Remembered", asked.seen.all_of(asked.session, fact))
    if before is None or said:
        return answer
    was = one_line(before.content, 200)
    return Answer(
        {**answer.structured, "before": {"content": was}}, f"{answer.text} It was:\n{fenced(was)}"
    )


def _known(asked: Asked, nugget: str, key: str) -> MemoryNote | None:
    """The fact that gets the new value: the project's own before everybody's."""
    facts = asked.shelf.facts(nugget) if asked.shelf.has(nugget) else ()
    same = [fact for fact in facts if folded(fact.title) == folded(key)]
    ours = [fact for fact in same if not asked.shelf.is_foreign(fact)]
    return max(ours, key=lambda fact: bool(fact.project), default=None)


def _attribute(given: Json) -> None:
    """An agent's guess must not read as the user's word, nor be trusted like it."""
    source = given.setdefault("source", _AGENTS)
    given["confidence"] = CONFIDENCES[source]


def _forget(asked: Asked, given: Json) -> Answer:
    try:
        gone = asked.shelf.forget(given["nugget"], given["key"])
    except Conflict as problem:
        raise Conflict(f"{problem} (edit_note with hidden=true)") from None
    shape = answers.forgotten(given["nugget"], int(gone), given["key"])
    if gone:
        return Answer(shape, f"Forgot this key of nugget {given['nugget']}.")
    return Answer(shape, f"Nothing forgotten: nugget {given['nugget']} has no such key.")


def _create(asked: Asked, given: Json) -> Answer:
    said = f"{given['title']}: {given['content']}"
    _refuse_unfit(given["nugget"], said, *given.get("tags", ()))
    nugget, title, content = given.pop("nugget"), given.pop("title"), given.pop("content")
    same = _same_note(asked, nugget, title, content)
    if same is not None:
        return receipt("Noted already:", asked.seen.all_of(asked.session, same))
    _attribute(given)
    note = asked.shelf.create_note(nugget, title, content, given.pop("tags", ()), **given)
    done = receipt("Noted", asked.seen.all_of(asked.session, note))
    others = [other.id for other in asked.shelf.namesakes(note)]
    if not others:
        return done
    told = f"{done.text} Of that title there is {others[0]} too: name each by its id, or edit one."
    return Answer({**done.structured, "namesakes": others}, told)


def _same_note(asked: Asked, nugget: str, title: str, content: str) -> MemoryNote | None:
    """One that says just this, as after a call that was repeated: a second hides the first."""
    for note in asked.shelf.titled(title, nugget):
        if note.kind == "note" and note.content == content.strip():
            return note
    return None


def _edit(asked: Asked, given: Json) -> Answer:
    name = given.pop("note")
    if not given:
        raise InvalidInput("say what to change: content, title, tags, hidden or metadata")
    # Whoever brings one back means the archived one of that name.
    before = asked.shelf.get_note(name, session=None, archived=given.get("hidden") is False)
    if "content" in given:
        asked.seen.check(asked.session, before)
    title, content = given.get("title", before.title), given.get("content", before.content)
    said = [given[name] for name in ("title", "content") if name in given]
    _refuse_unfit(*said, *given.get("tags", ()))
    if said:  # a new title may say what the old text is, and the other way round
        _refuse_credentials(f"{title}: {content}")
    if "source" in given or (title, content) != (before.title, before.content):
        _attribute(given)
    note = asked.shelf.edit_note(before.id, **given)
    if "content" in given:
        asked.seen.all_of(asked.session, note)
    else:
        asked.seen.changed(asked.session, before, note)
    back = "Restored" if before.hidden else "Changed"
    return receipt("Archived" if note.hidden else back, note)


def _link(asked: Asked, given: Json) -> Answer:
    a, b, reason = given["a"], given["b"], given.get("reason", "")
    _refuse_unfit(reason)
    added = asked.shelf.add_link(a, b, reason)
    shape = answers.linked(asked.shelf, a, b, added)
    verb = "Linked" if added else "Linked already:"
    places = " and ".join(
        f"{end['id']} (nugget {end['nuggetName']}, scope {end['scope']}, "
        f"valid {valid_in(end['project'])})"
        for end in shape["notes"]
    )
    return Answer(shape, f"{verb} {places}.")


def _merge(asked: Asked, given: Json) -> Answer:
    _refuse_unfit(given.get("reason", ""))
    note = asked.shelf.merge_notes(given["target"], given["source"], given.get("reason", ""))
    return receipt("Merged into", note)


def _refuse_unfit(*texts: str) -> None:
    """An agent writes unattended: no credentials, and nothing that memory itself has shown it."""
    if any(map(carries_mark, texts)):
        raise InvalidInput(
            "this text was shown by memory and is stored already; "
            "store only what is new, or edit_note the note it came from"
        )
    _refuse_credentials(*texts)


def _refuse_credentials(*texts: str) -> None:
    from nuggets.secrets import found

    for text in texts:
        kinds = found(visible(text))
        if kinds:
            raise InvalidInput(
                f"this looks like a credential ({', '.join(sorted(set(kinds)))}) and is not kept; "
                "store where it is found instead. A person can insist on the command line"
            )


TOOLS = (
    Tool(
        "remember",
        "Remember a fact",
        "Store one short fact under a key you will ask for again: as soon as you learn a file "
        "location, command, convention or preference that the next session would need. A known "
        "key gets the new value. Longer than a sentence: create_note.",
        object_schema(
            {
                "nugget": _NUGGET,
                "key": told(TEXT, "what you will ask for, e.g. test cmd"),
                "value": TEXT,
                **_META,
            },
            ("nugget", "key", "value"),
        ),
        HEAD,
        CHANGE._replace(destructive=False),
        _remember,
    ),
    Tool(
        "forget",
        "Forget a fact",
        "Take a fact away when it is wrong or the user asks. Exact key only.",
        object_schema({"nugget": TEXT, "key": TEXT}, ("nugget", "key")),
        object_schema({"forgotten": WHOLE}, ("forgotten",)),
        CHANGE,
        _forget,
    ),
    Tool(
        "create_note",
        "Write a note",
        "Store what needs more than a sentence: a decision and its reason, how a part works, a "
        "lesson from a bug. One idea per note; search_notes first and edit what exists.",
        object_schema(
            {
                "nugget": _NUGGET,
                "title": TEXT,
                "content": TEXT,
                "tags": TEXTS,
                **_META,
                "type": one_of(TYPES),
            },
            ("nugget", "title", "content"),
        ),
        HEAD,
        ADD,
        _create,
    ),
    Tool(
        "edit_note",
        "Change a note",
        "Correct or extend a note or fact when what it says has changed; hidden=true archives "
        "it, hidden=false brings it back. Give the whole new content: get_note first.",
        object_schema(
            {
                "note": _NOTE,
                "content": TEXT,
                "title": TEXT,
                "tags": TEXTS,
                "hidden": TRUTH,
                "scope": one_of(SCOPES),
                "source": _SOURCE,
            },
            ("note",),
        ),
        HEAD,
        CHANGE,
        _edit,
    ),
    Tool(
        "add_link",
        "Link two notes",
        "Connect two notes when one helps to understand the other; say why.",
        object_schema({"a": _NOTE, "b": _NOTE, "reason": TEXT}, ("a", "b")),
        object_schema({"added": TRUTH}, ("added",)),
        ADD._replace(idempotent=True),
        _link,
    ),
)

MORE_TOOLS = (
    Tool(
        "merge_notes",
        "Merge two notes",
        "Unite two notes that say the same; the source, which cannot be a fact, is archived with "
        "a link to the target.",
        object_schema({"target": _NOTE, "source": _NOTE, "reason": TEXT}, ("target", "source")),
        HEAD,
        CHANGE,
        _merge,
    ),
)
