"""Closed sets of words that several rooms use, each declared once."""

from typing import Literal

RunKind = Literal["suite", "compare", "claims", "advise"]
Role = Literal["runner", "floor", "oracle", "variant"]
# The group of scenarios bound by SQLite itself: there to check the method, not to choose by.
CONTROLS = "controls"
CaseMetric = Literal["cold", "steady", "p99", "timer_p99"]
"""What the primary time of a case is: that of a whole process, of a unit of work, or the latency
that 99 % of operations have at most, from their planned start."""
# What became of an invocation; a cell may also be missing, because its runner is not installed.
Outcome = Literal["ok", "unsupported", "wrong", "failed"]
CellOutcome = Literal[Outcome, "missing"]
Correction = Literal["none", "holm", "bh"]
Grade = Literal["A", "B", "C"]
Steadiness = Literal["flat", "warm-up", "slowdown", "no steady state"]
Scheme = Literal["relay", "process"]
"""How the processes of a case are measured: all alive at once, taking turns; or one after the
other."""
Level = Literal["median", "total"]
"""What a steady time is of a process: all of its time over all of its operations, or in runs of
earlier versions the median iteration."""
ClaimMetric = Literal[
    "steady", "wall", "loop", "cpu time", "average", "p50", "p99", "p999", "max", "file"
]
# What several machines say together of one comparison.
HoldsWord = Literal[
    "holds on all",
    "holds on most",
    "depends on the machine",
    "on one machine only",
    "not resolved",
    "no answer",
]
