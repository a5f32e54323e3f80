"""Measurements; run with python -m benchmarks."""
