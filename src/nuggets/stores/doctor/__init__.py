"""`nuggets doctor`: find what is wrong in a shelf's directory, and repair it."""
