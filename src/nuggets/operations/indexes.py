"""The indexes over a shelf's notes, as every store makes them."""

from typing import TYPE_CHECKING

from nuggets import encoder
from nuggets.domain.sql_interface import Database
from nuggets.domain.state import State
from nuggets.facts import schema as fact_schema
from nuggets.search.search_index import TABLES as SEARCH_TABLES
from nuggets.search.search_index import SearchIndex
from nuggets.stores.sql.schema import IndexKind

if TYPE_CHECKING:
    from nuggets.encoder.vector_index import VectorIndex
    from nuggets.facts.fact_index import FactIndex


def _facts(database: Database, state: State) -> "FactIndex":
    from nuggets.facts.fact_index import FactIndex

    return FactIndex(database, state.notes.many, lambda: state.nuggets)


def _search(database: Database, state: State) -> SearchIndex:
    return SearchIndex(database, state.notes.many, state.notes.values)


def _vectors(database: Database, state: State) -> "VectorIndex":
    from nuggets.encoder.vector_index import VectorIndex

    return VectorIndex(database, state.notes.many, state.notes.values)


KINDS = (
    IndexKind("fact", fact_schema.FORMAT, fact_schema.TABLES, _facts),
    IndexKind("search", SearchIndex.FORMAT, SEARCH_TABLES, _search),
    IndexKind("encoder", encoder.FORMAT, encoder.TABLES, _vectors, optional=True),
)
