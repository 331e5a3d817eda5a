"""Binds the thread that iterates to one processor, the same one in all processes of a set."""

import os
from collections.abc import Mapping
from contextlib import suppress

from sqlitmus.machine import process_tree


class Binding:
    """Binds `thread` to `processor`, and keeps the other threads of its process off it, if there is
    another: so what it waits for there are other programs.

    Raises OSError if it has ended.
    """

    def __init__(self, thread: int, processor: int) -> None:
        self._thread = thread
        self._known = {thread}
        everywhere = os.sched_getaffinity(thread)
        self._elsewhere = (everywhere - {processor}) or everywhere
        os.sched_setaffinity(thread, {processor})
        self.keep_others_off()

    def waited_ns(self) -> int:
        """How long the thread has waited for its processor so far, while it could have run; 0 where
        the system does not tell."""
        return process_tree.run_delay_ns(self._thread) or 0

    def keep_others_off(self) -> None:
        """Let collectors and compilers, and threads that it has started since, which inherited the
        binding, run on the other processors: they would otherwise take its time."""
        for thread in process_tree.siblings(self._thread):
            if thread not in self._known:
                self._known.add(thread)
                with suppress(OSError):  # it has ended
                    os.sched_setaffinity(thread, self._elsewhere)


def bound(before: Mapping[int, int], after: Mapping[int, int], processor: int) -> Binding | None:
    """Binds the thread that iterated between two looks at `process_tree.threads`: the one that used
    the most CPU time. None where none used any, or it has ended.
    """
    used = {thread: ns - before.get(thread, 0) for thread, ns in after.items()}
    busiest = max(used, key=lambda thread: used[thread], default=None)
    if busiest is None or not used[busiest]:
        return None
    with suppress(OSError):
        return Binding(busiest, processor)
    return None
