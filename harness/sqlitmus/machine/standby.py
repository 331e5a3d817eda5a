"""How long the machine has stood by: a laptop that was closed."""

import time

LEAST_S = 0.5  # less is the difference of two looks at two clocks


def seconds() -> float:
    """Seconds of standby since the start of the machine; 0 where no clock tells."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
