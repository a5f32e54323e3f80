"""Prints every pattern that the package compiles, with its file and the ways in which it is used.

A program of its own: patterns are recorded while the modules of the package are imported.
"""

import json
import os
import re
from importlib import import_module
from importlib.util import find_spec
from inspect import currentframe
from itertools import chain
from pkgutil import walk_packages
from typing import Any


class RecordedPattern:
    """A pattern that notes how it is used."""

    def __init__(self, pattern: re.Pattern[str], file: str) -> None:
        self.original = pattern
        self.file = file
        self.uses: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.original, name)
        if callable(value):
            self.uses.add(name)
        return value


def record_patterns() -> list[RecordedPattern]:
    """The patterns of all modules, and those that functions compile when they first need them."""
    package = os.path.dirname(str(find_spec("nuggets").origin))  # type: ignore[union-attr]
    recorded: dict[tuple[str, int, str], RecordedPattern] = {}
    compile_pattern = vars(re)["_compile"]

    def record(pattern: Any, flags: int) -> Any:
        compiled = compile_pattern(pattern, flags)
        caller = currentframe().f_back.f_back.f_code.co_filename  # type: ignore[union-attr]
        if not caller.startswith(package):
            return compiled
        file = os.path.relpath(caller, package)
        key = (compiled.pattern, compiled.flags, file)
        return recorded.setdefault(key, RecordedPattern(compiled, file))

    vars(re)["_compile"] = record
    for module in walk_packages([package], "nuggets."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    text_functions = import_module("text_functions")
    for read_text in chain.from_iterable(text_functions.TEXT_FUNCTIONS.values()):
        for sample in text_functions.SAMPLES:
            read_text(sample)
    return list(recorded.values())


if __name__ == "__main__":
    shape = [
        (one.file, one.original.pattern, one.original.flags, sorted(one.uses))
        for one in record_patterns()
    ]
    print(json.dumps(shape))
