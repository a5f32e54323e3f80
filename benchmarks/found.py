"""How often search finds a note by some of its words, among many notes, beside SQLite FTS5.

    python -m benchmarks.found [--notes 60000] [--questions 300]

The notes are paragraphs of the texts that this machine has (manuals, the documentation and the
source of Python packages), in any order. A question is two to five different words of one of them,
as someone asks who remembers the words of a note; that note must be among the first ten. FTS5:
porter, the words joined by OR, ordered by bm25.
"""

import argparse
import glob
import gzip
import os
import random
import re
import sqlite3
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Iterator

from benchmarks.families import MANUALS, _plain
from nuggets.language.word_lists import stop_words
from nuggets.shelf import NuggetShelf

Text = tuple[str, str]  # title and content
SHORTEST, LONGEST = 250, 1200  # letters of a paragraph
LETTERS = 0.75  # of a paragraph that are letters and blanks: no tables, no code
TYPES = (".py", ".md", ".rst", ".txt", ".html")
MOST_READ = 400_000  # letters of a file
DEPTH = 10
BATCH = 5_000


def paragraphs() -> Iterator[Text]:
    for path in sorted(glob.glob(MANUALS)):
        with gzip.open(path, "rt", encoding="utf-8", errors="ignore") as file:
            for part in re.split(r"(?m)^\.(?:PP|P|Pp|LP|TP|IP|SS|SH|Sh|It).*$", file.read()):
                yield os.path.basename(path).removesuffix(".gz"), _plain(part)
    for root in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), "/usr/share/doc"):
        for directory, _, names in sorted(os.walk(root)):
            for name in sorted(names):
                if name.endswith(TYPES):
                    path = os.path.join(directory, name)
                    with open(path, encoding="utf-8", errors="ignore") as file:
                        for part in re.split(r"\n\s*\n", file.read(MOST_READ)):
                            yield name, " ".join(part.split())


def texts(most: int) -> list[Text]:
    """Different ones, in any order; their titles differ by a number."""
    made: dict[str, str] = {}
    for title, text in paragraphs():
        letters = sum(sign.isalpha() or sign == " " for sign in text)
        if SHORTEST <= len(text) <= LONGEST and letters > LETTERS * len(text):
            made[text] = title
    listed = list(made.items())
    random.Random(1).shuffle(listed)
    return [(f"{title} {number}", text) for number, (text, title) in enumerate(listed[:most])]


def questions(notes: list[Text], count: int) -> list[tuple[int, str]]:
    """The number of a note, and what is asked."""
    rng, stopped, asked = random.Random(7), stop_words(), []
    for number in rng.sample(range(len(notes)), count):
        words = [word.lower() for word in re.findall(r"[A-Za-z]{3,}", notes[number][1])]
        telling = [word for word in dict.fromkeys(words) if word not in stopped]
        if len(telling) > DEPTH // 2:
            asked.append((number, " ".join(rng.sample(telling, rng.randint(2, 5)))))
    return asked


def full_text(notes: list[Text]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.execute("CREATE VIRTUAL TABLE notes USING fts5(title, content, tokenize='porter')")
    database.execute("BEGIN")
    database.executemany("INSERT INTO notes VALUES (?, ?)", notes)
    database.execute("COMMIT")
    return database


def measure(notes: list[Text], asked: list[tuple[int, str]]) -> Iterator[str]:
    """Lines to be printed."""
    sql = "SELECT title FROM notes WHERE notes MATCH ? ORDER BY bm25(notes) LIMIT ?"
    database, found = full_text(notes), {"search": 0, "FTS5": 0}
    taken: dict[str, list[float]] = {name: [] for name in found}
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
        NuggetShelf(place, project="") as shelf,
    ):
        for start in range(0, len(notes), BATCH):
            with shelf.batch():
                for title, content in notes[start : start + BATCH]:
                    shelf.create_note("found", title, content)
        for number, question in asked:
            began = time.thread_time()
            results = shelf.search_notes(question, limit=DEPTH, session=None)
            between = time.thread_time()
            words = " OR ".join(f'"{word}"' for word in question.split())
            rows = database.execute(sql, (words, DEPTH)).fetchall()
            title = notes[number][0]
            taken["search"].append(between - began)
            taken["FTS5"].append(time.thread_time() - between)
            found["search"] += title in (result.note.title for result in results)
            found["FTS5"] += (title,) in rows
    for name, count in found.items():
        middle = statistics.median(taken[name]) * 1e3
        yield f"{name:8}{count} of {len(asked)} among {len(notes):,} notes, p50 {middle:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=60_000)
    parser.add_argument("--questions", type=int, default=300)
    given = parser.parse_args()
    notes = texts(given.notes)
    for line in measure(notes, questions(notes, given.questions)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
