"""One command that connects an agent: edits its configuration, and takes the edit back cleanly."""


class EditError(ValueError):
    """A configuration file that cannot be edited; says where or why."""
