"""Which memory files there are, what we wrote into each, and promotion to them."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from nuggets import memory_file
from nuggets.errors import NotFound, NuggetsError
from nuggets.promotion import Promotion, Written, merged_text, stands_in, tells_of
from nuggets.records import Changes, MemoryNote
from nuggets.state import Notes, merged_into
from nuggets.transactions import Transactions

MARK = "memory_file:"  # and its path: what we wrote there


class MemoryFiles:
    """The memory files of all projects of one shelf."""

    def __init__(
        self,
        transactions: Transactions,
        *,
        told: bool,
        project: str,
        here: Callable[[], str],
        client: str,
    ) -> None:
        """`told`: a setting names one file for all; `here`: the file of this place."""
        self._transactions = transactions
        self._told = told
        self._project = project
        self._here = here
        self._client = client

    def promoted(self, path: str, project: str, dry_run: bool) -> Promotion:
        """What promotion makes of one file."""
        transactions, mark = self._transactions, f"{MARK}{path}"

        def merge(text: str, notes: Mapping[str, MemoryNote]) -> tuple[str, Promotion]:
            done = merged_text(text, notes, self.record_of(path), project)
            return done.text, done

        if dry_run:
            with transactions.reading() as view:  # all notes: each is told why, or why not
                return merge(memory_file.read(path), dict(view.state.notes.items()))[1]
        with transactions.alone() as state:
            notes = self._concerned(state.notes, self.record_of(path))
            done = memory_file.rewrite(path, lambda text: merge(text, notes))
            record = {"project": project, "written": done.written.to_json()}
            if transactions.state.marks.get(mark) != record:
                changes = Changes(marks={mark: record}, action="promote", client=self._client)
                transactions.write(changes)
            return done

    def _concerned(self, notes: Notes, known: Written) -> dict[str, MemoryNote]:
        """The notes that may be in a file: those that were ever recalled, those that we wrote
        there, and what those were merged into."""
        found = {note.id: note for note in notes.recalled(1)}
        found.update(notes.many(i for i in known.entries if i not in found))
        into = {target for note in found.values() for target in merged_into(note)}
        return {**found, **notes.many(into - found.keys())}

    def promote_to(self, files: Mapping[str, str]) -> tuple[int, list[NuggetsError]]:
        """How many entries are new, and what went wrong: no file holds up the others.

        A file that we never wrote is begun when there is something to write; one that a person
        took away stays away, unless it is where memory belongs.
        """
        count, problems, known, standing = 0, [], self.written(), self._standing()
        for path, project in files.items():
            exists = os.path.isdir(os.path.dirname(os.path.dirname(path)))  # still, its project
            if exists and (path in standing or not self._was_taken_away(path)):
                try:
                    if path in known or self.promoted(path, project, dry_run=True).new_count:
                        count += self.promoted(path, project, dry_run=False).new_count
                except NuggetsError as problem:
                    problems.append(problem)
        return count, problems

    def record_of(self, path: str) -> Written:
        """What we wrote into a memory file."""
        known = self._transactions.state.marks.get(f"{MARK}{path}") or {}
        return Written.from_json(known.get("written"))

    def stands_in(self, path: str, note_id: str) -> bool:
        """Whether our line of a note is in the file itself: the record does not know what people
        did to it since."""
        with suppress(NuggetsError):  # whoever writes there will tell
            return stands_in(memory_file.read(path), note_id, self.record_of(path))
        return False

    def _was_taken_away(self, path: str) -> bool:
        """Whether we wrote there and the file is gone."""
        return self.record_of(path) != Written() and not os.path.lexists(path)

    def written(self) -> dict[str, str]:
        """Path and project of each memory file that we ever wrote."""
        with self._transactions.reading() as view:
            return {
                mark.removeprefix(MARK): record["project"]
                for mark, record in view.state.marks.items()
                if mark.startswith(MARK)
            }

    def everywhere(self) -> dict[str, str]:
        """The same, with those that there ought to be."""
        return {**self._standing(), **self.written()}

    def _standing(self) -> dict[str, str]:
        """The files that this place and the other projects have; where all is told to go into one
        file, others have none."""
        files: dict[str, str] = {}
        with suppress(NotFound):
            files[self._here()] = self._project
        if not self._told:
            with self._transactions.reading() as view:
                projects = view.state.notes.projects()
            for project in projects:
                with suppress(NotFound):
                    files.setdefault(memory_file.located("", project), project)
        return files

    def telling_of(self, versions: Sequence[MemoryNote]) -> list[str]:
        """Files that tell of what a note ever was, in lines that are not ours."""
        found = []
        for path in self.everywhere():
            memory_file.sweep(path)
            with suppress(NuggetsError):  # of a file that we wrote, promotion has told
                if tells_of(memory_file.read(path), versions, self.record_of(path)):
                    found.append(path)
        return found

    def moved(self, old: str, new: str) -> dict[str, Any]:
        """The marks that change when a project moves: files that it was told to use go along, and
        what the host's file of the old place is known by holds for that of the new one."""
        marks = self._transactions.state.marks
        moved = {
            f"{MARK}{path}": {**marks[f"{MARK}{path}"], "project": new}
            for path, project in self.written().items()
            if project == old
        }
        host = moved.pop(f"{MARK}{memory_file.of_host(old)}", None)
        path = memory_file.of_host(new)
        if host and path and f"{MARK}{path}" not in marks:
            written = Written.from_json(host["written"]).moved_to(memory_file.read(path))
            moved[f"{MARK}{path}"] = {"project": new, "written": written.to_json()}
        return moved
