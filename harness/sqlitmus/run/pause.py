"""A pause between two sessions of a run, which Ctrl-C ends."""

import time

from sqlitmus.run.interrupt import Stop
from sqlitmus.run.progress import Progress, clock

TICK_S = 1.0


def pause(seconds: float, what: str, stop: Stop, progress: Progress) -> bool:
    """Wait `seconds` while announcing `what`; False if the user asked to stop meanwhile."""
    end = time.monotonic() + seconds
    milestone = True
    while (left := end - time.monotonic()) > 0:
        if stop.requested:
            return False
        progress.step(f"{what} in {clock(left)}", milestone=milestone)
        milestone = False
        time.sleep(min(left, TICK_S))
    return not stop.requested
