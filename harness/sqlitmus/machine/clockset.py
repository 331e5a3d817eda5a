"""Whether somebody set the system's clock meanwhile: its distance from one that nobody sets."""

import time

# A clock that is corrected slowly goes up to 500 ppm wrong by design.
SLEW = 0.001
LEAST_NS = 1_000_000


class ClockWatch:
    """Watches the system's clock from now on, by which several processes tell when they ran."""

    def __init__(self) -> None:
        self._begun = time.monotonic_ns()
        self._apart = time.time_ns() - self._begun

    def set_by_ns(self) -> int:
        """By how many ns it was set, 0 for no more than a slow correction; negative for back."""
        now = time.monotonic_ns()
        by = time.time_ns() - now - self._apart
        return by if abs(by) > LEAST_NS + SLEW * (now - self._begun) else 0
