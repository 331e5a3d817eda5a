"""The barrier across processes: "ready" on stdout, and a line on stdin that lets it go on."""

import sys


def await_release() -> None:
    """Say that this process is ready and wait; raises ValueError at the end of stdin."""
    print("ready", flush=True)
    if not sys.stdin.readline():
        raise ValueError("stdin ended before the iteration was released")
