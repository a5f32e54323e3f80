"""Short keys and values: which key a question means, and the banks its value is decoded from."""
