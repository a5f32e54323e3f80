"""What every room shares: records, state, limits, errors. Pure; imports only `language`."""
