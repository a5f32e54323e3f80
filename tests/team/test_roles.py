import pytest

from nuggets.domain.records import ROLES
from nuggets.errors import InvalidInput
from nuggets.operations.permissions import allows, parse_role


def test_each_role_may_do_what_the_ones_before_it_may() -> None:
    table = {(role, needed): allows(role, needed) for role in ROLES for needed in ROLES}
    assert [pair for pair, allowed in table.items() if not allowed] == [
        ("reader", "writer"),
        ("reader", "owner"),
        ("writer", "owner"),
    ]


def test_an_unknown_role_is_refused_with_the_known_ones() -> None:
    assert parse_role("writer") == "writer"
    with pytest.raises(InvalidInput, match="reader, writer, owner"):
        parse_role("admin")
