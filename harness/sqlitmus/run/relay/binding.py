"""Binds the thread that iterates to one processor, the same one in all processes of a set."""

import os
from collections.abc import Mapping
from contextlib import suppress

from sqlitmus.machine import process_tree


class Binding:
    """Binds `thread` to `processor`; the other threads of its process keep all that they had.

    Raises OSError if it has ended.
    """

    def __init__(self, thread: int, processor: int) -> None:
        self._thread = thread
        self._known = set(process_tree.siblings(thread))
        self._everywhere = os.sched_getaffinity(thread)
        os.sched_setaffinity(thread, {processor})

    def release_others(self) -> None:
        """Let threads that it has started since, and which inherited the binding, run everywhere:
        a collector or compiler beside the loop would otherwise take its time."""
        for thread in process_tree.siblings(self._thread):
            if thread not in self._known:
                self._known.add(thread)
                with suppress(OSError):  # it has ended
                    os.sched_setaffinity(thread, self._everywhere)


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
