"""Facts: finds the key that a question means and decodes its value from phase vectors."""
