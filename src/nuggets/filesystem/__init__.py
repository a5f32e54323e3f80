"""Atomic files, the current project, the location of a shelf, files of hooks."""
