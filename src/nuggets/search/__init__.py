"""Search over notes: an index in tables of the shelf's database that can explain its ranking."""
