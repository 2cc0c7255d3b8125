"""Experiments: what is compared, how it is measured, and where the answers are known."""
