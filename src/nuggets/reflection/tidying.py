"""What a pass does to one note alone: put it away, write it tidily, tag it. Knows no other."""

import re
from collections import Counter
from datetime import timedelta

from nuggets.graph.limits import TAG_CHARACTERS, TAGS
from nuggets.graph.metadata import content_tags, normal_tags, own_tags, scope_and_rest
from nuggets.graph.notes import archived, normal_content
from nuggets.records import MemoryNote
from nuggets.reflection.draft import Draft
from nuggets.reflection.outcome import Policy
from nuggets.reflection.vocabulary import all_tokens, function_words
from nuggets.text import is_unspaced, words
from nuggets.times import iso, parsed

WORTHLESS_CHARACTERS = 2  # so short, and never asked for: a slip of the hand
SHORTEST_TAG = 3  # characters: "of", "ts" and "v2" say nothing on their own
SAID_OFTEN = 2  # times: a word that the text says once is mostly a detail, not what it is about
ENOUGH = 2  # names; a note that has fewer is named by details, too
# Addresses, and words that say how, when or what to do, which no note is about.
_NO_TAGS_LISTED = """
http https www com org src
use used uses using via per never always first second last next left right one two every without
instead maybe also old new good bad best better big small long short many much few main
add ask call come do does find fix get give go goes went keep know leave let like look made make
makes mean move moved need needs put read run runs said say says see seen sent set show start
stop take tell think try want write writes written wrong how why what file
"""
_NO_TAGS = frozenset(_NO_TAGS_LISTED.split())
_PASSING = re.compile(r"(tmp|temp|scratch)\d*(?![^\W_])")  # whole words: Template is safe
# Programs that people note down commands of, without a prompt before them.
_COMMANDS = """
apt apt-get aws az brew bun bundle cargo cat cd chmod chown cmake composer conda cp curl deno dnf
docker docker-compose dotnet echo export flask fly gcloud gh git go gradle helm heroku java
journalctl kill kubectl ls make mkdir mv mvn mypy node npm npx php pip pip3 pipx pnpm podman poetry
psql pytest python python3 rails rm rsync ruff ruby scp sed sleep source ssh sudo systemctl tar
terraform tox uv vercel wget yarn
"""
# A prompt, a diff, a quotation, a row of cells, an option, a program: it may be there twice.
_NO_PROSE = re.compile(
    rf"[$>%+@|]|[-*](?!\s)|.*(\s\|\s|\t|\s--?\w)|({'|'.join(_COMMANDS.split())})(?!\S)"
)
_ENDED = re.compile(r"\w[.!?]$")
_BULLET = re.compile(r"([-*•]|\d+[.)])\s+")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")


def oldest_kept(now: str, policy: Policy) -> str:
    """The time before which a temporary memory must have been used to be put away now."""
    return iso(parsed(now) - timedelta(days=policy.temporary_days))


def is_stale(note: MemoryNote, cutoff: str) -> bool:
    """Whether it was not meant to last, and nobody used or changed it since."""
    used = max(note.last_accessed_at, note.updated_at)
    return note.stability == "temporary" and used < cutoff


def archive(draft: Draft, ids: list[str], policy: Policy) -> None:
    """Out of sight, not gone."""
    cutoff = oldest_kept(draft.now, policy)
    for note in draft.visible(ids):
        reason = why_worthless(note._replace(content=tidy(note)), cutoff)
        if reason and draft.may("hide", note.id):
            draft.put(archived(note, draft.now))
            draft.record("hide", note, f"archived {note.title!r:.80}: {reason}")


def rewrite(draft: Draft, ids: list[str]) -> None:
    """Contents in their tidy form; the words stay as they are."""
    for note in draft.visible(ids):
        content = tidy(note)
        if content == note.content or not draft.may("rewrite", note.id):
            continue
        draft.put(note._replace(content=content, updated_at=draft.now, last_rewritten_at=draft.now))
        draft.record("rewrite", note, f"content: {_difference(note.content, content)}")


def tag(draft: Draft, ids: list[str], policy: Policy) -> None:
    """Tags that follow from the note; what people tagged stays, what they take off stays off.

    So its own text gives a note tags when it is looked at for the first time, and never again.
    """
    for note in draft.visible(ids):
        is_first = note.last_inspected_at is None and draft.may("tag", note.id)
        found = _own_words(note, policy) if is_first else ()
        own = own_tags(note.tags, note.nugget_name)
        room = max(0, TAGS - len(own))
        added = [word for word in found if word not in own][:room]
        tags = normal_tags((*own, *added), note.nugget_name, note.scope, note.type)
        if tags == note.tags:
            continue
        new = [word for word in tags if word not in note.tags]
        draft.put(note._replace(tags=tags))
        draft.record("tag", note, f"tags added: {', '.join(new)}" if new else "tags put in order")


def why_worthless(note: MemoryNote, cutoff: str) -> str:
    """Why a note should be out of sight; "" for one that should not."""
    content = note.content.strip()
    if not content:
        return "it is empty"
    recalled = note.hits > 0
    if note.kind == "note" and len(content) <= WORTHLESS_CHARACTERS and not recalled:
        return "almost empty and never recalled"
    if not recalled and _PASSING.match(scope_and_rest(note.title)[1]):
        return "temporary by its title and never recalled"
    if is_stale(note, cutoff):
        return "temporary and not used for days"
    return ""


def tidy(note: MemoryNote) -> str:
    """Its content without trailing blanks, empty stretches and lines said twice.

    What a fact answers is left as it was remembered, line for line.
    """
    written = normal_content(note.content)
    return written if note.kind == "fact" else normal_content(_without_repetition(written))


def _without_repetition(content: str) -> str:
    """A line goes when the same line stands above it under the same heading.

    It stays where it may mean something else: in fenced code, indented (it belongs to what is
    above it), above something indented, or if it does not read as prose (a command, a row).
    """
    lines = content.split("\n")
    kept: list[str] = []
    said: set[str] = set()
    fence = ""
    for position, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and line.strip().strip(fence[0]) == ""
            fence = "" if closes and line.strip().startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif line.startswith("#") or line.endswith(":"):
            said.clear()
        elif _stands_alone(line, lines, position):
            if line in said:
                continue
            said.add(line)
        kept.append(line)
    return "\n".join(kept)


def _stands_alone(line: str, lines: list[str], position: int) -> bool:
    # in written form no two empty lines follow each other
    below = next((other for other in lines[position + 1 : position + 3] if other), "")
    return not line[:1].isspace() and not below[:1].isspace() and _is_prose(line)


def _is_prose(line: str) -> bool:
    """A sentence, or words that may be one; a single word may be a step, a bracket or a verse."""
    if _NO_PROSE.match(line):
        return False
    said = _BULLET.sub("", line, count=1)
    found = [word for word in said.split() if any(map(str.isalnum, word))]
    return len(found) > 1 or bool(found and (_ENDED.search(said) or is_unspaced(found[0])))


def _difference(before: str, after: str) -> str:
    gone = _filled(before) - _filled(after)
    if not gone:
        return "blanks and empty lines tidied"
    return f"{gone} repeated {'line' if gone == 1 else 'lines'} removed"


def _filled(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())


def _own_words(note: MemoryNote, policy: Policy) -> tuple[str, ...]:
    """What its content is, then the words that name it: the title's, frequent ones, any."""
    count = Counter(words(note.content))
    often = [word for word, times in count.most_common() if times >= SAID_OFTEN]
    taken = {*words(note.nugget_name), *function_words(all_tokens(f"{note.title}\n{note.content}"))}
    naming: list[str] = []
    telling = (*words(note.title), *often)
    for place, word in enumerate((*telling, *count)):
        if place >= len(telling) and len(naming) >= ENOUGH:
            break
        if _is_name(word) and word not in taken and not _is_there(word, naming):
            naming.append(word)
    return (*content_tags(note.content), *naming[: policy.tag_words])


def _is_there(word: str, chosen: list[str]) -> bool:
    """In this form or another: "carts" beside "cart" says nothing new."""
    return any(word.startswith(other) or other.startswith(word) for other in chosen)


def _is_name(word: str) -> bool:
    fits = SHORTEST_TAG <= len(word) <= TAG_CHARACTERS and word not in _NO_TAGS
    return fits and not any(map(str.isdigit, word)) and "_" not in word and not is_unspaced(word)
