"""A guided day with Nuggets, for people to watch and for tests to check."""
