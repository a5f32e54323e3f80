"""The indexes over a shelf's notes, as every store makes them."""

from typing import TYPE_CHECKING

from nuggets import meaning
from nuggets.domain.sql_interface import Database
from nuggets.domain.state import State
from nuggets.facts import schema as fact_schema
from nuggets.search.index import schema as search_schema
from nuggets.search.search_index import SearchIndex
from nuggets.stores.sql.schema import IndexKind

if TYPE_CHECKING:
    from nuggets.facts.fact_index import FactIndex
    from nuggets.meaning.vector_index import VectorIndex


def _facts(database: Database, state: State) -> "FactIndex":
    from nuggets.facts.fact_index import FactIndex

    return FactIndex(database, state.notes.many, lambda: state.nuggets)


def _search(database: Database, state: State) -> SearchIndex:
    return SearchIndex(database, state.notes.many, state.notes.values)


def _meaning(database: Database, state: State) -> "VectorIndex":
    from nuggets.meaning.vector_index import VectorIndex

    return VectorIndex(database, state.notes.many, state.notes.values)


KINDS = (
    IndexKind("fact", fact_schema.FORMAT, fact_schema.TABLES, _facts),
    IndexKind("search", SearchIndex.FORMAT, search_schema.TABLES, _search),
    IndexKind("meaning", meaning.FORMAT, meaning.TABLES, _meaning, optional=True),
)
