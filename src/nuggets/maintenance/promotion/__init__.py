"""Promotion of often recalled notes to MEMORY.md, a file that people edit too."""
