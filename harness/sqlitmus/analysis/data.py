"""A run's file as `RunData`: its samples as arrays, and its details."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from sqlite3 import Connection
from statistics import median
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sqlitmus.catalog import presets
from sqlitmus.catalog.plan import Plan, check_counts
from sqlitmus.catalog.presets import Preset
from sqlitmus.results.report import SelfTest
from sqlitmus.store import file as runs
from sqlitmus.store.file import ONLY, STEADY, Block, Look, Verified, opened
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import RunDataError, UsageError
from sqlitmus.vocabulary.figures import Detail
from sqlitmus.vocabulary.text import unknown
from sqlitmus.vocabulary.verdicts import Scheme

# What a self-test says of runs whose scheme it did not measure.
_NOT_OF_THIS: dict[Scheme, str] = {
    "relay": "It did not measure processes that take turns, as those of this run did.",
    "process": "It did not measure processes one after the other, as those of this run were.",
}


def of_run(tested: SelfTest, scheme: Scheme) -> SelfTest:
    """What the self-test says of a run that was measured in `scheme`."""
    lines = tested.lines if tested.scheme == scheme else [*tested.lines, _NOT_OF_THIS[scheme]]
    return replace(tested, lines=lines)


NONE, OK, FAILED, WRONG = 0, 1, 2, 3
_CODES = {"ok": OK, "failed": FAILED, "wrong": WRONG}

Array = NDArray[np.float64]
Place = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Arrays of shape (cases, series, blocks); the series are the plan's runners, then the canary.

    `code` says what became of an invocation: NONE, OK, FAILED or WRONG. `time` is the primary time
    in ns per unit of work, `figures` the steady one and others by name, per unit or per process;
    NaN = not recorded. `position` is the place in the run, -1 = none. `reasons` maps (case, series,
    block) of a bad invocation to what was said of it.
    """

    code: NDArray[np.int8]
    time: Array
    figures: dict[str, Array]
    position: NDArray[np.int64]
    reasons: dict[Place, str]
    complete: bool


def read_samples(db: Connection, run: int, plan: Plan) -> tuple[Samples, dict[int, Place]]:
    """The samples of a run, and the place of each by its number in the file.

    Raises RunDataError for one that the plan does not know.
    """
    shape = (len(plan.cases), len(plan.runners) + 1, plan.blocks)
    cases = {case.id: number for number, case in enumerate(plan.cases)}
    series = {(name, name): number for number, name in enumerate(plan.names)}
    twins = {*filter(None, [*plan.canaries.values(), plan.canary])}
    series |= {("canary", name): len(plan.runners) for name in twins}
    code = np.full(shape, NONE, dtype=np.int8)
    position = np.full(shape, -1, dtype=np.int64)
    reasons: dict[Place, str] = {}
    places: dict[int, Place] = {}
    for sample, case, runner, label, block, at, outcome, reason in db.execute(
        "SELECT sample.id, case_id, runner, label, block, position, sample.outcome, "
        "sample.reason FROM cell JOIN sample ON sample.cell = cell.id WHERE run = ? "
        "ORDER BY sample.id",
        (run,),
    ):
        if case not in cases or (label, runner) not in series or block >= plan.blocks:
            raise RunDataError(
                f"sample {sample}: the plan has no {case}/{runner} as {label} in block {block}"
            )
        place = (cases[case], series[label, runner], block)
        code[place], position[place] = _CODES[outcome], at
        places[sample] = place
        if outcome != "ok":
            reasons[place] = reason or "no reason recorded"
    (complete,) = db.execute("SELECT complete FROM run WHERE id = ?", (run,)).fetchone()
    time, by_name = _figures(db, run, plan, {s: p for s, p in places.items() if code[p] == OK})
    return Samples(code, time, by_name, position, reasons, bool(complete)), places


def _figures(
    db: Connection, run: int, plan: Plan, places: Mapping[int, Place]
) -> tuple[Array, dict[str, Array]]:
    """The primary time of each case, and all figures, in `places`, which are of good processes."""
    (number,) = db.execute(
        "SELECT count(*) FROM cell JOIN sample ON cell = cell.id JOIN value ON sample = sample.id "
        "WHERE run = ?",
        (run,),
    ).fetchone()
    if number > runs.MOST_VALUES:
        raise RunDataError(
            f"run {run}: more than {runs.MOST_VALUES:,} figures, the most that are read"
        )
    shape = (len(plan.cases), len(plan.runners) + 1, plan.blocks)
    flat = {sample: np.ravel_multi_index(place, shape).item() for sample, place in places.items()}

    entries: dict[str, list[tuple[int, float]]] = {}
    for name, sample, value in db.execute(
        "SELECT figure.name, sample.id, value FROM cell JOIN sample ON cell = cell.id "
        "JOIN value ON sample = sample.id JOIN figure ON figure = figure.id WHERE run = ?",
        (run,),
    ):
        if sample in flat:
            entries.setdefault(name, []).append((flat[sample], value))

    def column(name: str) -> Array:
        whole = np.full(shape, np.nan).ravel()
        if of_name := entries.get(name):
            at, values = zip(*of_name, strict=True)
            whole[list(at)] = values
        return whole.reshape(shape)

    units = np.array([plan.units(case) for case in plan.cases], dtype=np.float64)
    units = units.reshape(*shape[:2], 1)
    metrics = np.array([case.metric for case in plan.cases], dtype=np.str_).reshape(-1, 1, 1)
    time = column(STEADY) / units
    by_name = {STEADY: time}
    for figure in figures.FIGURES:
        values = column(figure.name)
        if figure.zero == "unknown":
            values = np.where(values == 0, np.nan, values)
        by_name[figure.name] = values / units if figure.per_unit else values
        time = np.where(metrics == figure.name, values, time)
    return time, by_name


Sizes = list[tuple[float, int]]


@dataclass(slots=True)
class Details:
    """What the processes of a cell told beyond their figures, over its blocks.

    `buckets` is the histogram of all operations together; `cpus` are the shares of each processor
    in use, `skews` the ns between the first and the last process's start; `wal` and `resident` have
    the sizes of the write-ahead log and of the process's memory, (ms, bytes).
    """

    buckets: Counter[int] = field(default_factory=Counter[int])
    cpus: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    skews: list[float] = field(default_factory=list[float])
    wal: list[Sizes] = field(default_factory=list[Sizes])
    resident: list[Sizes] = field(default_factory=list[Sizes])

    def add(self, detail: Detail) -> None:
        """What one more process told."""
        self.buckets.update(dict(detail.latencies))
        if detail.launch:
            for name, share in detail.launch.cpus.items():
                self.cpus.setdefault(name, []).append(share)
            if detail.launch.skew_us:
                self.skews.append(median(detail.launch.skew_us) * 1e3)
        if detail.wal:
            self.wal.append(detail.wal)
        if detail.resident:
            self.resident.append(detail.resident)


def read_details(
    db: Connection, run: int, places: Mapping[int, Place]
) -> dict[tuple[int, int], Details]:
    """By case and series, the details of the samples that have a place."""
    cells: dict[tuple[int, int], Details] = {}
    for sample, text in db.execute(
        "SELECT sample.id, record FROM cell JOIN sample ON cell = cell.id "
        "JOIN detail ON sample = sample.id WHERE run = ? ORDER BY sample.id",
        (run,),
    ):
        detail = runs.parsed(Detail, text, f"detail of sample {sample}")
        if sample in places:
            case, series, _ = places[sample]
            cells.setdefault((case, series), Details()).add(detail)
    return cells


class Gated(Model):
    """What the gate of a comparison came to, as sentences."""

    lines: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class RunData:
    """A run in memory. `checks` is keyed by (case id, runner name); `presets` are by what weights
    it is decided. `under_way` says that somebody measures it now."""

    plan: Plan
    checks: dict[tuple[str, str], Verified]
    samples: Samples
    blocks: list[Block]
    machine: dict[str, str]
    selftest: SelfTest | None = None
    details: Mapping[tuple[int, int], Details] = field(
        default_factory=dict[tuple[int, int], Details]
    )
    gate: Sequence[str] = ()
    presets: Mapping[str, Preset] = field(default_factory=dict[str, Preset])
    under_way: bool = False

    @property
    def cores(self) -> int | None:
        """Number of cores, None where the machine did not say."""
        text = self.machine.get("cores", "")
        return int(text) if text.isdecimal() and int(text) > 0 else None

    def details_of(self, case: int, series: int) -> Details:
        """What the processes of that cell told beyond their figures, perhaps nothing."""
        return self.details.get((case, series), Details())

    def only(self, option: Sequence[str]) -> Self:
        """The run as if only these runners had taken part, in its own order. Raises UsageError for
        one that did not, and for a run whose cases are compared with each other."""
        plan, names = self.plan, self.plan.names
        for name in option:
            if name not in names:
                raise UsageError(f"-r {name}: {unknown('runner', name, names)}")
        if plan.kind != "suite":
            raise UsageError(
                f"-r: {plan.run} is of the kind {plan.kind}; only a suite's can choose"
            )
        series = [place for place, name in enumerate(names) if name in option]
        left = [names[place] for place in series]
        twins = {case: name if name in left else "" for case, name in plan.canaries.items()}
        chosen = plan.model_copy(
            update={
                "runners": [plan.runners[place] for place in series],
                "cells": {case: [n for n in of if n in left] for case, of in plan.cells.items()},
                "reference": plan.reference if plan.reference in left else left[0],
                "canary": plan.canary if plan.canary in left else None,
                "canaries": twins if plan.canary in left else {},
                "floor": plan.floor if plan.floor in left else None,
            }
        )
        series.append(len(names))  # the canary
        samples, now = self.samples, {place: number for number, place in enumerate(series)}
        return replace(
            self,
            plan=chosen,
            samples=Samples(
                samples.code[:, series],
                samples.time[:, series],
                {name: values[:, series] for name, values in samples.figures.items()},
                samples.position[:, series],
                {(c, now[s], b): why for (c, s, b), why in samples.reasons.items() if s in now},
                samples.complete,
            ),
            details={(c, now[s]): each for (c, s), each in self.details.items() if s in now},
        )


def load(directory: Path) -> RunData:
    """The run in `directory`, finished or not; raises UsageError for what is none, and for faults
    in the presets of the catalogue."""
    return load_file(runs.check_file(directory))


def load_file(file: Path) -> RunData:
    """The run in a checked file; see `load`."""
    with opened(file) as db:
        return read(db, ONLY, presets.load())


def read(db: Connection, run: int, weights: Mapping[str, Preset]) -> RunData:
    """Run `run` of an open file, to be decided by `weights`. Raises RunDataError."""
    plan = _looked(runs.plan_of(db, run), runs.looks_of(db, run))
    check_counts(plan)
    blocks = runs.blocks_of(db, run)
    samples, places = read_samples(db, run, plan)
    selftest, gate = db.execute("SELECT selftest, gate FROM run WHERE id = ?", (run,)).fetchone()
    tested = None if selftest is None else runs.parsed(SelfTest, selftest, "self-test")
    return RunData(
        plan=plan,
        checks={(check.case, check.runner): check for check in runs.verified_of(db, run)},
        samples=samples,
        blocks=blocks,
        machine=runs.facts_of(db, run),
        selftest=tested and of_run(tested, plan.actual_scheme()),
        details=read_details(db, run, places),
        gate=() if gate is None else runs.parsed(Gated, gate, "gate").lines,
        presets=weights,
    )


def _looked(plan: Plan, looks: Sequence[Look]) -> Plan:
    """The plan with the blocks that each case has: as it shared them, and as its looks left it."""
    ended, blocks = dict(plan.sets), plan.blocks
    most = runs.MOST_EXTENDED * max(blocks, plan.foreseen or 0)
    for look in looks:
        if look.until > most:
            raise RunDataError(f"look after {look.blocks} blocks: $.until: more than {most} blocks")
        ended |= {case: look.blocks for case in look.settled if case not in ended}
        blocks = plan.blocks if plan.foreseen else look.until
    return plan.model_copy(update={"ended": ended, "blocks": blocks})
