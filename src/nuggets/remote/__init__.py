"""A shelf that a server keeps: what is called there, how it is sent, and what to do without it."""
