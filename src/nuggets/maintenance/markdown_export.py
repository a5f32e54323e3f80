"""A note as a Markdown file: front matter, content, and links to the files of other notes.

File names are valid on every file system and never lead out of the directory.
"""

from collections.abc import Iterable

from nuggets.domain.codec import dumps
from nuggets.domain.records import MemoryNote
from nuggets.language.text import fold_case

_LONGEST_NAME = 80  # characters; below the limit of 255 bytes even with letters of several bytes
_REFUSED_CHARACTERS = set('<>:"/\\|?*#^[]') | {chr(code) for code in (*range(32), 127)}
_RESERVED_NAMES = {"con", "prn", "aux", "nul"} | {
    f"{n}{i}" for n in ("com", "lpt") for i in range(10)
}
_TAIL = 8  # characters at the end of an id, used when two notes have one title


class Names(dict[str, str]):
    """The file name of each note id: `<nugget>/<title>`, unique also if case is ignored."""

    def __init__(self, notes: Iterable[tuple[str, str, str]]) -> None:
        """`notes`: id, nugget and title of each."""
        super().__init__()
        taken: set[str] = set()
        for note_id, nugget, title in notes:
            name = f"{safe_name(nugget)}/{safe_name(title)}"
            if fold_case(name) in taken:
                name = f"{name} {safe_name(note_id[-_TAIL:])}"
            number = 2
            while fold_case(name) in taken:
                name, number = f"{name} {number}", number + 1
            taken.add(fold_case(name))
            self[note_id] = name


def safe_name(text: str) -> str:
    """A valid file name for a title."""
    plain = "".join(
        " " if sign in _REFUSED_CHARACTERS or not sign.isprintable() else sign for sign in text
    )
    name = " ".join(plain.split())[:_LONGEST_NAME].strip(" .")
    if not name or fold_case(name).partition(".")[0] in _RESERVED_NAMES:
        name = f"note {name}".strip()
    while len(name.encode(errors="replace")) > 3 * _LONGEST_NAME:
        name = name[:-1].rstrip()
    return name


def text_of(note: MemoryNote, names: Names) -> str:
    """The text of the whole file."""
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
    """Lines of YAML, in which JSON values are valid."""
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
