"""Notes that are analyzed together have the same terms, words and lengths as one by one."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggets.domain.records import MemoryNote
from nuggets.language.word_lists import ENGLISH
from nuggets.search.index import bulk_analysis, index_writer, segment_builder
from nuggets.search.index.bulk_analysis import NoteColumns, analyze_together
from nuggets.search.index.note_analyzer import Analysis, analyze, lexicon_of
from nuggets.search.index.schema import NAMES
from object_counts import count_held
from searchable import index_of, note

CONTENTS = (
    "",
    "The invoices are sent on 3 March 2024, and on 2024-05-06 nobody looked. May I?",
    "Das Haus und der Garten sind nicht groß, aber wir gehen mit dem Hund.",
    "Je ne sais pas où est la voiture, mais elle est dans la rue.",
    "os.path.join and e-mail: one foreign word is no evidence, the rest is English",
    "HTTPServer get_user_name can't rs256 v2 O'Brien's café naïve 東京に行きました",
    "again " * 40 + "the the the of of",
    "12 12 2024 1999 3.14",
    "yesterday the deploy failed; next week we try again",
    "hunting hunts hunted hunter the hunt",
)
TITLES = ("Invoices of May", "the", "hunting hunting hunting hunting", "Ablauf und Garten")
TAGS = ("hunting", "area-7", "März", "the")


def notes_of(contents: list[str]) -> list[MemoryNote]:
    return [
        note(n, TITLES[n % len(TITLES)], content, TAGS[n % 3], TAGS[n % 4])._replace(
            scope="user" if n % 2 else "self"
        )
        for n, content in enumerate(contents)
    ]


def singly(columns: NoteColumns) -> list[Analysis]:
    """What the columns say of each note, without its words."""
    analyses, start = [], 0
    for analysis, size in zip(columns.analyses, columns.sizes.tolist(), strict=True):
        end = start + size
        numbers, codes = columns.numbers[start:end].tolist(), columns.codes[start:end].tolist()
        pairs = zip((columns.terms[number] for number in numbers), codes, strict=True)
        analyses.append(analysis._replace(terms=dict(pairs), words={}))
        start = end
    return analyses


def check(notes: list[MemoryNote]) -> None:
    columns, expected = analyze_together(notes), [analyze(one) for one in notes]
    assert singly(columns) == [analysis._replace(words={}) for analysis in expected]
    words: dict[int, Counter[str]] = {}
    for analysis in expected:
        words.setdefault(analysis.language, Counter()).update(analysis.words)
    assert {language: +counts for language, counts in columns.words.items() if +counts} == {
        language: counts for language, counts in words.items() if counts
    }
    assert set(columns.terms) == {term for analysis in expected for term in analysis.terms}


def test_dates_languages_stop_words_numbers_and_identifiers_are_read_alike() -> None:
    check(notes_of([first + second for first in CONTENTS for second in CONTENTS[::3]]))


def test_no_note_and_one_note_are_enough() -> None:
    check([])
    check(notes_of([""]))


def test_tokens_that_a_process_forgot_are_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_analysis, "MOST_TOKENS", 3)
    for contents in (CONTENTS[:5], CONTENTS[5:], CONTENTS[:5]):
        check(notes_of(list(contents)))


@pytest.mark.parametrize(
    "rare", ["4711{n}", "build4711{n}b", "v4711_{n}", "Xy" * 300 + "{letters}"]
)
def test_numbers_and_very_long_tokens_are_not_remembered(rare: str) -> None:
    """Hardly any of them comes again, and a process that lives for weeks meets very many."""

    def read(first: int) -> int:
        for n in range(first, first + 20):
            letters = "".join("abcdefghij"[int(digit)] for digit in str(n))
            analyze(notes_of([f"the Deploy takes {rare.format(n=n, letters=letters)} minutes"])[0])
        return count_held(lexicon_of(ENGLISH))

    early = read(1000)

    assert read(2000) == early


def test_long_tokens_of_many_notes_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_analysis, "MOST_CHARACTERS", 3000, raising=False)

    for n in range(40):
        check(notes_of([f"one {'w' * 300}{n}", f"two {n}"]))

    assert sum(map(len, bulk_analysis.token_table().tokens)) < 5000


@given(st.lists(st.text(), max_size=6))
def test_any_text_is_read_alike(contents: list[str]) -> None:
    check(notes_of(contents))


def test_all_tables_are_the_same_however_many_notes_are_analyzed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index_writer, "RECENT", 8)
    notes = [
        one._replace(hidden=n % 5 == 0)
        for n, one in enumerate(notes_of([a + b for a in CONTENTS for b in CONTENTS]))
    ]
    tables = []
    for limit, together, characters in ((10**9, 7, 10**9), (0, 30, 10**9), (0, 10**9, 500)):
        monkeypatch.setattr(segment_builder, "WORTH_NUMPY", limit)
        monkeypatch.setattr(index_writer, "NOTES_ANALYZED_TOGETHER", together)
        monkeypatch.setattr(index_writer, "CHARACTERS_TOGETHER", characters)
        shelf = index_of()
        shelf.put(*notes)
        shelf.put(*(one._replace(content=f"{one.content} changed") for one in notes[::2]))
        assert shelf.check_against(shelf.notes.values()) == []
        tables.append(
            {
                name: sorted(shelf.database.execute(f"SELECT * FROM {name}").fetchall())
                for name in NAMES
                if name != "search_statistics"  # a revision, which no two writes share
            }
        )

    assert tables[0] == tables[1] == tables[2]
