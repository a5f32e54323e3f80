"""The store in a SQLite database: `nuggets.db` in the shelf's directory, or in memory."""
