"""Reads the transcripts that hosts keep of their sessions into the steps of one neutral form.

Each host's module knows that host's format and nothing else. Formats change without notice: what
is not understood is skipped, and a transcript in which nothing is understood is `Unreadable`.
"""
