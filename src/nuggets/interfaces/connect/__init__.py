"""One command that connects an agent: edits its configuration, and takes the edit back cleanly."""

HOSTS = (
    *("claude-code", "codex", "cursor", "gemini", "opencode", "pi"),  # tools and hooks
    *("claude-desktop", "vscode", "windsurf", "zed"),  # tools alone
)


class EditError(ValueError):
    """A configuration file that cannot be edited; says where or why."""
