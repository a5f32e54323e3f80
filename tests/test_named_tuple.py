"""Records behave as those of `typing.NamedTuple` do; a law over the operations that a tuple has."""

import copy
import pickle
import typing
from typing import Any

import pytest

from nuggets.named_tuple import NamedTuple


class Ours(NamedTuple):
    """What it says."""

    title: str
    tags: tuple[str, ...] = ()
    weight: float = 1.0

    @property
    def is_tagged(self) -> bool:
        return bool(self.tags)


class Theirs(typing.NamedTuple):
    """What it says."""

    title: str
    tags: tuple[str, ...] = ()
    weight: float = 1.0

    @property
    def is_tagged(self) -> bool:
        return bool(self.tags)


class Child(Ours):
    """A plain class below a record."""


BOTH = pytest.mark.parametrize("record", [Ours, Theirs])


@BOTH
def test_fields_are_given_by_position_by_name_or_by_default(record: Any) -> None:
    made = record("a", weight=2.0)

    assert made == ("a", (), 2.0) == record(title="a", weight=2.0)
    assert (made.title, made.tags, made.weight, made.is_tagged) == ("a", (), 2.0, False)
    assert repr(made) == f"{record.__name__}(title='a', tags=(), weight=2.0)"
    assert hash(made) == hash(("a", (), 2.0))


@BOTH
def test_a_record_is_changed_by_copying_it(record: Any) -> None:
    made = record("a")

    assert made._replace(tags=("x",)) == record("a", ("x",))
    assert made._asdict() == {"title": "a", "tags": (), "weight": 1.0}
    assert record._make(["a", (), 3.0]) == record("a", (), 3.0)
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert type(pickle.loads(pickle.dumps(made))) is type(copy.copy(made)) is record


@BOTH
def test_a_record_has_its_fields_and_nothing_else(record: Any) -> None:
    for wrong in ((), ("a", (), 1.0, "more")):
        with pytest.raises(TypeError):
            record(*wrong)
    with pytest.raises(TypeError):
        record("a", colour="red")
    with pytest.raises(TypeError, match="Expected 3 arguments, got 1"):
        record._make(["a"])
    with pytest.raises((TypeError, ValueError), match="colour"):
        record("a")._replace(colour="red")
    with pytest.raises(AttributeError):
        record("a").colour = "red"
    with pytest.raises(AttributeError):
        record("a").title = "b"


@BOTH
def test_a_class_tells_its_fields(record: Any) -> None:
    assert record._fields == record.__match_args__ == ("title", "tags", "weight")
    assert record._field_defaults == {"tags": (), "weight": 1.0}
    assert typing.get_type_hints(record)["tags"] == tuple[str, ...]
    assert record.__doc__ == "What it says."


def test_a_class_below_a_record_is_made_like_the_record() -> None:
    made = Child("a")

    assert type(made) is type(made._replace(title="b")) is Child
    assert made == Ours("a")
    assert made.is_tagged is False


def test_a_pattern_takes_a_record_apart() -> None:
    match Ours("a", ("x",)):
        case Ours(title, tags):
            assert (title, tags) == ("a", ("x",))


def test_a_record_of_which_many_are_made_is_the_same_as_the_first_one() -> None:
    class Fresh(NamedTuple):
        title: str
        weight: float = 1.0

    for number in range(100):
        assert Fresh("a", weight=number) == Fresh(weight=number, title="a") == ("a", number)
        assert Fresh("a") == ("a", 1.0)
    with pytest.raises(TypeError, match="multiple values"):
        Fresh("a", title="b")  # type: ignore[misc]


def test_wrong_arguments_of_the_first_instance_are_refused() -> None:
    for values, named in (((), {}), (("a", 1.0, 2), {}), (("a",), {"title": "b"})):

        class Fresh(NamedTuple):
            title: str
            weight: float = 1.0

        with pytest.raises(TypeError):
            Fresh(*values, **named)  # type: ignore[arg-type]
