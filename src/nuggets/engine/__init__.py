"""How operations run: transactions, batches, and the indexes that every store keeps."""
