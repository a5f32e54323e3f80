"""What an agent's host calls at fixed moments: recall before work, capture after it.

A hook never blocks and never fails its host: own deadline, exit 0, silent, errors to a log.
"""
