"""What an export holds: its JSON Schema is `docs/export.schema.json`, its fields are the
columns.

A field is read at the path beside its type, or at its own name. A path starts at what `rows` gives
by that name, or else in the part of the results that the comment above the class names.
"""

from functools import cache
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, create_model

from sqlitmus.results.claims import Unit
from sqlitmus.results.recommendation import Counsel, Effect, Promise
from sqlitmus.vocabulary import figures, verdicts
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.figures import Figure


def finite(value: float | None) -> float | None:
    """None for an end that is not bounded: neither JSON nor a spreadsheet has infinity."""
    return value if value is not None and isfinite(value) else None


Number = Annotated[float | None, AfterValidator(finite)]
Text = Annotated[str, Field(min_length=1)]
# An empty text is None.
Words = Annotated[Text | None, BeforeValidator(lambda text: text or None)]


class Part(Model):
    """A part of an export; the texts below its fields describe them in the schema. Fields ending in
    `_low` and `_high` are the ends of a 95 % interval."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class OfRun(Part):
    """A part of a run."""

    machine: str
    """The machine's name (`run --machine`)."""
    run: Annotated[str, "report.run"]
    """The run directory."""


# Read of a row of a claim.
class ClaimRow(OfRun):
    """One published figure and the one measured here, on one machine.

    Ratios are base / new: how many times as fast the new cell is, unlike all others of an export.
    Of a row that compares by difference, `published`, `same_`, `allowed_` and `judged_` are
    nanoseconds, too.
    """

    claim: Annotated[str, "claim.name"]
    """The claim, by the name of its file."""
    group: Annotated[str, "group.title"]
    """The group of the claim's file that the row stands in."""
    row: Annotated[str, "name"]
    """The row's name."""
    key: bool
    """Whether it decides the claim."""
    metric: Annotated[verdicts.ClaimMetric, "group.metric"]
    """What is compared."""
    unit: Annotated[Unit, "group.unit"]
    """What the times are of."""
    runner: str
    """The runner, or both."""
    base: str
    """The first cell, as `case/runner`."""
    new: str
    """The second cell; `ratio` is base / new."""
    said: str
    """The publication's words."""
    kind: verdicts.PublishedKind
    """What was published: a ratio, a range, or a bound on the effect."""
    published: Number
    """The publication's ratio; empty where it gives none. Its ends are by its own uncertainty."""
    published_low: Annotated[Number, "ends.0"]
    published_high: Annotated[Number, "ends.1"]
    same_low: Annotated[Number, "same.0"]
    """The least that counts as published."""
    same_high: Annotated[Number, "same.1"]
    """The most that counts as published; empty where there is no end."""
    allowed_low: Annotated[Number, "allowed.0"]
    """The least that another machine may make of it; decides no word."""
    allowed_high: Annotated[Number, "allowed.1"]
    """The most that another machine may make of it."""
    ratio: Annotated[Number, "ratio.value"]
    """The ratio here."""
    ratio_low: Annotated[Number, "ratio.low"]
    ratio_high: Annotated[Number, "ratio.high"]
    saves_ns: Annotated[Number, "difference.value"]
    """Of a row that compares by difference: base less new."""
    saves_ns_low: Annotated[Number, "difference.low"]
    saves_ns_high: Annotated[Number, "difference.high"]
    theirs: Annotated[Number, "theirs.value"]
    """The ratio of the authors' own programs here; empty where they did not run."""
    theirs_low: Annotated[Number, "theirs.low"]
    theirs_high: Annotated[Number, "theirs.high"]
    disagrees: bool
    """Whether ours and theirs lie so far apart that they do different work."""
    judged_low: Annotated[Number, "judged.0"]
    """The lower end of the ratio at the level of the correction."""
    judged_high: Annotated[Number, "judged.1"]
    """The upper end of the ratio at the level of the correction."""
    blocks: int = Field(ge=0)
    """The blocks that have both cells."""
    needs_blocks: Annotated[int | None, "needed"]
    """About how many blocks would settle the row."""
    base_ns_per_unit: Annotated[Number, "base_time.value"]
    """The median time of `base`."""
    new_ns_per_unit: Annotated[Number, "new_time.value"]
    """The median time of `new`."""
    word: Annotated[verdicts.ClaimWord | None, "verdict"]
    """The word of the row; empty where no ratio was published."""
    reason: Words
    """Why it has this word."""
    repeats: Words
    """The row of the same measurement that counts instead."""


# Read of a setting on a group of queries.
class SettingRow(OfRun):
    """A setting on one group of queries and one database, on one machine."""

    runner: Annotated[str, "advice.runner"]
    """The runner that the settings were tried on."""
    setting: Annotated[str, "setting.name"]
    """The setting's name in `scenarios/settings.toml`."""
    title: Annotated[str, "setting.title"]
    """What the report calls it."""
    counsel: Annotated[Counsel, "setting.counsel"]
    """The upshot of all rows of the setting."""
    weakens: Annotated[bool, "setting.weakens"]
    """Whether a commit promises less with it."""
    promise_without: Annotated[Promise | None, "setting.before"]
    """What a commit survives without it; empty where no query wrote."""
    promise_with: Annotated[Promise | None, "setting.after"]
    """What a commit survives with it; empty where no query wrote."""
    group: str
    """The group of queries."""
    database: str
    """The size of the database."""
    effect: Effect
    """What the setting does there."""
    reason: Words
    """Why it has this effect."""
    base: str
    """The case without the setting."""
    new: str
    """The case with it."""
    ratio: Annotated[Number, "contrast.ratio.value"]
    """The time with it over the time without: below 1 it helps."""
    ratio_low: Annotated[Number, "contrast.ratio.low"]
    ratio_high: Annotated[Number, "contrast.ratio.high"]
    verdict: Annotated[verdicts.Verdict | None, "contrast.verdict"]
    """The verdict on the ratio."""
    blocks: int = Field(ge=0)
    """The blocks that have both cases."""
    needs_blocks: Annotated[int | None, "contrast.needs_blocks"]
    """About how many blocks would settle the row."""
    base_ns_per_unit: Annotated[Number, "base_time.value"]
    """The median time without it."""
    new_ns_per_unit: Annotated[Number, "new_time.value"]
    """The median time with it."""


# Read of a cell.
class Row(OfRun):
    """One runner in one case on one machine.

    The figures of `vocabulary.figures` follow, each with its ratio and verdict if it is judged and
    of equal work. In the reference's own row all ratios are None.
    """

    suite: Annotated[str, "report.suite"]
    """The suite."""
    case: Annotated[str, "case.id"]
    """The case: a scenario with a value for each of its axes."""
    scenario: Annotated[str, "case.scenario"]
    """The scenario."""
    group: Annotated[str, "case.group"]
    """The group of scenarios."""
    axes: Annotated[dict[str, str], "case.axes"]
    """The axes' values; in CSV `profile=shipped;rows=10`, percent-encoded."""
    metric: Annotated[verdicts.CaseMetric, "case.metric"]
    """The figure that `ratio` to `needs_blocks` compare."""
    unit: Annotated[str, "case.unit"]
    """The unit of work, such as `read`."""
    runner: str
    """The runner."""
    role: Annotated[verdicts.Role, "identity.role"]
    """What it takes part as."""
    runtime: Annotated[str, "identity.runtime"]
    """Its runtime."""
    runtime_version: Annotated[Words, "identity.runtime_version"]
    """The runtime's version."""
    driver: Annotated[str, "identity.driver"]
    """Its driver."""
    driver_version: Annotated[Words, "identity.driver_version"]
    """The driver's version."""
    sqlite_version: Annotated[Words, "identity.sqlite_version"]
    """The version of SQLite."""
    outcome: verdicts.CellOutcome
    """Whether the cell has a time."""
    reason: Words
    """Why it has none; of `ok`, why the time is compared with nothing."""
    detectable: Annotated[Number, "case.detectable"]
    """The share that half of the case's comparisons find with 80 % power."""
    blocks: int | None
    """The blocks that the times come from."""
    steadiness: verdicts.Steadiness | None
    """The class of the times in the pilot."""
    operations: int
    """The operations of an iteration."""
    iterations: int
    """The timed iterations of a process."""
    warmup_iterations: int
    """The least warm-up, in iterations."""
    warmup_ms: float
    """The least warm-up, in time; above 0 a faster process does more iterations in it."""
    steady_ns_per_unit: Annotated[Number, "values.steady.value"]
    """The steady time of a unit of work."""
    steady_ns_per_unit_low: Annotated[Number, "values.steady.low"]
    steady_ns_per_unit_high: Annotated[Number, "values.steady.high"]
    overhead_ns_per_unit: Annotated[Number, "overhead.value"]
    """The steady time above the floor's."""
    overhead_ns_per_unit_low: Annotated[Number, "overhead.low"]
    overhead_ns_per_unit_high: Annotated[Number, "overhead.high"]
    overhead_verdict: verdicts.Verdict | None
    """The verdict against the floor."""
    reference: Annotated[str, "report.reference"]
    """The runner that ratios refer to."""
    ratio: Annotated[Number, "compared.ratio.value"]
    """The metric's time over the reference's: below 1 is faster."""
    ratio_low: Annotated[Number, "compared.ratio.low"]
    ratio_high: Annotated[Number, "compared.ratio.high"]
    p: Annotated[Number, "compared.p"]
    """The p-value of “no difference”."""
    p_adjusted: Annotated[Number, "compared.adjusted"]
    """The same after correction."""
    verdict: Annotated[verdicts.Verdict | None, "compared.verdict"]
    """The verdict on the ratio."""
    needs_blocks: Annotated[int | None, "compared.needs_blocks"]
    """The blocks that would probably settle a `not resolved`."""
    fsync_per_transaction: Number
    """Calls by one transaction that writes, counted from outside."""
    fdatasync_per_transaction: Number
    """Calls by one transaction that writes, counted from outside."""
    bytes_per_transaction: Number
    """Bytes that it wrote to the database's files."""
    uncounted: Words
    """Why these three are unknown."""


# Read of a report.
class Machine(Part):
    """A machine and its run."""

    name: str
    """The machine's name (`run --machine`)."""
    run: str
    """The run directory."""
    kind: verdicts.RunKind
    """What kind of run it is."""
    suite: str
    """The suite."""
    created: str
    """When the run began."""
    sqlitmus: Annotated[str, "sqlitmus_version"]
    """The version that measured."""
    seed: int
    """The seed of the random order."""
    blocks_planned: int
    """The blocks of the plan."""
    blocks_complete: int
    """Those that were measured."""
    sessions: int
    """The sittings that they lie in."""
    margin: float
    """The smallest difference that matters, as a share of the time: 0.02 for 2 %."""
    correction: verdicts.Correction
    """How p-values are corrected for many comparisons."""
    reference: str
    """The runner that ratios refer to."""
    floor: str | None
    """The runner without a driver, if it took part."""
    detectable: Annotated[Number, "detectable.0"]
    """The median of the cases' smallest detectable differences."""
    detectable_least: Annotated[Number, "detectable.1"]
    """The least of them."""
    detectable_most: Annotated[Number, "detectable.2"]
    """The greatest of them."""
    notices: list[Text]
    """What the report says of the run."""
    facts: Annotated[dict[str, str], "machine"]
    """What the run recorded of the machine."""


# Read of a runner's costs.
class Cost(Part):
    """What 1,000 requests take with a runner, or 1,000 calls of a workload."""

    runner: str
    """The runner."""
    time_ms: Number
    """Their time."""
    parts: dict[str, float]
    """Each case's share of it; empty for a workload, whose queries are measured together."""
    reference: Annotated[str | None, "contrast.reference"]
    """The runner in front that it is compared with; null in front."""
    ratio: Annotated[Number, "contrast.ratio.value"]
    """Its time over that runner's; the intervals of all ratios hold together with 95 %."""
    ratio_low: Annotated[Number, "contrast.ratio.low"]
    ratio_high: Annotated[Number, "contrast.ratio.high"]
    verdict: Annotated[verdicts.Verdict | None, "contrast.verdict"]
    """The verdict on the ratio."""
    cpu_ms: Number
    """Their CPU time."""


# Read of a choice by a preset, or of the recommendation on a workload.
class Recommendation(OfRun):
    """The decision on a run of a suite by a preset, or on a workload."""

    preset: str | None
    """The preset's name; null for a workload."""
    calls: dict[str, float]
    """Calls of each case per 1,000 requests, or of each query per 1,000 calls."""
    front: Annotated[list[str], "ranking.front"]
    """The fastest within the limits, or those tied; empty where no runner is ranked."""
    costs: list[Cost]
    """What these calls take with each runner."""
    text: Text
    """The report's sentences."""


class Export(Part):
    """A report's machines and all their rows."""

    schema_version: Literal[1]
    """The version of this form."""
    sqlitmus: str
    """The version that exports."""
    machines: list[Machine]
    """The machines in the order of the report."""
    rows: list[Row]
    """A row per cell: by machine, then case, then runner."""
    claims: list[ClaimRow] = []
    """The rows of published claims, whose cells are among `rows`."""
    recommendations: list[Recommendation] = []
    """Those of each machine, the one that stands first in its report first."""
    settings: list[SettingRow] = []
    """The rows of settings that were tried, whose cells are among `rows`."""


def described(model: type[Model]) -> str:
    """A line per column: its name, `_low` and `_high` where it has an interval, what it holds."""
    fields = model.model_fields
    ends = {name: ", _low, _high" if f"{name}_low" in fields else "" for name in fields}
    return "".join(
        f"{name + ends[name]:36} {field.description}\n"
        for name, field in fields.items()
        if field.description
    )


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
    columns = _bounded(figure.column, value, figure.meaning)
    if not figure.primary:
        columns = {figure.column: columns[figure.column]}
    if figure.judged:
        contrast = f"{measure}.contrast"
        over = "The figure over the reference's."
        columns |= _bounded(f"{figure.name}_ratio", f"{contrast}.ratio", over)
        means = "" if figure.smaller == "faster" else f"; “faster” means {figure.smaller}"
        columns[f"{figure.name}_verdict"] = (
            Annotated[verdicts.Verdict | None, f"{contrast}.verdict"],
            Field(description=f"The verdict on that ratio{means}."),
        )
    return columns


def _bounded(column: str, path: str, holds: str) -> dict[str, Any]:
    """A figure and the ends of its interval, in three columns."""
    ends = {"": "value", "_low": "low", "_high": "high"}
    return {
        f"{column}{end}": (
            Annotated[Number, f"{path}.{name}"],
            Field(description=None if end else holds),
        )
        for end, name in ends.items()
    }
