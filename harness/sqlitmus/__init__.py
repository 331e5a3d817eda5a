"""A litmus test for SQLite across runtimes."""

__version__ = "0.1.0"
