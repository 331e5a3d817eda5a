"""Published claims as experiments: the frozen models of `scenarios/claims/*.toml`. Pure.

Every ratio is base / new: how many times as fast the new cell is as the base. A difference is
base - new, in milliseconds: what the new cell saves.
"""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.terms import ClaimMetric


def _finite(value: float) -> float:
    if not 0 < value < float("inf"):
        raise ValueError(f"{value} is no ratio; expected base / new as a positive number")
    return value


# base / new; in a group of differences, base - new in ms
Figure = Annotated[float, AfterValidator(_finite)]


class CellTemplate(Model):
    """A case id, and a runner when the claim compares two runners."""

    case: str
    runner: str | None = None


class ClaimRow(Model):
    """One published figure.

    `said` quotes the publication; `values` fill the braces of the group's cells. A row without
    `published` is shown without a verdict. The `key` rows decide the claim's word; without key
    rows, all rows do.
    """

    name: str
    published: Figure | None = None
    said: str = ""
    values: dict[str, str] = {}
    untestable: str = ""
    key: bool = False


class ClaimGroup(Model):
    """Rows of one kind: which cells are compared, by which metric, on which runners.

    Times are per operation, or per returned row when `per` is "row"; `wall` is the time of the
    process. What is published and measured is a ratio or a difference, as `compare` says: of waits
    of a fixed length a ratio would have another machine in its denominator. `expects` "no effect"
    holds when the interval lies within the factor `tolerance` of 1; `stats.claim.Published` defines
    "effect". The machine needs at least `cores` cores to show the claim. A group of nothing but
    untestable rows names no cells.
    """

    title: str
    metric: ClaimMetric
    base: CellTemplate = CellTemplate(case="")
    new: CellTemplate = CellTemplate(case="")
    runners: list[str] = []
    expects: Literal["effect", "no effect"] = "effect"
    compare: Literal["ratio", "difference"] = "ratio"
    tolerance: Annotated[float, Field(gt=1)] = 1.5
    per: Literal["operation", "row"] = "operation"
    cores: int = 1
    rows: Annotated[list[ClaimRow], Field(min_length=1)]

    @model_validator(mode="after")
    def _whose(self) -> Self:
        if all(row.untestable for row in self.rows):
            return self
        named = [cell.runner is not None for cell in (self.base, self.new)]
        if self.runners and any(named):
            raise ValueError("give either runners or a runner in both cells")
        if not self.runners and not all(named):
            raise ValueError("give runners, or a runner in base and in new")
        return self

    @model_validator(mode="after")
    def _figures(self) -> Self:
        if self.per == "row" and self.metric == "wall":
            raise ValueError("wall is the time of a process; it has no time per row")
        if self.expects == "no effect" and self.compare == "difference":
            raise ValueError('expects = "no effect" is said of ratios; leave out compare')
        if self.expects == "no effect" and "tolerance" not in self.model_fields_set:
            raise ValueError('expects = "no effect" needs the tolerance that still counts as none')
        for row in self.rows:
            if self.expects == "effect" and self.compare == "ratio" and row.published == 1.0:
                raise ValueError(f"row {row.name!r}: published = 1 is no effect; set expects")
            if row.key and row.published is None:
                raise ValueError(f"row {row.name!r}: a key row needs a published ratio")
        return self

    def pairs(self, row: ClaimRow) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
        """(case id, runner) of base and new, once for each runner."""
        base, new = (cell.case.format(**row.values) for cell in (self.base, self.new))
        named = [str(cell.runner).format(**row.values) for cell in (self.base, self.new)]
        for base_runner, new_runner in [(name, name) for name in self.runners] or [named]:
            yield (base, base_runner), (new, new_runner)


class Lessons(Model):
    """The advice for a service, in one line for each possible outcome.

    `different` is for an effect that is smaller than published, and for a larger one unless there
    is `larger`; `reversed` also for no effect where one was published, and the other way round.
    """

    reproduced: str
    compatible: str = (
        "The effect is here, too; whether it is as large as published, more blocks would tell."
    )
    different: str
    larger: str = ""
    unresolved: str
    reversed: str
    untestable: str


class ClaimTable(Model):
    """Cells shown side by side by `metric`: every case on every runner.

    A ranking lists the fastest first. A scaling has the threads of all processes on its axis and a
    line for each combination of the other axes. A histogram has a logarithmic axis; with `step_ms`
    it has a linear axis with a tick at each step.
    """

    title: str
    metric: ClaimMetric
    cases: Annotated[list[str], Field(min_length=1)]
    runners: Annotated[list[str], Field(min_length=1)]
    kind: Literal["ranking", "scaling", "histogram"] = "ranking"
    step_ms: Annotated[float, Field(gt=0)] | None = None


class Claim(Model):
    """A publication and the experiment that measures it again.

    It pinned processes to `pins` processors, 0 if it did not. `contradicts` names the claim whose
    publication says otherwise; it names this one.
    """

    name: str
    title: str
    source: str
    published_on: str
    hypothesis: str
    contradicts: str = ""
    differences: list[str] = []
    untestable: list[str] = []
    pins: Annotated[int, Field(ge=0)] = 0
    lessons: Lessons
    groups: Annotated[list[ClaimGroup], Field(min_length=1)]
    tables: list[ClaimTable] = []

    @model_validator(mode="after")
    def _says(self) -> Self:
        rows = [row for group in self.groups for row in group.rows]
        if not any(row.published or row.untestable for row in rows):
            raise ValueError("no row has a published ratio, so there is nothing to reproduce")
        return self

    def compared(
        self, cores: int | None = None
    ) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
        """Base and new, as (case id, runner), of all rows that can be tested.

        `cores` leaves out the groups that need more cores.
        """
        for group in self.groups:
            if cores is None or group.cores <= cores:
                for row in group.rows:
                    if not row.untestable:
                        yield from group.pairs(row)

    def cells(self, cores: int | None = None) -> Iterator[tuple[str, str]]:
        """Every (case id, runner) that the claim needs, repeats included.

        `cores` leaves out the groups that need more cores.
        """
        for pair in self.compared(cores):
            yield from pair
        for table in self.tables:
            for case in table.cases:
                for runner in table.runners:
                    yield case, runner
