"""Times a fixed piece of native work: how fast the machine is now, whatever is measured on it."""

import hashlib
import time

WARM_UP = 2_000
ITERATIONS = 80_000


def probe() -> int:
    """Wall nanoseconds of 80,000 iterations of PBKDF2 with SHA-256: 20 to 50 ms in this process.

    One call into OpenSSL: one core, no allocation, no memory beyond the first-level cache. Its many
    small steps slow down like SQLite's own when a neighbour shares the core. Hashing a large buffer
    does not: it waits for the processor's SHA unit, which nobody else uses.
    """
    _work(WARM_UP)
    start = time.perf_counter_ns()
    _work(ITERATIONS)
    return time.perf_counter_ns() - start


def _work(iterations: int) -> None:
    hashlib.pbkdf2_hmac("sha256", b"sqlitmus", b"probe", iterations)
