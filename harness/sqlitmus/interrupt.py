"""Ctrl-C: once lets the invocation under way finish, twice kills it."""

import signal
from collections.abc import Generator
from contextlib import contextmanager

from sqlitmus.execute import Executor


class Stop:
    """Counts requests to stop; whoever works looks at `requested` between invocations."""

    def __init__(self, executor: Executor) -> None:
        self.requested = 0
        self._executor = executor

    def __call__(self, *_: object) -> None:
        """Signal handler."""
        self.requested += 1
        if self.requested > 1:
            self._executor.kill()

    @contextmanager
    def listening(self) -> Generator[None]:
        """Handle SIGINT and SIGTERM inside the block."""
        before = {number: signal.signal(number, self) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            # Once asked, saving and telling are under way: more Ctrl-C must not cut them off.
            for number, handler in before.items():
                signal.signal(number, signal.SIG_IGN if self.requested else handler)
