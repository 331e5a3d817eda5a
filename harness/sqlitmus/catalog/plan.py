"""The plan of a run: its cases, the counts of each cell, and what else is frozen. Pure.

A case is a scenario with every axis fixed; a cell is a case × a runner.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from sqlitmus.catalog.advised import PlannedAdvice
from sqlitmus.catalog.claims import Claim
from sqlitmus.catalog.planned import (
    Cells,
    PlannedCase,
    PlannedCounts,
    PlannedRunner,
    PlannedWorkload,
)
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.terms import Correction, Level, RunKind, Scheme

SCHEMA: Literal[2] = 2


def canaries(cells: Cells, canary: str | None, others: Mapping[str, str]) -> dict[str, str]:
    """The canary of each case: `others` overrides `canary`; only runners of the case count."""
    named = {case: others.get(case, canary) for case in cells}
    return {case: name for case, name in named.items() if name in cells[case] and name}


def compared(
    published: Iterable[Claim], advice: PlannedAdvice | None
) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Cells (case id, runner) that are compared although they belong to different cases."""
    pairs = [pair for claim in published for pair in claim.compared()]
    return pairs + (advice.compared() if advice else [])


class Plan(Model):
    """What a run will do, frozen before it starts. `cells` holds the names of runners per case id.

    `blocks` counts those of all `sessions` together, which are `pause_s` seconds apart. `subjects`
    are the texts that a comparison was given, precise enough to resolve again. `gate` is the
    slowdown, as a share of the time, that fails a comparison, and `strict` says whether a case too
    noisy to tell does so, too; a confirmation names the run that it `confirms`. `canary` is the
    runner that runs twice in each case; `canaries` overrides it for some, "" for none. `machine` is
    the machine's name in merged reports; `definitions` has a hash of each scenario, profile and
    fixture, by kind and name. In the scheme `relay` the processes of a case take turns where their
    counts have rounds; the work of a single thread is done on `processor`, where there is one.
    `rerun` is the command that repeats the run, `pins` are the processors of the processes of a
    cell that has several. `sets` are cases that take part in so many of the first blocks only.
    `ended` are these and those that were settled at a planned look, with the blocks that they have;
    it is empty in the file, and known when a run is read. A time is the `level` of a process: all
    of its time over all of its operations, or in runs of earlier versions the median iteration.
    """

    schema_version: Literal[2] = SCHEMA
    run: str
    label: str
    kind: RunKind = "suite"
    suite: str
    mode: str
    scheme: Scheme = "process"
    size: str
    created: str
    sqlitmus: str
    seed: int
    blocks: int = Field(ge=1)
    sets: dict[str, int] = {}
    sessions: int = Field(default=1, ge=1)
    pause_s: float = 0
    looks: int = Field(default=1, ge=1)
    correction: Correction
    reference: str
    canary: str | None
    canaries: dict[str, str] = {}
    floor: str | None
    margin: float = Field(gt=0, lt=1)
    runners: list[PlannedRunner] = Field(min_length=1)
    cases: list[PlannedCase]
    cells: Cells
    counts: PlannedCounts
    fingerprint: str
    machine: str = ""
    definitions: dict[str, str] = {}
    rerun: str = ""
    subjects: list[str] = []
    gate: float | None = None
    strict: bool = False
    confirms: str | None = None
    claims: list[Claim] = []
    workload: PlannedWorkload | None = None
    advice: PlannedAdvice | None = None
    pins: list[int] = []
    processor: int | None = None
    forced: bool = False
    ended: dict[str, int] = {}
    level: Level = "median"

    @property
    def names(self) -> list[str]:
        """The names of the runners."""
        return [runner.name for runner in self.runners]

    def compared(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Cells (case id, runner) that claims or settings compare across cases; else none."""
        return compared(self.claims, self.advice)

    def twice(self) -> dict[str, str]:
        """The runner that runs twice in each case, as its canary."""
        return canaries(self.cells, self.canary, self.canaries)

    def twins(self) -> list[int] | None:
        """Per case the place of the runner that the canary repeats; None without a canary."""
        if self.canary is None:
            return None
        names = self.names
        return [names.index(self.canaries.get(case.id) or self.canary) for case in self.cases]

    def repeated(self) -> list[int]:
        """The places of the cases that the canary repeats; none without a canary."""
        return [
            place
            for place, case in enumerate(self.cases)
            if self.canary and self.canaries.get(case.id, self.canary)
        ]

    def counted(self, case: PlannedCase, runner: str) -> PlannedCase:
        """`case` with the counts of this runner's cell."""
        counts = self.counts.get(case.id, {}).get(runner)
        return case if counts is None else counts.of(case)

    def took_turns(self, case_id: str) -> bool:
        """Whether the processes of a case took turns; its scheme alone does not say so."""
        return any(counts.rounds for counts in self.counts.get(case_id, {}).values())

    def actual_scheme(self) -> Scheme:
        """That of cases which can take turns: without them, or on a system without, `process`."""
        return "relay" if any(map(self.took_turns, self.counts)) else "process"

    def units(self, case: PlannedCase) -> list[int]:
        """Units of work that the primary time of each series of `case` covers, canary last.

        One process if cold, else what an iteration does.
        """
        if case.metric == "cold":
            return [1] * (len(self.runners) + 1)
        planned, names = self.counts.get(case.id, {}), self.names
        twin = self.canaries.get(case.id) or self.canary or names[0]
        return [
            (planned[name].operations if name in planned else case.operations) * case.per_operation
            for name in [*names, twin]
        ]

    @model_validator(mode="after")
    def _names(self) -> Self:
        names = self.names
        _unique("runner", names)
        _unique("case", [case.id for case in self.cases])
        named = [(key, getattr(self, key)) for key in ("reference", "canary", "floor")]
        for key, name in [*named, *(("canary", name or None) for name in self.canaries.values())]:
            if name is not None and name not in names:
                raise ValueError(f"{key} {name!r} is not among the runners {', '.join(names)}")
        for case, number in self.sets.items():
            if not 0 < number < self.blocks:
                raise ValueError(f"{case} has {number} sets, not 1 to {self.blocks - 1}")
        if self.blocks % self.sessions:
            raise ValueError(
                f"{self.blocks} blocks cannot be divided into {self.sessions} sessions"
            )
        return self


def _unique(what: str, names: list[str]) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"{what} {', '.join(repeated)} occurs more than once")
