"""Reflection: plans the daily clean-up from the notes alone. Knows no store, clock or chance."""

from nuggets.domain.records import ReflectionChange, ReflectionResult
from nuggets.maintenance.reflection.concurrent_changes import still_valid
from nuggets.maintenance.reflection.plan import Policy
from nuggets.maintenance.reflection.reflect import reflect

__all__ = ["Policy", "ReflectionChange", "ReflectionResult", "reflect", "still_valid"]
