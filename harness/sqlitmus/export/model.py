"""What an export holds: its JSON Schema is `docs/export.schema.json`, its fields are the
columns.

A field is read at the path beside its type, or at its own name. A path starts at what `rows` gives
by that name, or else in the part of the results that the comment above the class names.
"""

from functools import cache
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, create_model

from sqlitmus.results.claims import Unit
from sqlitmus.results.recommendation import Counsel, Effect, Promise
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.figures import Figure
from sqlitmus.vocabulary.verdicts import (
    CaseMetric,
    CellOutcome,
    ClaimMetric,
    ClaimWord,
    Correction,
    Role,
    RunKind,
    Steadiness,
    Verdict,
)


def finite(value: float | None) -> float | None:
    """None for an end that is not bounded: neither JSON nor a spreadsheet has infinity."""
    return value if value is not None and isfinite(value) else None


Number = Annotated[float | None, AfterValidator(finite)]
Text = Annotated[str, Field(min_length=1)]
# An empty text is None.
Words = Annotated[Text | None, BeforeValidator(lambda text: text or None)]


# Read of a row of a claim.
class ClaimRow(Model):
    """One published figure and the own one, on one machine.

    Ratios are base / new: how many times as fast the new cell is, unlike all others of an export. A
    row that compares by difference has `saves_ns`, base less new, and its `published`, `same_` and
    `judged_` are ns, too.
    `same_` are the ends of what counts as the published size, `judged_` those of the interval that
    was held against it: `ratio_` drawn out by the correction. `word` is None where no ratio was
    published, `claim_word` that of the whole claim. A row that `repeats` another one shows the same
    measurement, which is counted there.
    """

    machine: str
    run: Annotated[str, "report.run"]
    claim: Annotated[str, "claim.name"]
    claim_word: Annotated[ClaimWord, "claim.word"]
    group: Annotated[str, "group.title"]
    row: Annotated[str, "name"]
    key: bool
    metric: Annotated[ClaimMetric, "group.metric"]
    unit: Annotated[Unit, "group.unit"]
    runner: str
    base: str
    new: str
    said: str
    published: Number
    same_low: Annotated[Number, "same.0"]
    same_high: Annotated[Number, "same.1"]
    ratio: Annotated[Number, "ratio.value"]
    ratio_low: Annotated[Number, "ratio.low"]
    ratio_high: Annotated[Number, "ratio.high"]
    saves_ns: Annotated[Number, "difference.value"]
    saves_ns_low: Annotated[Number, "difference.low"]
    saves_ns_high: Annotated[Number, "difference.high"]
    judged_low: Annotated[Number, "judged.0"]
    judged_high: Annotated[Number, "judged.1"]
    blocks: int = Field(ge=0)
    needs_blocks: Annotated[int | None, "needed"]
    base_ns_per_unit: Annotated[Number, "base_time.value"]
    new_ns_per_unit: Annotated[Number, "new_time.value"]
    word: Annotated[ClaimWord | None, "verdict"]
    reason: Words
    repeats: Words


# Read of a setting on a group of queries.
class SettingRow(Model):
    """A setting on one group of queries and one database, on one machine.

    `ratio` is time of the case `new` over that of `base`: below 1 the setting helps. `counsel` is
    the upshot of all rows of the setting, `weakens` whether a commit promises less with it: from
    `promise_without` to `promise_with`, None where it was tried on no query that writes.
    """

    machine: str
    run: Annotated[str, "report.run"]
    runner: Annotated[str, "advice.runner"]
    setting: Annotated[str, "setting.name"]
    title: Annotated[str, "setting.title"]
    counsel: Annotated[Counsel, "setting.counsel"]
    weakens: Annotated[bool, "setting.weakens"]
    promise_without: Annotated[Promise | None, "setting.before"]
    promise_with: Annotated[Promise | None, "setting.after"]
    group: str
    database: str
    effect: Effect
    reason: Words
    base: str
    new: str
    ratio: Annotated[Number, "contrast.ratio.value"]
    ratio_low: Annotated[Number, "contrast.ratio.low"]
    ratio_high: Annotated[Number, "contrast.ratio.high"]
    verdict: Annotated[Verdict | None, "contrast.verdict"]
    blocks: int = Field(ge=0)
    needs_blocks: Annotated[int | None, "contrast.needs_blocks"]
    base_ns_per_unit: Annotated[Number, "base_time.value"]
    new_ns_per_unit: Annotated[Number, "new_time.value"]


# Read of a cell.
class Row(Model):
    """One runner in one case on one machine.

    `metric` says what `ratio` to `needs_blocks` are about: steady or cold time. `detectable` is the
    difference, as a share of the time, that half of the case's comparisons find with 80 % power.
    `blocks` are those
    that the time comes from, `operations` to `warmup_ms` what the plan gave a process to do: so
    many operations in an iteration, and at least so much warm-up. `fsync_per_transaction` to
    `uncounted` are of write cells alone: what a transaction made durable, or why that is not known.
    The figures of
    `vocabulary.figures` follow, each with its ratio and verdict if it is judged and of equal work.
    In the reference's own row all ratios are None.
    """

    machine: str
    run: Annotated[str, "report.run"]
    suite: Annotated[str, "report.suite"]
    case: Annotated[str, "case.id"]
    scenario: Annotated[str, "case.scenario"]
    group: Annotated[str, "case.group"]
    axes: Annotated[dict[str, str], "case.axes"]
    metric: Annotated[CaseMetric, "case.metric"]
    unit: Annotated[str, "case.unit"]
    runner: str
    role: Annotated[Role, "identity.role"]
    runtime: Annotated[str, "identity.runtime"]
    runtime_version: Annotated[Words, "identity.runtime_version"]
    driver: Annotated[str, "identity.driver"]
    driver_version: Annotated[Words, "identity.driver_version"]
    sqlite_version: Annotated[Words, "identity.sqlite_version"]
    outcome: CellOutcome
    reason: Words
    detectable: Annotated[Number, "case.detectable"]
    blocks: int | None
    steadiness: Steadiness | None
    operations: int
    iterations: int
    warmup_iterations: int
    warmup_ms: float
    steady_ns_per_unit: Annotated[Number, "values.steady.value"]
    steady_ns_per_unit_low: Annotated[Number, "values.steady.low"]
    steady_ns_per_unit_high: Annotated[Number, "values.steady.high"]
    overhead_ns_per_unit: Annotated[Number, "overhead.value"]
    overhead_ns_per_unit_low: Annotated[Number, "overhead.low"]
    overhead_ns_per_unit_high: Annotated[Number, "overhead.high"]
    overhead_verdict: Verdict | None
    reference: Annotated[str, "report.reference"]
    ratio: Annotated[Number, "compared.ratio.value"]
    ratio_low: Annotated[Number, "compared.ratio.low"]
    ratio_high: Annotated[Number, "compared.ratio.high"]
    p: Annotated[Number, "compared.p"]
    p_adjusted: Annotated[Number, "compared.adjusted"]
    verdict: Annotated[Verdict | None, "compared.verdict"]
    needs_blocks: Annotated[int | None, "compared.needs_blocks"]
    fsync_per_transaction: Number
    fdatasync_per_transaction: Number
    bytes_per_transaction: Number
    uncounted: Words


# Read of a report.
class Machine(Model):
    """A machine and its run. `margin` is a share of the time, 0.02 for 2 %; `detectable` is the
    median of its cases', with the least and the greatest; `notices` are what the report says of
    the run, `facts` what the run recorded of the machine."""

    name: str
    run: str
    kind: RunKind
    suite: str
    created: str
    sqlitmus: Annotated[str, "sqlitmus_version"]
    seed: int
    blocks_planned: int
    blocks_complete: int
    sessions: int
    margin: float
    correction: Correction
    reference: str
    floor: str | None
    detectable: Annotated[Number, "detectable.0"]
    detectable_least: Annotated[Number, "detectable.1"]
    detectable_most: Annotated[Number, "detectable.2"]
    notices: list[Text]
    facts: Annotated[dict[str, str], "machine"]


# Read of a runner's costs.
class Cost(Model):
    """What 1,000 requests take with a runner, or 1,000 calls of a workload: the time, the share of
    it that each case has, its ratio to that of the `reference`, and CPU time.

    `parts` are empty for a workload, whose queries are measured together. The intervals of all
    ratios hold together with 95 %. Those of `front` have none.
    """

    runner: str
    time_ms: Number
    parts: dict[str, float]
    reference: Annotated[str | None, "contrast.reference"]
    ratio: Annotated[Number, "contrast.ratio.value"]
    ratio_low: Annotated[Number, "contrast.ratio.low"]
    ratio_high: Annotated[Number, "contrast.ratio.high"]
    verdict: Annotated[Verdict | None, "contrast.verdict"]
    cpu_ms: Number


# Read of a choice by a preset, or of the recommendation on a workload.
class Recommendation(Model):
    """The decision on a run of a suite by a preset, or on a workload, whose `preset` is None.

    `calls` are those of each case per 1,000 requests, or of each query per 1,000 calls, and `costs`
    what these take. Of those who keep to the limits, nobody is faster than `front`: the fastest, or
    those that are tied; empty where no runner is ranked. `text` is what the report says.
    """

    machine: str
    run: Annotated[str, "report.run"]
    preset: str | None
    calls: dict[str, float]
    front: Annotated[list[str], "ranking.front"]
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
    rows: list[Row]
    claims: list[ClaimRow] = []
    recommendations: list[Recommendation] = []
    settings: list[SettingRow] = []


def row_model() -> type[Row]:
    """A row with a column for all that is exported of each figure."""
    return _models(figures.FIGURES)[0]


def export_model() -> type[Export]:
    """An export of such rows."""
    return _models(figures.FIGURES)[1]


@cache
def _models(table: tuple[Figure, ...]) -> tuple[type[Row], type[Export]]:
    columns = {name: of for figure in table for name, of in _columns(figure).items()}
    row = create_model("Row", __base__=Row, __doc__=Row.__doc__, **columns)
    rows: Any = list[row]
    return row, create_model("Export", __base__=Export, __doc__=Export.__doc__, rows=rows)


def _columns(figure: Figure) -> dict[str, Any]:
    """What is exported of a figure: a value, then ratio and verdict if judged."""
    value, measure = f"values.{figure.name}", f"figures.{figure.name}"
    columns = _bounded(figure.column, value)
    if not figure.primary:
        columns = {figure.column: columns[figure.column]}
    if figure.judged:
        contrast = f"{measure}.contrast"
        columns |= _bounded(f"{figure.name}_ratio", f"{contrast}.ratio")
        columns[f"{figure.name}_verdict"] = Annotated[Verdict | None, f"{contrast}.verdict"]
    return columns


def _bounded(column: str, path: str) -> dict[str, Any]:
    """A figure and the ends of its interval, in three columns."""
    ends = {"": "value", "_low": "low", "_high": "high"}
    return {f"{column}{end}": Annotated[Number, f"{path}.{name}"] for end, name in ends.items()}
