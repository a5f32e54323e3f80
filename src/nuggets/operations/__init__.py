"""What each operation on a shelf changes, purely: the state and the time in, `Changes` out; and the
transactions in which that is read and written."""
