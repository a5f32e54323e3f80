"""Interprets a question: its words, the terms that match them, the titles and days it names."""
