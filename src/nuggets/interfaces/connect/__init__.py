"""One command that connects an agent: edits its configuration, and takes the edit back cleanly."""

HOSTS = ("claude-code", "codex", "cursor", "gemini", "opencode", "pi")
