"""Front doors: each translates, calls the shelf, translates back."""
