"""The store in a PostgreSQL database, which any number of machines and shelves may share."""
