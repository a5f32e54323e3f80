"""`NamedTuple` as in `typing`, but a class is defined in 10 µs instead of 200: a cold command
defines 60 to 80 of them, and makes a few instances of a third. So `__new__` is compiled when many
instances are made, and what does not depend on the fields is inherited.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 14):  # where a class body has no `__annotations__`
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter  # what `namedtuple` reads a field with, in C

    # To compile `__new__` takes 60 µs, an instance without it 2 µs more than with it.
    _INSTANCES_BEFORE_COMPILING = 30

    class _Record(tuple):
        __slots__ = ()

        @classmethod
        def _make(cls, values):
            record = tuple.__new__(cls, values)
            if len(record) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(record)}")
            return record

        def _replace(self, /, **changes):
            record = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return record

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            values = (f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({', '.join(values)})"

        def __getnewargs__(self):
            return tuple(self)

    class _Definition(type):
        """Makes a class whose body lists fields a subclass of `_Record`."""

        def __new__(cls, name, bases, body):
            fields = tuple(body.get("__annotations__", ()))
            body["_fields"] = body["__match_args__"] = fields
            body["_field_defaults"] = {field: body[field] for field in fields if field in body}
            body["__slots__"] = ()
            body.update((field, _tuplegetter(place, "")) for place, field in enumerate(fields))
            record = type(name, (_Record,), body)
            record.__new__ = _compile_new_later(record)
            return record

    def _compile_new_later(record):
        fields, instances = record._fields, 0

        def make(cls, *values, **named):
            nonlocal instances
            instances += 1
            items = {**record._field_defaults, **dict(zip(fields, values, strict=False)), **named}
            is_regular = len(items) == len(fields) >= len(values)
            is_regular = is_regular and named.keys().isdisjoint(fields[: len(values)])
            if is_regular and instances < _INSTANCES_BEFORE_COMPILING:
                return tuple.__new__(cls, map(items.__getitem__, fields))
            record.__new__ = new = staticmethod(_compile_new(record))
            return new(cls, *values, **named)  # raises what Python says of wrong arguments

        return staticmethod(make)

    def _compile_new(record):
        fields = ", ".join(record._fields)
        code = f"lambda _cls, {fields}: _new(_cls, ({fields},))"
        new = eval(code, {"_new": tuple.__new__, "__builtins__": {}})
        new.__defaults__ = tuple(record._field_defaults.values())
        return new

    NamedTuple = type.__new__(_Definition, "NamedTuple", (), {})
