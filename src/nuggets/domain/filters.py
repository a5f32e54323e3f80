"""Which notes a listing or a search may show. Knows no ranking."""

from collections.abc import Mapping
from typing import Any

from nuggets.domain.records import MemoryNote, NoteFilterOptions
from nuggets.domain.tags import normal_tag
from nuggets.errors import InvalidInput
from nuggets.language.text import fold_case

_NO_FILTERS = NoteFilterOptions()


def combine_filters(filters: NoteFilterOptions, wanted: Mapping[str, Any]) -> NoteFilterOptions:
    """The filters with those given by name, checked and in written form."""
    if not isinstance(filters, NoteFilterOptions):
        raise InvalidInput(f"filters are NoteFilterOptions, or given by name; not {filters!r:.80}")
    unknown = wanted.keys() - set(NoteFilterOptions._fields)
    if unknown:
        raise InvalidInput(
            f"there is no filter called {', '.join(sorted(unknown))}; "
            f"there are: {', '.join(NoteFilterOptions._fields)}"
        )
    return checked_filters(filters._replace(**wanted))


def checked_filters(filters: NoteFilterOptions) -> NoteFilterOptions:
    """The filters, with tags in normal form; an unknown value is refused, because it would match
    nothing."""
    if filters != _NO_FILTERS:
        from nuggets.domain.type_check import check_fields  # most questions have no filter

        check_fields(filters._asdict(), NoteFilterOptions)
    return filters if filters.tag is None else filters._replace(tag=normal_tag(filters.tag))


def matches(note: MemoryNote, filters: NoteFilterOptions) -> bool:
    """Whether the note meets all that is asked."""
    return (
        (filters.include_hidden or not note.hidden)
        and filters.subject in (None, note.subject)
        and filters.scope in (None, note.scope)
        and filters.type in (None, note.type)
        and filters.kind in (None, note.kind)
        and (filters.nugget is None or fold_case(filters.nugget) == fold_case(note.nugget_name))
        and (filters.tag is None or filters.tag in note.tags)
    )
