"""The indexes over a shelf's notes, as every store makes them."""

from nuggets.facts import schema as fact_schema
from nuggets.facts.index import FactIndex
from nuggets.search import schema as search_schema
from nuggets.search.index import SearchIndex
from nuggets.sql import Database
from nuggets.state import State
from nuggets.stores.base import IndexKind


def _facts(database: Database, state: State) -> FactIndex:
    return FactIndex(database, state.notes.many, lambda: state.nuggets)


def _search(database: Database, state: State) -> SearchIndex:
    return SearchIndex(database, state.notes.many, state.notes.values)


KINDS = (
    IndexKind("fact", FactIndex.FORMAT, fact_schema.TABLES, _facts),
    IndexKind("search", SearchIndex.FORMAT, search_schema.TABLES, _search),
)
