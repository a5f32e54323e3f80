"""As many sessions as promotion asks for by default."""

from nuggets import PROMOTE_THRESHOLD

ENOUGH_SESSIONS = tuple(f"session {number}" for number in range(1, PROMOTE_THRESHOLD + 1))
