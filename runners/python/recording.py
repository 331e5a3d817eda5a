"""Operations that are looked at one by one: planned times, latencies, SQLITE_BUSY."""

import dataclasses
import time

from histogram import BUCKET, BUCKETS

# What a sleep may last too long on an idle machine.
MARGIN_NS = 200_000
BUSY = 5


@dataclasses.dataclass(frozen=True)
class Manner:
    """How operations are timed: `rate` per second and from which part of the first gap on, or at
    `recorded` times."""

    latencies: bool = False
    tolerate_busy: bool = False
    rate: float | None = None
    offset: float = 0.0
    recorded: bool = False

    @property
    def plain(self) -> bool:
        """Whether nothing is asked for but the operations."""
        return not self.latencies and not self.tolerate_busy and not self.paced

    @property
    def paced(self) -> bool:
        """Whether operations have planned times."""
        return self.rate is not None or self.recorded


class Recording:
    """What a worker notes of its operations: arrays that are made before the clock."""

    def __init__(self) -> None:
        self.latencies = [0] * BUCKETS
        self.pacing = [0] * BUCKETS


def recorded(operation: list[str], manner: Manner) -> list[str]:
    """The lines of an operation with what is asked around it: its planned time, its latency, its
    rollback when the database is busy."""
    if manner.tolerate_busy:
        operation = [
            "kept = rows, affected, checksum",
            "try:",
            *indented(operation),
            "except Error as error:",
            f"    if primary(error) != {BUSY}: raise",
            "    if connection.in_transaction: execute('ROLLBACK')",
            "    rows, affected, checksum = kept",
            "    busy += 1",
        ]
    before = ["planned = clock()"] if manner.latencies else []
    if manner.paced:
        after_start = "(planned_us[t] - first) * 1000"
        if manner.rate is not None:
            after_start = f"int((i - begin + {manner.offset}) * {1e9 / manner.rate})"
        before = [
            f"planned = start + {after_start}",
            "if clock() < planned:",
            "    v = wait_until(planned) - planned",
            f"    recording.pacing[{BUCKET}] += 1",
        ]
    after = ["v = clock() - planned", f"recording.latencies[{BUCKET}] += 1"]
    return [*before, *operation, *(after if manner.latencies else [])]


def wait_until(planned: int) -> int:
    """Sleep, then spin until the clock is at `planned` nanoseconds; what it then says."""
    clock = time.perf_counter_ns
    left = planned - clock() - MARGIN_NS
    if left > 0:
        time.sleep(left / 1e9)
    while (now := clock()) < planned:
        pass
    return now


def indented(lines: list[str]) -> list[str]:
    """Lines of source one level deeper."""
    return ["    " + line for line in lines]
