"""A question understood: its words, the terms that answer them, the titles and days it names."""
