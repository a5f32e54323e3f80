"""What each operation on a shelf changes. Pure: the state and the time in, `Changes` out."""
