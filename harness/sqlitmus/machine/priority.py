"""Real-time priority for a moment, on systems that grant it."""

import os
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def first() -> Generator[bool]:
    """Keep ordinary processes off this thread's processor in the block; yields whether that holds.

    Nothing changes without the right to do so (CAP_SYS_NICE, RLIMIT_RTPRIO).
    """
    if not hasattr(os, "sched_setscheduler"):
        yield False
        return
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, policy, parameter)
