"""The plan of a run: all that is frozen, and whether two plans measure the same work. Pure."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from sqlitmus.catalog.cases import Cells, PlannedCase, PlannedCounts, PlannedRunner, PlannedWorkload
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.fixture import LAYOUT
from sqlitmus.catalog.published import Claim
from sqlitmus.catalog.settings import PlannedAdvice
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import RunDataError, UsageError
from sqlitmus.vocabulary.verdicts import Correction, RunKind, Scheme

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


class Budget(Model):
    """The `seconds` that all blocks may take together; `least` are measured however long they
    take."""

    seconds: float = Field(gt=0)
    least: int = Field(ge=1)


class Plan(Model):
    """What a run will do, frozen before it starts. `cells` holds the names of runners per case id.

    `blocks` counts those of all `sessions` together, which are `pause_s` seconds apart. `subjects`
    are the texts that a comparison was given, precise enough to resolve again, `sources` by claim
    the folders that hold its evidence. `gate` is the slowdown, as a share of the time, that fails a
    comparison, and `strict` says whether a case too noisy to tell does so, too; a confirmation
    names the run that it `confirms`. `canary` is the runner that runs twice in each case;
    `canaries` overrides it for some, "" for none. `machine` is the machine's name in merged
    reports; `definitions` has a hash of each scenario, profile and fixture, by kind and name. In
    the scheme `relay` the processes of a case take turns where their counts have rounds; the work
    of a single thread is done on `processor`, where there is one. `rerun` is the command that
    repeats the run, `pins` are the processors of the processes of a cell that has several. `sets`
    are cases that take part in so many of the first blocks only, of each of the `sittings`, which
    were begun one by one. Where the time of the `budget` was up earlier, `blocks` are those that
    there was time for, in place of `foreseen`; it had no room for the cases that are `left_out`.
    `ended` are these and those that were settled at a planned look, with the blocks that they have;
    it is empty in the file, and known when a run is read.
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
    sittings: int = Field(default=1, ge=1)
    pause_s: float = 0
    budget: Budget | None = None
    foreseen: int | None = None
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
    sources: dict[str, str] = {}
    gate: float | None = None
    strict: bool = False
    confirms: str | None = None
    claims: list[Claim] = []
    workload: PlannedWorkload | None = None
    advice: PlannedAdvice | None = None
    pins: list[int] = []
    processor: int | None = None
    forced: bool = False
    left_out: list[str] = []
    ended: dict[str, int] = {}

    @property
    def programs(self) -> list[str]:
        """The subjects, and the folders whose programs run beside the cells, with a hash of what is
        run of them."""
        sources = [
            f"{claim.name}={self.sources[claim.name]}+{_hash(claim.evidence)}"
            for claim in self.claims
            if claim.name in self.sources and claim.evidence
        ]
        return [*self.subjects, *sources]

    @property
    def names(self) -> list[str]:
        """The names of the runners."""
        return [runner.name for runner in self.runners]

    def again(self) -> Self:
        """The plan with one more sitting, as long as each so far. Raises UsageError where a plan
        cannot have several."""
        if self.kind != "suite" or self.looks > 1:
            why = "has planned looks" if self.looks > 1 else f"is of the kind {self.kind}"
            raise UsageError(
                f"--again: {self.run} {why}; only a run of a suite or of a workload "
                "without planned looks can have several sittings"
            )
        more = {name: getattr(self, name) // self.sittings for name in ("blocks", "sessions")}
        grown = {name: getattr(self, name) + each for name, each in more.items()}
        grown["sittings"] = self.sittings + 1
        return self.model_copy(update={**grown, "budget": None, "foreseen": None})

    def shortened(self, blocks: int, foreseen: int) -> Self:
        """The plan of a run that had time for so many `blocks` of those `foreseen`.

        The error is spent at the planned looks that it came to and at its end. These lie closer
        together than equally spaced ones, so they err less often.
        """
        taken = [self.blocks * look // self.looks <= blocks for look in range(1, self.looks)]
        return self.model_copy(
            update={
                "blocks": blocks,
                "foreseen": foreseen,
                "sessions": max(self.sessions * blocks // self.blocks, 1),
                "sets": {case: number for case, number in self.sets.items() if number < blocks},
                "looks": 1 + sum(taken),
            }
        )

    def place(self, block: int) -> int:
        """The number of `block` in its sitting, whose first blocks have the `sets` of a case."""
        return block % (self.blocks // self.sittings) if self.sittings > 1 else block

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


ASPECTS = "sql", "pragmas", "metric", "per_operation", "workers", "processes", "fixture", "variant"


def facts(plan: Plan, ids: Collection[str] | None = None) -> dict[str, str]:
    """What `plan` measures in the cases `ids`, by name; in all of its cases by default.

    The size of the fixtures, a hash of each scenario, profile and fixture, and the aspects of each
    case: two plans measure the same work as far as the facts that both have are equal.
    """
    cases = [case for case in plan.cases if ids is None or case.id in ids]
    named = {f"scenario {case.scenario}" for case in cases}
    named |= {f"fixture {case.fixture}" for case in cases if case.fixture}
    named |= {f"profile {case.axes['profile']}" for case in cases if "profile" in case.axes}
    return {
        "fixture size": plan.size,
        **{name: value for name, value in plan.definitions.items() if name in named},
        **{f"{aspect} of {c.id}": str(getattr(c, aspect)) for c in cases for aspect in ASPECTS},
    }


def definitions(catalog: Catalog, cases: Sequence[PlannedCase]) -> dict[str, str]:
    """A hash of each scenario, profile and fixture of `cases`, by kind and name.

    It is "gone" for a definition that is no longer in the catalogue.
    """
    models: dict[str, Model | None] = {}
    for case in cases:
        models[f"scenario {case.scenario}"] = catalog.scenarios.get(case.scenario)
        if case.fixture:
            models[f"fixture {case.fixture}"] = catalog.fixtures.get(case.fixture)
        if profile := case.axes.get("profile"):
            models[f"profile {profile}"] = catalog.profiles.get(str(profile))
    return {name: _hash(model) if model else "gone" for name, model in sorted(models.items())}


def _hash(model: Model) -> str:
    # without defaults, so that a new field leaves the hashes of what does not use it
    text = f"{LAYOUT}/{model.model_dump_json(exclude_defaults=True)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def differences(base: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Names of the facts that both have with different values, in the order of `base`."""
    return [name for name, value in base.items() if other.get(name, value) != value]


MOST_BLOCKS = 200_000
MOST = {"cases": 10_000, "runners": 200, "blocks": MOST_BLOCKS, "sessions": 1000, "looks": 100}
MOST_PLACES = 2_000_000  # invocations; 10,000 cells of 30 blocks are 300,000
MOST_PAIRED = 30_000_000  # blocks of two runners in a case; those cells have 1,350,000
NAME = re.compile(r"(?!\.+$)[\w.@+-]{1,200}")


def check_counts(plan: Plan) -> None:
    """Raise RunDataError for numbers beyond reason."""
    cases, runners = len(plan.cases), len(plan.runners)
    for name, most in MOST.items():
        given = getattr(plan, name)
        if (count := given if isinstance(given, int) else len(given)) > most:
            raise RunDataError(
                f"plan: $.{name}: {count} is more than {most:,}, the most that is read"
            )
    if cases * (runners + 1) * plan.blocks > MOST_PLACES:
        raise RunDataError(
            f"plan: cases × runners × blocks are more than {MOST_PLACES:,} invocations, the "
            "most that are read"
        )
    if cases * runners * (runners + 1) // 2 * plan.blocks > MOST_PAIRED:
        raise RunDataError(
            f"plan: cases × pairs of runners × blocks are more than {MOST_PAIRED:,}, the most "
            "that are read"
        )


def check_name(where: str, name: str) -> None:
    """Raise UsageError for a name that is none of a folder beside another one."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{where} {name[:200]!r}: only letters, digits and . _ @ + - may be in a name"
        )
