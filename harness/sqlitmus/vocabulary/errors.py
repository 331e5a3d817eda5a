"""Errors that end a command: what, why and what to do, with the exit code of each kind."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of the command line."""

    DONE = 0
    GATE_FAILED = 1
    USAGE = 2
    NOT_FIT = 3
    CELLS_FAILED = 4
    WRONG_ANSWERS = 5
    UNDECIDED = 6
    INTERNAL = 70
    INTERRUPTED = 130


class SqlitmusError(Exception):
    """An error that the user sees as its message, without a traceback."""

    exit = Exit.USAGE


class UsageError(SqlitmusError):
    """The command or a file of the user's asks for something that does not exist."""


class NotFit(SqlitmusError):
    """The machine or its set-up cannot do what was asked."""

    exit = Exit.NOT_FIT


class RunDataError(UsageError):
    """The file cannot be analysed; the text names it and the place in it."""
