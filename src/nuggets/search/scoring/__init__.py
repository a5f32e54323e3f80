"""How well notes answer a question."""
