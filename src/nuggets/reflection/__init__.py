"""Reflection: the daily clean-up, planned from notes alone. Knows no store, clock or chance."""

from nuggets.records import ReflectionChange, ReflectionResult
from nuggets.reflection.outcome import Policy
from nuggets.reflection.preconditions import still_valid
from nuggets.reflection.run import reflect

__all__ = ["Policy", "ReflectionChange", "ReflectionResult", "reflect", "still_valid"]
