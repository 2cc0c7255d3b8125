"""Logs of long-running commands: one line each on standard error, with the time."""

import logging
import sys


def log_to_stderr(name: str) -> logging.Logger:
    """The logger of that name, which now writes to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    logger = logging.getLogger(name)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    return logger
