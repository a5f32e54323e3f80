"""Names of files that any system takes and that lead nowhere else."""

import os

from hypothesis import given
from hypothesis import strategies as st

from nuggets.language.text import fold_case
from nuggets.maintenance.export_and_backup import free_name, safe_name


@given(st.text(max_size=300))
def test_no_title_leads_out_of_its_directory_or_is_too_long(title: str) -> None:
    name = safe_name(title)

    assert name == os.path.basename(name)
    assert name not in ("", ".", "..")
    assert not name.startswith(".")
    assert len(f"{name} 12345678.md".encode(errors="replace")) <= 255
    assert name.isprintable()


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=30))
def test_no_two_notes_have_one_file_whatever_the_case(titles: list[tuple[str, str]]) -> None:
    names: list[str] = []
    for number, (folder, title) in enumerate(titles):
        taken = {fold_case(name) for name in names}
        names.append(free_name(safe_name(folder), f"note-{number:08x}", title, taken))

    assert len({name.casefold() for name in names}) == len(titles)


def test_reserved_and_empty_names_are_made_harmless() -> None:
    assert safe_name("CON") == "note CON"
    assert safe_name("../../etc/passwd") == "etc passwd"
    assert safe_name("...") == "note"
