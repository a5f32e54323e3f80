"""One command that connects an agent: edits its configuration, and takes the edit back cleanly."""

WITHOUT_MCP = ("pi",)  # its tools call the command
HOSTS = ("claude-code", "codex", "cursor", "gemini", "opencode", "pi")
