"""Search over notes: an index in memory that follows changes and can explain its ranking."""
