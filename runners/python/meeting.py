"""Where the threads of a job meet before and after the clock of each iteration."""

import threading


class Stopped(Exception):
    """Another thread ended the meeting."""


class Meeting:
    """A gate that all threads pass together, until one of them ends it."""

    def __init__(self, members: int) -> None:
        self._gate = threading.Barrier(members)
        self.failure: Exception | None = None

    def gate(self) -> None:
        """Wait for all others; raises Stopped when there is nobody to wait for any more."""
        try:
            self._gate.wait()
        except threading.BrokenBarrierError:
            raise Stopped from None

    def end(self, failure: Exception | None = None) -> None:
        """Let nobody wait any more; `failure` says why."""
        self.failure = self.failure or failure
        self._gate.abort()
