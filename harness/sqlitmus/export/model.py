"""What an export holds: its JSON Schema is `docs/export.schema.json`, its fields are the columns.

Units stand at the end of the names; a ratio is over the reference's, so below 1 is faster or less;
`_low` and `_high` are the ends of its 95 % interval. A figure that there is none of is None, never
0; `outcome` and `reason` say why.
"""

from functools import cache
from typing import Any, Literal

from pydantic import SerializeAsAny, create_model

from sqlitmus.export.claimed import ClaimRow
from sqlitmus.export.numbers import Number, Text
from sqlitmus.export.tried import SettingRow
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.figure import Figure
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


class Row(Model):
    """One runner in one case on one machine.

    `metric` says what `ratio` to `needs_blocks` are about: steady or cold time. `blocks` are those
    that the time comes from, `operations` to `warmup_ms` what the plan gave a process to do: so
    many operations in an iteration, and at least so much warm-up. `fsync_per_transaction` to
    `uncounted` are of write cells alone: what a transaction made durable, or why that is not known.
    The figures of
    `vocabulary.figures` follow, each with its ratio and verdict if it is judged and of equal work.
    In the reference's own row all ratios are None.
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
    operations: int
    iterations: int
    warmup_iterations: int
    warmup_ms: float
    steady_ns_per_unit: Number
    steady_ns_per_unit_low: Number
    steady_ns_per_unit_high: Number
    overhead_ns_per_unit: Number
    overhead_ns_per_unit_low: Number
    overhead_ns_per_unit_high: Number
    overhead_verdict: Verdict | None
    reference: str
    ratio: Number
    ratio_low: Number
    ratio_high: Number
    p: Number
    p_adjusted: Number
    verdict: Verdict | None
    needs_blocks: int | None
    fsync_per_transaction: Number
    fdatasync_per_transaction: Number
    bytes_per_transaction: Number
    uncounted: Text | None


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


class Cost(Model):
    """What 1,000 requests take with a runner, or 1,000 calls of a workload: the time, the share of
    it that each case has, its ratio to that of the `reference`, and CPU time.

    `parts` are empty for a workload, whose queries are measured together. The intervals of all
    ratios hold together with 95 %. Those of `front` have none.
    """

    runner: str
    time_ms: Number
    parts: dict[str, float]
    reference: str | None
    ratio: Number
    ratio_low: Number
    ratio_high: Number
    verdict: Verdict | None
    cpu_ms: Number


class Recommendation(Model):
    """The decision on a run of a suite by a preset, or on a workload, whose `preset` is None.

    `calls` are those of each case per 1,000 requests, or of each query per 1,000 calls, and `costs`
    what these take. Of those who keep to the limits, nobody is faster than `front`: the fastest, or
    those that are tied; empty where nobody is ranked. `text` is what the report says.
    """

    machine: str
    run: str
    preset: str | None
    calls: dict[str, float]
    front: list[str]
    costs: list[Cost]
    text: Text


class Export(Model):
    """Machines in the order of the report, and all rows: by machine, then case, then runner.

    `claims` are the rows of published claims and `settings` those of settings that were tried; the
    cells of both are among the rows. `recommendations` are those of each machine, the one that
    stands first in its report first. `sqlitmus` is the version that exports.
    """

    schema_version: Literal[1]
    sqlitmus: str
    machines: list[Machine]
    rows: list[SerializeAsAny[Row]]
    claims: list[ClaimRow] = []
    recommendations: list[Recommendation] = []
    settings: list[SettingRow] = []


def row_model() -> type[Row]:
    """A row with a column for all that is exported of each figure."""
    return _row_model(figures.FIGURES)


def export_model() -> type[Export]:
    """An export of such rows."""
    return _export_model(figures.FIGURES)


def columns() -> list[str]:
    """The columns of a row, in order."""
    return list(row_model().model_fields)


def figure_columns(figure: Figure) -> dict[str, Any]:
    """What is exported of a figure, with its type: a value, then ratio and verdict if judged."""
    of_figure: dict[str, Any] = {figure.column: Number}
    if figure.primary:
        of_figure |= {f"{figure.column}{end}": Number for end in ("_low", "_high")}
    if figure.judged:
        of_figure |= {f"{figure.name}_ratio{end}": Number for end in ("", "_low", "_high")}
        of_figure[f"{figure.name}_verdict"] = Verdict | None
    return of_figure


@cache
def _row_model(table: tuple[Figure, ...]) -> type[Row]:
    fields = {name: of for figure in table for name, of in figure_columns(figure).items()}
    return create_model("Row", __base__=Row, __doc__=Row.__doc__, **fields)


@cache
def _export_model(table: tuple[Figure, ...]) -> type[Export]:
    rows = list[_row_model(table)]
    return create_model("Export", __base__=Export, __doc__=Export.__doc__, rows=rows)
