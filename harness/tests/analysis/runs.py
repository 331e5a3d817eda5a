"""Small runs for the analysis tests, written into a file's tables and read back; what analysis
makes of them has its types here, too.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

import numpy as np
from pydantic import ValidationError

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.data import RunData, load, read
from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.presets import Preset
from sqlitmus.results.ranking import Contrast, Interval
from sqlitmus.results.report import Case, Cell, Measure, Report
from sqlitmus.store.file import (
    FILE,
    LOGS,
    STEADY,
    Block,
    Look,
    Record,
    Sample,
    Verified,
    create_file,
    insert_block,
    insert_look,
    insert_records,
    insert_run,
    with_tables,
)
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.figures import Detail, bucket
from sqlitmus.vocabulary.verdicts import Verdict

# Used by nobody here; other tests take them from here with what is.
__all__ = ["Measure", "Verdict", "analyse", "load", "read"]

Json = dict[str, Any]
Times = Callable[[int, str, int], float]
New = Json | Callable[[Json], Json]
# What lines are like, and what they have instead.
Changes = Sequence[tuple[Json, New | None]]


class Filled(TypedDict, total=False):
    """In what a run is not as `filled` has it."""

    verify: Iterable[Json] | None
    lines: Iterable[Json] | None
    machine: Json | None
    time: Times | None
    checked: Changes
    sampled: Changes
    blocks: Iterable[Json]
    selftest: object
    details: Iterable[Json]
    gate: object
    looks: Iterable[Json]


class More(Filled, total=False):
    """In what it is not as `make` has it, beside its plan."""

    spoilt: str
    presets: Mapping[str, Json]


class Made(More, total=False):
    """In what it is not as `make` has it."""

    of: Json | None


T = TypeVar("T")
SAMPLED = {"steady_ns": STEADY, **{figure.with_unit: figure.name for figure in figures.FIGURES}}
FEATURES = ("operations", "shapes", "integers", "statements", "transactions")
WORKLOAD: Json = {
    "file": "my.toml",
    "database": "app.db",
    "bytes": 1,
    "page_size": 4096,
    "encoding": "UTF-8",
    "journal_mode": "wal",
    "user_version": 0,
    "tables": 1,
    "schema_hash": "0",
    "shares": {"read": 0.9, "write": 0.1},
    "writing": ["write"],
    "workers": 1,
}


def description(name: str, *, sqlite: str = "3.51.0", options: Sequence[str] = ()) -> Json:
    return {
        "identity": {
            "runner": name,
            "runtime": {"name": name, "version": "1.0"},
            "driver": {"name": f"{name}-sqlite", "version": "2.0"},
            "architecture": "x86_64",
        },
        "sqlite": {
            "version": sqlite,
            "source_id": f"{sqlite}-source",
            "compile_options": list(options),
            "threadsafe": 1,
        },
        "contract": 2,
        "features": {name: [] for name in FEATURES},
    }


def runner(name: str, **changes: object) -> Json:
    return {
        "name": name,
        "title": f"{name} title",
        "runtime": name,
        "driver": f"{name}-sqlite",
        "role": "runner",
        "missing": None,
        "description": description(name),
        **changes,
    }


def case(name: str, **changes: object) -> Json:
    return {
        "id": name,
        "scenario": name.partition("@")[0],
        "title": f"{name} title",
        "question": "How fast?",
        "group": "reads",
        "bound_by": "driver",
        "axes": {"profile": "normalised"},
        "metric": "steady",
        "unit": "read",
        "per_operation": 1,
        "operations": 100,
        "iterations": 5,
        "warmup_iterations": 1,
        "warmup_ms": 0,
        "sql": ["SELECT 1"],
        "pragmas": [["journal_mode", "WAL"]],
        "workers": 1,
        "notes": [],
        **changes,
    }


def counts(operations: int, **changes: object) -> Json:
    """The counts of a cell."""
    of = {"operations": operations, "iterations": 5, "warmup_iterations": 1, "warmup_ms": 0}
    return {**of, "seconds": 0.5, **changes}


def plan(names: Sequence[str] = ("node", "bun", "rust-ffi"), **changes: object) -> Json:
    cases: Any = changes.get("cases", [case("get-pk"), case("get-index")])
    return {
        "schema_version": 2,
        "run": "run-1",
        "label": "",
        "suite": "quick",
        "mode": "quick",
        "size": "m",
        "fingerprint": "0",
        "created": "2026-01-01T00:00:00Z",
        "sqlitmus": "0.1.0",
        "seed": 7,
        "blocks": 12,
        "reference": names[0],
        "canary": names[0],
        "correction": "none",
        "floor": "rust-ffi" if "rust-ffi" in names else None,
        "margin": 0.02,
        "runners": [runner(n, role="floor" if n == "rust-ffi" else "runner") for n in names],
        "cases": cases,
        "cells": {one["id"]: list(names) for one in cases},
        "counts": {},
        "not-used": True,
        **changes,
    }


def checks(of: Json) -> list[Json]:
    return [
        {
            "case": case["id"],
            "runner": runner["name"],
            "outcome": "ok",
            "reason": None,
            "rows": 100,
            "affected": 0,
            "checksum": 255,
            "readback": None,
            "digest": "ab" * 32,
            "plans": [["SEARCH users"]],
            "pragmas": {"journal_mode": "wal", "synchronous": 1},
            "log": None,
            "command": "runner --job x",
        }
        for case in of["cases"]
        for runner in of["runners"]
        if runner["missing"] is None
    ]


def steady(value: float = 1000.0) -> Times:
    """The same nanoseconds per unit everywhere."""
    return lambda _case, _label, _block: value


def noisy(ratios: dict[str, float] | None = None, *, spread: float = 0.01) -> Times:
    """Nanoseconds per unit: 1000 x the runner's ratio x noise, the block's part of it shared."""

    def time(c: int, label: str, block: int) -> float:
        noise = 0.05 * drawn(1, c, block) + spread * drawn(2, c, block, *label.encode())
        return 1000 * (ratios or {}).get(label, 1.0) * float(np.exp(noise))

    return time


def levels(
    ids: Sequence[str], of: Mapping[str, float] | None = None, *, spread: float = 0.01
) -> Times:
    """Nanoseconds per unit: 1000 x noise x what a `case/runner` or else a runner takes, if that is
    not 1."""
    noise, given = noisy(spread=spread), of or {}

    def time(c: int, label: str, block: int) -> float:
        return given.get(f"{ids[c]}/{label}", given.get(label, 1.0)) * noise(c, label, block)

    return time


@cache
def drawn(*seed: int) -> float:
    """A standard normal value that `seed` decides."""
    return float(np.random.default_rng(seed).standard_normal())


def samples(of: Json, time: Times, *, complete: bool = True) -> list[Json]:
    lines: list[Json] = []
    names = [r["name"] for r in of["runners"] if r["missing"] is None]
    for block in range(of["blocks"]):
        for c, planned in enumerate(of["cases"]):
            units = planned["operations"] * planned["per_operation"]
            twin = of.get("canaries", {}).get(planned["id"], of["canary"])
            for name, label in [*((n, n) for n in names), (twin, "canary")]:
                if name is None or name not in names:
                    continue
                value = time(c, label, block)
                steady = value * (units if planned["metric"] == "steady" else 1)
                lines.append(
                    {
                        "block": block,
                        "case": planned["id"],
                        "runner": name,
                        "label": label,
                        "position": len(lines),
                        "outcome": "ok",
                        "reason": None,
                        "steady_ns": steady,
                        "cold_ns": steady * 20 if planned["metric"] == "steady" else value,
                        "cpu_ns": steady if planned["metric"] == "steady" else 6_000_000,
                        "peak_rss_bytes": 40_000_000,
                    }
                )
    return [*lines, {"complete": True}] if complete else lines


def drop(lines: Iterable[Json], **like: object) -> list[Json]:
    """The lines without those that have all these values."""
    return [x for x in lines if not like.items() <= x.items()]


def change(lines: Iterable[Json], new: New, **like: object) -> list[Json]:
    """The lines, with `new` in those that have all these values, but for the end of a run; at least
    one has."""

    def changed_line(line: Json) -> Json:
        return {**line, **(new(line) if callable(new) else new)}

    changed = [
        changed_line(x) if like.items() <= x.items() and "complete" not in x else x for x in lines
    ]
    assert changed != list(lines), f"nothing to change is like {like}"
    return changed


def by_block(**figures: Sequence[float]) -> New:
    """Figures that have these values in the blocks, in turn."""
    return lambda line: {name: of[line["block"] % len(of)] for name, of in figures.items()}


def but_for(lines: Iterable[Json], changes: Changes) -> list[Json]:
    """The lines with these changes; nothing in place of those like it drops them."""
    for like, new in changes:
        lines = drop(lines, **like) if new is None else change(lines, new, **like)
    return list(lines)


def filled(
    db: sqlite3.Connection,
    of: Json | None = None,
    verify: Iterable[Json] | None = None,
    lines: Iterable[Json] | None = None,
    machine: Json | None = None,
    *,
    time: Times | None = None,
    checked: Changes = (),
    sampled: Changes = (),
    blocks: Iterable[Json] = (),
    selftest: object = None,
    details: Iterable[Json] = (),
    gate: object = None,
    looks: Iterable[Json] = (),
) -> int:
    """A run of `db` by that plan; its number. All is right, and takes the `time` that it is given
    or has `lines`, which are samples and the end of the run; but for what was `checked` and
    `sampled` otherwise."""
    of = of or plan()
    machine = {"cores": "4"} if machine is None else machine
    verify = but_for(checks(of) if verify is None else verify, checked)
    lines = but_for(samples(of, time or noisy()) if lines is None else lines, sampled)
    db.execute("BEGIN")  # as one transaction, since a file syncs each of thousands
    with db:
        try:
            planned = Plan.model_validate(of, extra="ignore")
        except ValidationError:  # a file from elsewhere
            db.execute(
                "INSERT INTO run(name, machine, label, kind, created, complete, plan) "
                "VALUES('', '', '', '', '', 0, ?)",
                (json.dumps(of),),
            )
            return 1
        machine = {k: str(v) for k, v in machine.items()}
        run = insert_run(db, planned, machine, map(Verified.model_validate, verify))
        db.execute(
            "UPDATE run SET plan = ?, selftest = ?, gate = ?, complete = ? WHERE id = ?",
            (
                *(json.dumps(of), *(one and json.dumps(one) for one in (selftest, gate))),
                *({"complete": True} in lines, run),
            ),
        )
        more = {one["position"]: one for one in details}
        insert_records(db, run, [_record(x, more) for x in lines if "complete" not in x])
        for block in blocks:
            insert_block(db, run, Block.model_validate(block))
        for look in looks:
            insert_look(db, run, Look.model_validate(look))
        return run


def _record(line: Json, details: dict[int, Json]) -> Record:
    sample = Sample.model_validate({k: v for k, v in line.items() if k in Sample.model_fields})
    measured = {SAMPLED[k]: v for k, v in line.items() if k in SAMPLED}
    told = {k: v for k, v in details.get(sample.position, {}).items() if k != "position"}
    return Record(sample, measured, detail=Detail.model_validate(told) if told else None)


def latencies(of: dict[int, int]) -> list[tuple[int, int]]:
    """How many operations took about so many nanoseconds, as a file holds it."""
    return sorted((bucket(ns), count) for ns, count in of.items())


def of_presets(given: Mapping[str, Json]) -> dict[str, Preset]:
    """Presets by their names."""
    return {name: Preset.model_validate(one) for name, one in given.items()}


def make(
    of: Json | None = None,
    *,
    spoilt: str = "",
    presets: Mapping[str, Json] | None = None,
    **how: Unpack[Filled],
) -> RunData:
    """The run that `filled` makes, read from a file that such a statement has `spoilt`; reports
    decide by the presets."""
    db = with_tables(sqlite3.connect(":memory:", isolation_level=None))
    try:
        run = filled(db, of, **how)
        db.execute(spoilt)
        return read(db, run, of_presets(presets or {}))
    finally:
        db.close()


def report(
    of: Json | None = None,
    *,
    reference: str | None = None,
    weights: str | None = None,
    **how: Unpack[More],
) -> Report:
    """The report of the run that `make` gives."""
    return analyse(make(of, **how), reference, weights)


def retimed(run: RunData, times: Any) -> Report:
    """The report of the run if it had these times, cases x runners x blocks."""
    time = np.concatenate([times, run.samples.time[:, times.shape[1] :]], axis=1)
    return analyse(replace(run, samples=replace(run.samples, time=time)))


def statement(of: Report, kind: str) -> Any:
    """What the headline states of that kind, once."""
    (found,) = (each for each in of.headline if each.kind == kind)
    return found


def write(folder: Path, of: Json | None = None, **how: Unpack[Filled]) -> Path:
    """The directory that is read as the run that `make` gives."""
    (folder / LOGS).mkdir(parents=True, exist_ok=True)
    db = create_file(folder / FILE)
    try:
        filled(db, of, **how)
    finally:
        db.close()
    return folder


def sure(value: T | None) -> T:
    """The value, which has to be there."""
    assert value is not None
    return value


def ends(interval: Interval | None) -> tuple[float, float]:
    """Both ends of an interval, which has to have them."""
    interval = sure(interval)
    return sure(interval.low), sure(interval.high)


def of_case(report: Report, number: int | str = 0) -> Case:
    """A case of the report by its place or its id."""
    cases = {case.id: case for case in report.cases}
    return cases[number] if isinstance(number, str) else report.cases[number]


def contrast(report: Report, runner: str, reference: str = "node", case: int | str = 0) -> Contrast:
    """A runner against another one in a case, which have to be compared there."""
    return sure(of_case(report, case).comparisons.of(runner, reference))


def cell_of(report: Report, runner: str, case: int | str = 0) -> Cell:
    """The runner's cell in a case."""
    return next(cell for cell in of_case(report, case).cells if cell.runner == runner)


def told(of: Contrast | None) -> str:
    """A comparison in words."""
    if of is None:
        return "none"
    more = [f"{of.blocks} blocks"] if of.blocks else []
    more += [f"{of.needs_blocks} needed"] if of.needs_blocks else []
    more += [f"next {shown(of.next)}"] if of.next else []
    return ", ".join([f"{shown(of.ratio)} {of.verdict}", *more])


def shown(of: Interval) -> str:
    """An interval in words."""
    low, high = (end and f"{end:.3f}" for end in (of.low, of.high))
    return f"{of.value:.3f} [{low}, {high}]"
