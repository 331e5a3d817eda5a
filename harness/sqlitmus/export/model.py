"""What an export holds: its JSON Schema is `docs/export.schema.json`, its fields are the
columns.
"""

from collections.abc import Iterator
from functools import cache
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SerializeAsAny, create_model

from sqlitmus.results.claims import Claim, Group, Unit
from sqlitmus.results.claims import Row as claims_Row
from sqlitmus.results.ranking import Interval, Speedup
from sqlitmus.results.recommendation import Advice, Counsel, Effect, Promise
from sqlitmus.results.report import Report
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


# Rows of published claims: what was published, what was measured, the word.


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
    run: str
    claim: str
    claim_word: ClaimWord
    group: str
    row: str
    key: bool
    metric: ClaimMetric
    unit: Unit
    runner: str
    base: str
    new: str
    said: str
    published: Number
    same_low: Number
    same_high: Number
    ratio: Number
    ratio_low: Number
    ratio_high: Number
    saves_ns: Number
    saves_ns_low: Number
    saves_ns_high: Number
    judged_low: Number
    judged_high: Number
    blocks: int = Field(ge=0)
    needs_blocks: int | None
    base_ns_per_unit: Number
    new_ns_per_unit: Number
    word: ClaimWord | None
    reason: Text | None
    repeats: Text | None


# Columns that are called as the fields of what they come from.
_OF_CLAIM = ("key", "runner", "base", "new", "said", "published", "blocks")
_OF_TRIED = (*("group", "database", "effect", "base", "new", "verdict", "blocks", "needs_blocks"),)


def bounded(name: str, interval: Interval | Speedup | None) -> dict[str, Any]:
    """A figure and the ends of its interval, in three columns."""
    value, low, high = (
        (interval.value, interval.low, interval.high) if interval else (None, None, None)
    )
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def claim_rows(machine: str, report: Report) -> Iterator[ClaimRow]:
    """The rows of all claims, in the order of the report; none for a run without."""
    for claim in report.claims:
        for group in claim.groups:
            for row in group.rows:
                yield _row(machine, report.run, claim, group, row)


def _row(machine: str, run: str, claim: Claim, group: Group, row: claims_Row) -> ClaimRow:
    same, judged = row.same or (None, None), row.judged or (None, None)
    return ClaimRow(
        **{name: getattr(row, name) for name in _OF_CLAIM},
        **bounded("ratio", row.ratio),
        **bounded("saves_ns", row.difference),
        machine=machine,
        run=run,
        claim=claim.name,
        claim_word=claim.word,
        group=group.title,
        row=row.name,
        metric=group.metric,
        unit=group.unit,
        same_low=same[0],
        same_high=same[1],
        judged_low=judged[0],
        judged_high=judged[1],
        needs_blocks=row.needed,
        base_ns_per_unit=row.base_time and row.base_time.value,
        new_ns_per_unit=row.new_time and row.new_time.value,
        word=row.verdict,
        reason=row.reason or None,
        repeats=row.repeats or None,
    )


# Rows of settings that were tried: what each did to a group of queries, and what a commit lost.


class SettingRow(Model):
    """A setting on one group of queries and one database, on one machine.

    `ratio` is time of the case `new` over that of `base`: below 1 the setting helps. `counsel` is
    the upshot of all rows of the setting, `weakens` whether a commit promises less with it: from
    `promise_without` to `promise_with`, None where it was tried on no query that writes.
    """

    machine: str
    run: str
    runner: str
    setting: str
    title: str
    counsel: Counsel
    weakens: bool
    promise_without: Promise | None
    promise_with: Promise | None
    group: str
    database: str
    effect: Effect
    reason: Text | None
    base: str
    new: str
    ratio: Number
    ratio_low: Number
    ratio_high: Number
    verdict: Verdict | None
    blocks: int = Field(ge=0)
    needs_blocks: int | None
    base_ns_per_unit: Number
    new_ns_per_unit: Number


def setting_rows(machine: str, report: Report) -> Iterator[SettingRow]:
    """The rows of all settings, in the order of the report; none for a run without."""
    for advice in report.headline:
        if isinstance(advice, Advice):
            yield from _rows(machine, report.run, advice)


def _rows(machine: str, run: str, advice: Advice) -> Iterator[SettingRow]:
    for setting in advice.settings:
        for tried in setting.tried:
            yield SettingRow(
                **{name: getattr(tried, name) for name in _OF_TRIED},
                **bounded("ratio", tried.ratio),
                machine=machine,
                run=run,
                runner=advice.runner,
                setting=setting.name,
                title=setting.title,
                counsel=setting.counsel,
                weakens=setting.weakens,
                promise_without=setting.before,
                promise_with=setting.after,
                reason=tried.reason or None,
                base_ns_per_unit=tried.base_time and tried.base_time.value,
                new_ns_per_unit=tried.new_time and tried.new_time.value,
            )


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
    detectable: Number
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
    """A machine and its run. `margin` is a share of the time, 0.02 for 2 %; `detectable` is the
    median of its cases', with the least and the greatest; `notices` are what the report says of
    the run, `facts` what the run recorded of the machine."""

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
    detectable: Number
    detectable_least: Number
    detectable_most: Number
    notices: list[Text]
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
