"""Storms of edits on a shelf and in its vault at once; and what of the edits is left at the end."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from fault_pair import Edits
from nuggets import NuggetShelf


def files_of(vault: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in vault.rglob("*.md")}


class VaultEdits(Edits):
    """Edits of files, beside those of the shelf."""

    def edit_file(self, vault: Path) -> None:
        before = self._texts_in(vault)
        self._edit_file(vault)
        left = self._texts_in(vault)
        self.replaced.update(before - left)
        self.texts.update(left)

    def _texts_in(self, vault: Path) -> set[str]:
        lines = (text.decode().splitlines() for text in files_of(vault).values())
        return {line for file in lines for line in file if line.endswith("of the storm")}

    def _edit_file(self, vault: Path) -> None:
        paths = sorted(vault.rglob("*.md"))
        kinds = ("new", "edit", "field", "tag", "link", "rename", "delete")
        kind = self.chance.choices(kinds, (3, 12, 2, 2, 2, 2, 1))[0]
        if kind == "new" or len(paths) < 3:
            (vault / f"Idea {self.chance.randrange(10**9)}.md").write_text(self.new_text())
            return
        path, other = self.chance.sample(paths, 2)
        lines = path.read_text().split("\n")
        text = next((line for line in lines if line.endswith("of the storm")), None)
        if kind == "edit" and text is not None:
            lines[lines.index(text)] = self.new_text()
        elif kind == "field" and lines[0] == "---":
            lines.insert(1, f"rating{self.chance.randrange(10**9)}: {self.chance.randrange(9)}")
        elif kind == "tag" and "tags:" in lines:
            lines.insert(lines.index("tags:") + 1, f"  - t{self.chance.randrange(9)}")
        elif kind == "link":
            if "## Links" not in lines:
                lines += ["", "## Links", ""]
            lines.append(f"- [[{other.stem}]]: reason {self.chance.randrange(3)}")
        elif kind == "rename":
            os.rename(path, path.with_name(f"Called {self.chance.randrange(10**9)}.md"))
            return
        elif kind == "delete":
            path.unlink()
            return
        path.write_text("\n".join(lines))


def vault_storm(work: Path, edits: int, seed: int) -> Iterator[str]:
    """Edit notes and their files in turns that nobody planned, and let both sides meet."""
    vault = work / "vault"
    storm, shelf = VaultEdits(seed), NuggetShelf(work / "shelf", project="")
    for number in range(30):  # of fewer files, two that are gone would be too many to be believed
        shelf.create_note("storm", f"First {number}", storm.new_text())
    shelf.vault(vault)
    start = time.perf_counter()
    for _ in range(edits):
        if storm.chance.random() < 0.5:
            storm.edit(shelf)
        else:
            storm.edit_file(vault)
        if storm.chance.random() < 0.2:
            done = shelf.vault(vault)
            assert not done.problems, done.problems
    for _ in range(2):
        done = shelf.vault(vault)
        assert not done.problems, done.problems
    before = files_of(vault)
    again = shelf.vault(vault)
    assert (again.written, again.deleted, again.updated) == ((), (), ()), "it never comes to rest"
    assert files_of(vault) == before
    assert len(before) == len(shelf.list_notes())
    lost = storm.lost_in(shelf)
    assert not lost, f"{len(lost)} of {len(storm.texts)} texts are lost: {sorted(lost)[:3]}"
    assert not shelf.checkup()
    conflicts = sum("conflict" in note.tags for note in shelf.list_notes())
    yield (
        f"{edits} edits on a shelf and in its vault: 0 of {len(storm.texts)} texts lost, "
        f"{conflicts} kept side by side, {time.perf_counter() - start:.0f} s"
    )
    shelf.close()
