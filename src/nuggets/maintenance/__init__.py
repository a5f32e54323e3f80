"""Maintenance of a shelf over time: clean-up, history, undo, purge, audit, export."""
