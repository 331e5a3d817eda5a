"""Under what a report was made: facts of runners and machine, blocks, the self-test."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of provenance: a fact for each runner; `differs` when they are not all equal."""

    group: str
    name: str
    values: dict[str, str]
    differs: bool


@dataclass(frozen=True, slots=True)
class Block:
    """What was read of the machine around a block, in the order in which blocks were measured.

    `number` is the block's (0 = first); a block `repeated` was disturbed, and its samples are not
    used. `probe_ns` is the time of the fixed work before it; shares are of the block's wall time,
    None where the system does not tell.
    """

    number: int
    repeated: bool
    probe_ns: int | None
    steal: float | None
    cpu_pressure: float | None
    io_pressure: float | None
    load: float | None
    throttled: bool | None


@dataclass(frozen=True, slots=True)
class Taken:
    """What others took from processes that took turns, where that was looked at: as a share of the
    laps of a process that count, the median process and the most; and the share of rounds that do
    not count for it."""

    median: float
    most: float
    left_out: float


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The last self-test on this machine, as sentences: when, what was found, whether it holds."""

    created: str
    lines: list[str]
    passed: bool
