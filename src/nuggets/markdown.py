"""A note as a Markdown file: front matter, the words, and links to the files of other notes.

Names are made so that any file system takes them, and none leads out of its directory.
"""

from collections.abc import Iterable

from nuggets.codec import dumps
from nuggets.records import MemoryNote
from nuggets.text import folded

_LONGEST = 80  # characters; with other letters still below the 255 bytes that systems take
_REFUSED = set('<>:"/\\|?*#^[]') | {chr(code) for code in (*range(32), 127)}
_RESERVED = {"con", "prn", "aux", "nul"} | {f"{n}{i}" for n in ("com", "lpt") for i in range(10)}
_TAIL = 8  # characters at the end of an id, which tell two notes apart


class Names(dict[str, str]):
    """Where each note stands, by its id: `<nugget>/<title>`, no two alike in any case."""

    def __init__(self, notes: Iterable[tuple[str, str, str]]) -> None:
        """`notes`: id, nugget and title of each."""
        super().__init__()
        taken: set[str] = set()
        for note_id, nugget, title in notes:
            name = f"{safe_name(nugget)}/{safe_name(title)}"
            if folded(name) in taken:
                name = f"{name} {safe_name(note_id[-_TAIL:])}"
            number = 2
            while folded(name) in taken:
                name, number = f"{name} {number}", number + 1
            taken.add(folded(name))
            self[note_id] = name


def safe_name(text: str) -> str:
    """A title as the name of a file."""
    plain = "".join(" " if sign in _REFUSED or not sign.isprintable() else sign for sign in text)
    name = " ".join(plain.split())[:_LONGEST].strip(" .")
    if not name or folded(name).partition(".")[0] in _RESERVED:
        name = f"note {name}".strip()
    while len(name.encode(errors="replace")) > 3 * _LONGEST:
        name = name[:-1].rstrip()
    return name


def text_of(note: MemoryNote, names: Names) -> str:
    """The whole file."""
    lines = ["---", *_front_matter(note), "---", "", f"# {' '.join(note.title.split())}", ""]
    lines += [note.content.rstrip("\n"), ""]
    linked = [link for link in note.links if link.to in names]
    if linked:
        lines += ["## Links", ""]
        for link in linked:
            reason = f": {' '.join(link.reason.split())}" if link.reason else ""
            lines.append(f"- [[{names[link.to]}]]{reason}")
        lines.append("")
    return "\n".join(lines)


def _front_matter(note: MemoryNote) -> list[str]:
    """YAML takes JSON values as they are."""
    fields = {
        "id": note.id,
        "nugget": note.nugget_name,
        "kind": note.kind,
        "tags": list(note.tags),
        "subject": note.subject,
        "scope": note.scope,
        "type": note.type,
        "source": note.source,
        "confidence": note.confidence,
        "stability": note.stability,
        "project": note.project,
        "hits": note.hits,
        "archived": note.hidden,
        "created": note.created_at,
        "updated": note.updated_at,
    }
    return [f"{name}: {dumps(value)}" for name, value in fields.items()]
