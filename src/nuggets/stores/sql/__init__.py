"""What the stores in SQL databases share, whatever the database."""
