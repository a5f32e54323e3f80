"""Making and changing notes and links. Pure: records and the time in, records out."""
