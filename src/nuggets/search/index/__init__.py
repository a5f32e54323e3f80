"""The search index as tables: written with the notes, read by term."""
