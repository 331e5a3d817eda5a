"""What an export holds: its JSON Schema is `docs/export.schema.json`, its fields are the columns.

Units stand at the end of the names; a ratio is time, CPU time or memory over the reference's, so
below 1 is faster or less; `_low` and `_high` are the ends of its 95 % interval. A figure that there
is none of is None, never 0; `outcome` and `reason` say why.
"""

from math import isfinite
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.terms import (
    CaseMetric,
    CellOutcome,
    Correction,
    Grade,
    Role,
    RunKind,
    Steadiness,
)
from sqlitmus.vocabulary.verdicts import Verdict


def finite(value: float | None) -> float | None:
    """None for an end that is not bounded: neither JSON nor a spreadsheet has infinity."""
    return value if value is not None and isfinite(value) else None


Figure = Annotated[float | None, AfterValidator(finite)]
Text = Annotated[str, Field(min_length=1)]


class Row(Model):
    """One runner in one case on one machine.

    `metric` says what `ratio` to `needs_blocks` are about: steady or cold time. What `cold_ratio`,
    `cpu_ratio` and `peak_rss_ratio` begin is about the secondary figures. `blocks` are those that
    the time comes from. In the reference's own row all ratios are None.
    """

    machine: str
    run: str
    suite: str
    case: str
    scenario: str
    group: str
    axes: dict[str, str]
    metric: CaseMetric
    unit: str
    runner: str
    role: Role
    runtime: str
    runtime_version: Text | None
    driver: str
    driver_version: Text | None
    sqlite_version: Text | None
    outcome: CellOutcome
    reason: Text | None
    grade: Grade | None
    blocks: int | None
    steadiness: Steadiness | None
    steady_ns_per_unit: Figure
    steady_ns_per_unit_low: Figure
    steady_ns_per_unit_high: Figure
    cold_ns: Figure
    cold_ns_low: Figure
    cold_ns_high: Figure
    cpu_ns_per_unit: Figure
    peak_rss_bytes: Figure
    overhead_ns_per_unit: Figure
    overhead_ns_per_unit_low: Figure
    overhead_ns_per_unit_high: Figure
    overhead_verdict: Verdict | None
    reference: str
    ratio: Figure
    ratio_low: Figure
    ratio_high: Figure
    p: Figure
    p_adjusted: Figure
    verdict: Verdict | None
    needs_blocks: int | None
    cold_ratio: Figure
    cold_ratio_low: Figure
    cold_ratio_high: Figure
    cold_verdict: Verdict | None
    cpu_ratio: Figure
    cpu_ratio_low: Figure
    cpu_ratio_high: Figure
    cpu_verdict: Verdict | None
    peak_rss_ratio: Figure
    peak_rss_ratio_low: Figure
    peak_rss_ratio_high: Figure
    peak_rss_verdict: Verdict | None


class Machine(Model):
    """A machine and its run. `margin` is a share of the time, 0.02 for 2 %; `grade` is the run's
    own, of its noise; `facts` are what the run recorded of the machine."""

    name: str
    run: str
    kind: RunKind
    suite: str
    created: str
    sqlitmus: str
    seed: int
    blocks_planned: int
    blocks_complete: int
    sessions: int
    margin: float
    correction: Correction
    reference: str
    floor: str | None
    grade: Grade | None
    facts: dict[str, str]


class Export(Model):
    """Machines in the order of the report, and all rows: by machine, then case, then runner.

    `sqlitmus` is the version that exports.
    """

    schema_version: Literal[1]
    sqlitmus: str
    machines: list[Machine]
    rows: list[Row]
