"""A shelf for a team: what its members share, and what is private to each of them."""
