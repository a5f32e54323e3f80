"""Answers a prompt: obeys what the person orders, and says so; asks the agent's model about what
may be lasting, and what may no longer hold; and shows what memory has on it. Nothing but an order
changes memory.

Each order ends in kept, refused with the reason, or waiting (`orders`).
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from nuggets.domain import times
from nuggets.domain.records import MemoryNote
from nuggets.errors import InvalidInput, RefusedText
from nuggets.interfaces.hooks.help_probability import says, shares_said, telling_words
from nuggets.interfaces.hooks.host_payload import PROMPT_CHARACTERS, Event
from nuggets.interfaces.hooks.orders import (
    LEAST_LASTING,
    MAY_BE_SECRET,
    OldValue,
    WaitingOrder,
    find_old_value,
    first_clause,
    lasting_probability,
    read_orders,
    refuse_credential,
    settle,
    statements,
    waiting_orders,
)
from nuggets.interfaces.hooks.prompt_context import (
    changed_context,
    find_changed,
    find_requested_session,
    prompt_context,
    rank_memories,
    session_context,
)
from nuggets.interfaces.hooks.shown_memories import prompts_of, safe_line, shown_notes
from nuggets.interfaces.prompt_quoting import remove_fenced
from nuggets.language.languages import stems
from nuggets.language.text import estimate_tokens, fold_case, one_line, shorten, tokens
from nuggets.language.word_lists import idle_words, stances
from nuggets.named_tuple import NamedTuple
from nuggets.operations.session_notes import session_note_id

if TYPE_CHECKING:
    from nuggets.encoder.vector_index import NearestNotes
    from nuggets.shelf import NuggetShelf

    Compare = Callable[[str], NearestNotes | None]

# Ours. The diary is read for the notes of sessions, which quote less of a request.
DIARY_CHARACTERS = 600  # of a prompt
TITLE_CHARACTERS = 60  # of what is kept by order, without a title: a few words of it
TEXT_SHOWN = 120  # characters in a receipt, which a person reads beside the prompt
LINE_TOKENS = 60  # of the line that asks the model: it comes with many prompts
CANDIDATES = 3  # memories that it names, if there is room
TITLE_NAMED, TEXT_NAMED = 30, 60  # characters of each: three of them fill the line
ASK = "Memory: if this is lasting (rule, wish, fact, correction), store it"
ASK_OUTDATED = f"{ASK}; only then edit or supersede (edit_note) what no longer holds"
KEPT_ASK = "Memory: kept; supersede (edit_note) lasting notes only if they no longer hold"
SECRET_ASK = "Memory: not kept, it may hold a credential; if it holds none, store it (remember)."
FORGET_ASK = "Memory: lasting notes that the person may want forgotten"


class Say(Protocol):
    """Prints the answer: context for the agent, and a message to the person."""

    def __call__(self, context: str, message: str = "") -> None: ...

    def hold(self, context: str, message: str) -> None:
        """Print this if time runs out, or the write fails, before the answer."""

    def explain(self, line: str) -> None:
        """Tell whoever asked why (`--why`)."""


def answer_prompt(
    shelf: "NuggetShelf",
    event: Event,
    entries: list[dict[str, Any]],
    record: Callable[[dict[str, Any]], None],
    say: Say,
    compare: "Compare | None",
    orders: "Sequence[WaitingOrder] | None" = None,
) -> tuple[str, str]:
    """Context and message for a prompt. `entries`: of the session's diary; `record`: adds one;
    `compare`: what the encoder says of the prompt, if there is one; `orders`: those that wait,
    with the prompt's own, if they are known."""
    if orders is None:
        own = map(refuse_credential, read_orders(event.prompt))
        orders = [WaitingOrder(order, "", "") for order in own]
    done = obey(shelf, orders)
    receipts = [receipt for one in done for receipt in one.receipts]
    said = frozenset(one.kept for one in done)
    say.hold("", "\n".join(receipts))

    def hold(context: str) -> None:
        say.hold(context, "\n".join(receipts))

    context, entry = _user_prompt(shelf, event, entries, compare, hold, said, counts=not receipts)
    asked = [one.asked for one in done] if orders else [ask_model(shelf, event.prompt)]
    record(entry)
    if receipts:  # the person said it in this session: nobody has to be told that it changed
        record({"shown": list(shown_notes([*entries, entry])), "at": times.now()})
    context = "\n".join(filter(None, [context, *asked]))
    return context, "\n".join([*receipts, *news(shelf)])


def _user_prompt(
    shelf: "NuggetShelf",
    event: Event,
    entries: list[dict[str, Any]],
    compare: "Compare | None",
    hold: Callable[[str], None],
    said: frozenset[str],
    *,
    counts: bool,
) -> tuple[str, dict[str, Any]]:
    """The context, and the entry of the diary. `said`: facts that the prompt itself states anew.
    `counts`: whether a note may count as recalled; an order asks for none."""
    now = times.now()
    own = remove_fenced(event.prompt[:PROMPT_CHARACTERS]).strip()
    shown = shown_notes(entries)
    session = event.session if counts else ""
    own_id, is_first = session_note_id(event.session), not prompts_of(entries)
    with shelf.snapshot():
        text, ids = prompt_context(shelf, own, said | frozenset(shown), session, compare, hold)
        changed = find_changed(shelf, {i: at for i, at in shown.items() if at})
        earlier = find_requested_session(shelf, own, own_id, is_first=is_first)
    if changed:
        text = "\n".join(filter(None, [changed_context(changed), text]))
        ids += [memory.was.id for memory in changed]
    if earlier is not None and earlier.id not in shown:
        text = "\n".join(filter(None, [session_context(earlier), text]))
        ids.append(earlier.id)
    return text, {"prompt": safe_line(own, DIARY_CHARACTERS), "shown": ids, "at": now}


def news(shelf: "NuggetShelf") -> list[str]:
    """How the repository was recognized, and of a server that it is away, and what waits for it or
    was refused."""
    told = list(shelf.warnings) if shelf.server else []
    if shelf.recognition is not None:
        from nuggets.interfaces import explain_recognition

        told.insert(0, explain_recognition(shelf.recognition))
    return [f"Nuggets: {line}" for line in told]


# --- orders and statements ------------------------------------------------------------------------


class Done(NamedTuple):
    """What became of an order."""

    receipts: tuple[str, ...] = ()
    kept: str = ""  # the id of what is stored
    asked: str = ""  # what is left to the agent's model


def obey(shelf: "NuggetShelf", waiting: Sequence[WaitingOrder]) -> list[Done]:
    """Carry the orders out."""
    done = []
    for one in waiting:
        done.append(_obey(shelf, one))
        settle(one)
    return done


def take_in_waiting(shelf: "NuggetShelf", directory: str) -> list[str]:
    """Carry out what earlier hooks had no time for; a receipt for each."""
    return [text for done in obey(shelf, waiting_orders(directory)) for text in done.receipts]


def _obey(shelf: "NuggetShelf", waiting: WaitingOrder) -> Done:
    order = waiting.order
    if order.refusal:
        asked = SECRET_ASK if order.refusal == MAY_BE_SECRET else ""
        return _refuse(order.refusal)._replace(asked=asked)
    if order.kind == "forget":
        return _forget(shelf, order.text)
    meant, others = _find_outdated(shelf, find_old_value(order.text))
    if len(meant) == 1:
        return _keep(shelf, order.text, waiting.folder, meant[0])
    done = _keep(shelf, order.text, waiting.folder, None)
    return done._replace(asked=_line(KEPT_ASK, [*meant, *others])) if done.kept else done


def _keep(shelf: "NuggetShelf", text: str, folder: str, old: MemoryNote | None) -> Done:
    """Store a text. A fact that it replaces keeps its key, unless that is the sentence that no
    longer holds; such a fact and a note are superseded."""
    from nuggets.operations.metadata_inference import is_personal  # few prompts store something

    here = shelf.project_of(folder) if folder else shelf.project
    project = "" if is_personal(text) else here
    title, nugget, supersedes = title_of(text), "prefs", {}
    if old is not None:
        project = old.project
        if old.kind == "fact" and old.title != title_of(old.content):
            title, nugget = old.title, old.nugget_name
        else:
            supersedes = {"supersedes": old.id}
    try:
        kept = shelf.remember(
            nugget,
            title,
            text,
            scope="project" if project else "user",
            project=project,  # else a rule could replace a personal preference
            source="explicit_user",
            stability="durable",
            **supersedes,  # type: ignore[arg-type]
        )
    except (RefusedText, InvalidInput) as problem:
        return _refuse(str(problem).partition(" and ")[0])
    before = one_line(old.content, TEXT_SHOWN) if old else kept.replaced_content
    replaced = f" (replaces: {one_line(before, TEXT_SHOWN)})" if before else ""
    receipts = [f"Nuggets: kept: {one_line(text, TEXT_SHOWN)}{replaced}{_undo(shelf)}"]
    receipts += (
        f"Nuggets: it contradicts: {one_line(other.content, TEXT_SHOWN)} · if only the new one "
        f"holds: nuggets note edit {kept.id} --supersedes {other.id}"
        for other in kept.contradicts
    )
    return Done(tuple(receipts), kept.id)


def title_of(text: str) -> str:
    """A title from a sentence, or from the items of a list: the beginning, up to a whole word."""
    lines = (" ".join(line.split()).lstrip("-*• ") for line in text.splitlines())
    flat = ", ".join(filter(None, lines)).strip(" .!;:,")
    short = shorten(flat, TITLE_CHARACTERS)
    return short[:1].upper() + short[1:]


def _find_outdated(
    shelf: "NuggetShelf", stated: OldValue | None
) -> tuple[list[MemoryNote], list[MemoryNote]]:
    """The memories that have the value of which a statement says that it no longer holds: those
    whose subject it names too, and the others."""
    if stated is None:
        return [], []
    near = _find_near(shelf, stated.statement, stated.old)
    having = [note for note in near if says(note, stated.old)]
    meant = [note for note in having if _names_subject(stated, note)]
    return meant, [note for note in having if note not in meant]


def _names_subject(stated: OldValue, note: MemoryNote) -> bool:
    """Does a statement name what the title says beside the old value? A number is that of many
    things, so all of it."""
    said, old, title = (
        set(stems(telling_words(text))) for text in (stated.statement, stated.old, note.title)
    )
    subject = title - old
    if stated.old[:1].isdigit():
        return bool(subject) and subject <= said
    return not subject.isdisjoint(said)


def _find_near(shelf: "NuggetShelf", *texts: str) -> list[MemoryNote]:
    """Memories that share words with the texts, the likeliest first."""
    found = [one.note for text in texts for one in rank_memories(shelf, text)]
    return list({note.id: note for note in found}.values())


def _forget(shelf: "NuggetShelf", what: str) -> Done:
    """Archive the one memory that is named, if nothing else is said; else ask the model."""
    named = [note for note in _find_near(shelf, what) if _is_named(what, note)]
    if len(named) != 1:
        meant = named or meant_to_forget(shelf, first_clause(what))
        how = "which memory is meant is not plain" if meant else "memory has nothing on it"
        receipt = f"Nuggets: not forgotten: {how}: {one_line(what, TEXT_SHOWN)}"
        return Done((receipt,), asked=_line(FORGET_ASK, meant))
    shelf.delete_note(named[0].id)
    text = one_line(f"{named[0].title}: {named[0].content}", TEXT_SHOWN)
    return Done((f"Nuggets: archived: {text}{_undo(shelf)}",))


def _is_named(what: str, note: MemoryNote) -> bool:
    """Is it the memory's title, or its text, or both, with no other word than an article and the
    name of its nugget? "The barn paint for now" is not only the `barn paint`."""
    said, nugget, title, content = (
        stems(map(fold_case, tokens(text)))
        for text in (what, note.nugget_name, note.title, note.content)
    )
    named = [title, content, [*title, *content]]
    named += [[*nugget, *terms] for terms in named]
    has_article = not (idle_words() - stances()["negations"]).isdisjoint(said[:1])
    return said in named or (has_article and said[1:] in named)


def meant_to_forget(shelf: "NuggetShelf", what: str) -> list[MemoryNote]:
    """The memories that the words may mean: one whose title is said, or those that have most."""
    near = _find_near(shelf, what)
    said = set(telling_words(what))
    titled = [note for note in near if said.issuperset(telling_words(note.title) or [""])]
    if len(titled) == 1:
        return titled
    near = titled or near
    shares = shares_said(what, near)
    return [note for note, share in zip(near, shares, strict=True) if 0 < share == max(shares)]


def ask_model(shelf: "NuggetShelf", prompt: str) -> str:
    """The line that leaves it to the model whether a prompt states something lasting, with the
    memories that may then no longer hold; "" if nothing speaks for it."""
    text = " ".join(statements(prompt))
    if not text:
        return ""
    stated = find_old_value(prompt)
    if not stated and lasting_probability(prompt, 1.0) < LEAST_LASTING:
        return ""  # whatever memory has on it
    near = rank_memories(shelf, text)
    about = near[0].probability if near else 0.0
    meant, others = _find_outdated(shelf, stated)
    if not (meant or others) and lasting_probability(prompt, about) < LEAST_LASTING:
        return ""
    notes = {note.id: note for note in (*meant, *others, *(one.note for one in near))}
    return _line(ASK_OUTDATED, notes.values()) or f"{ASK}."


def _line(ask: str, notes: Iterable[MemoryNote]) -> str:
    """The question with as many memories as there is room for, the first ones with their texts; ""
    if there is none."""
    some = list(islice(notes, CANDIDATES))
    names = [f"{note.id} {safe_line(note.title, TITLE_NAMED)}" for note in some]
    texts = [f": {safe_line(note.content, TEXT_NAMED)}" for note in some]
    for count in range(len(names), 0, -1):
        for told in range(count, -1, -1):
            named = map(str.__add__, names[:count], texts[:told] + [""] * count)
            line = f"{ask}: {', '.join(named)}."
            if estimate_tokens(line) <= LINE_TOKENS:
                return line
    return ""


def _refuse(reason: str) -> Done:
    insist = " --allow-secret" if "credential" in reason else ""
    return Done((f"Nuggets: not kept: {reason}. `nuggets remember{insist}` keeps it.",))


def _undo(shelf: "NuggetShelf") -> str:
    return f" · nuggets undo {shelf.own_revision}" if shelf.own_revision else ""
