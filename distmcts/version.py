"""The version of distmcts."""

__version__ = "0.1.0"
