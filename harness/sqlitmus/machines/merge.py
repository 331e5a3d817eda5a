"""Merges runs into one file, top to bottom: find, arrange, copy; and reads such a file."""

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from sqlite3 import Connection

from sqlitmus import __version__
from sqlitmus.analysis.data import read
from sqlitmus.catalog import plan as plans
from sqlitmus.catalog.plan import NAME, Plan, check_name
from sqlitmus.machine import host
from sqlitmus.machine.host import SYSTEMS, UNKNOWN
from sqlitmus.results.machines import Refused
from sqlitmus.store import file as runfile
from sqlitmus.store.folder import name_of, point_latest
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.text import one_line

# Finds the runs below the folders given, and decides whether each can be merged.

DEPTH = 2  # results/ARTIFACT/RUN
MOST_SHOWN = 500  # characters of a path or a reason
MOST_FACT = 1000
HARDWARE = ("cpu", "cores", "architecture", "memory", "os", "kernel")
SUITES_ONLY = {
    "compare": "a comparison is read by itself",
    "claims": "claims are read by themselves",
    "advise": "settings are tried on one machine",
}


@dataclass(frozen=True, slots=True)
class Given:
    """A folder to search, and the machine's name for all runs in it; "" keeps their own."""

    folder: Path
    label: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that may be merged: number `number` in `file`.

    `path` is for messages; `label` is the machine's name, `kind` its system and architecture;
    `hardware` tells two machines of one label apart; `cases` are ids; `work` says what the run
    measures (see `catalog.plan.facts`). Two that have the same `identity` are copies of one run, of
    which that with more `processes` is kept.
    """

    path: str
    file: Path
    number: int
    label: str
    created: str
    complete: bool
    processes: int
    kind: str
    hardware: tuple[str, ...]
    cases: frozenset[str]
    work: dict[str, str]
    identity: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Inventory:
    """What lies below the folders given; `expected` are machines that an earlier merge missed."""

    runs: list[Run]
    refused: list[Refused]
    expected: list[str]


def find(given: list[Given], *, partial: bool) -> Inventory:
    """The runs of all files at or up to two levels below each folder, without following links.

    `partial` accepts interrupted runs. Raises UsageError for a folder that does not exist.
    """
    inventory = Inventory([], [], [])
    folders = [entry.folder for entry in given]
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(
                f"{folder}: there is no such folder; give folders that hold runs, as DIR or as "
                "NAME=DIR"
            )
    top = _top(folders)
    for entry in given:
        root = entry.folder.resolve()
        holders = list(_holders(root, DEPTH))
        for holder in holders:
            path = _shown(entry.folder, holder, top)
            _take(holder, path, entry.label, inventory, partial=partial)
        if not holders:
            reason = f"holds no {runfile.FILE}, nor does a folder up to two levels below"
            inventory.refused.append(Refused(_shown(entry.folder, root, top), reason))
    return inventory


def _take(folder: Path, path: str, label: str, inventory: Inventory, *, partial: bool) -> None:
    """Add the runs of a folder's file, and what a merged one refused and expected."""
    try:
        file = runfile.check_file(folder)
        with runfile.opened(file) as db:
            numbers = db.execute("SELECT id, name FROM run ORDER BY id").fetchall()
            earlier = merge_of(db)
            if earlier:
                inventory.refused.extend(
                    Refused(_shortened(old.path), _shortened(old.reason)) for old in earlier.refused
                )
                inventory.expected.extend(map(_shortened, earlier.expected))
            for number, name in numbers:
                place = _shortened(f"{path}/{name}") if earlier else path
                try:
                    run = examine(db, number, place, file, partial=partial or bool(earlier))
                except UsageError as error:
                    inventory.refused.append(_refusal(place, error, folder))
                else:
                    inventory.runs.append(replace(run, label=label) if label else run)
    except UsageError as error:
        inventory.refused.append(_refusal(path, error, folder))


@dataclass(frozen=True, slots=True)
class Merge:
    """What a merged file says of its making; `expected` are machines that did not arrive."""

    name: str
    created: str
    sqlitmus: str
    refused: list[Refused]
    expected: list[str]


def merge_of(db: Connection) -> Merge | None:
    """That of a merged file; None of the file of one run."""
    row = db.execute("SELECT name, created, sqlitmus, refused, expected FROM merged").fetchone()
    if row is None:
        return None
    name, created, sqlitmus, refused, expected = row
    return Merge(
        name,
        created,
        sqlitmus,
        runfile.parsed(list[Refused], refused, "merged: refused"),
        runfile.parsed(list[str], expected, "merged: expected"),
    )


def examine(db: Connection, number: int, path: str, file: Path, *, partial: bool) -> Run:
    """Run `number` of an open file; raises UsageError. `partial` accepts an interrupted run."""
    run = read(db, number, {})  # all of it, so that the report has nothing left to refuse
    plan = run.plan
    _check_plan(plan)
    for name, value in run.machine.items():
        if len(value) > MOST_FACT:
            raise UsageError(f"fact {name}: longer than {MOST_FACT} characters")
    if not run.samples.complete and not partial:
        raise UsageError(
            "the run was interrupted or is still measured; finish it with ./just run --resume, or "
            "take what there is with --partial"
        )
    (label,) = db.execute("SELECT label FROM run WHERE id = ?", (number,)).fetchone()
    kind = _kind(run.machine)
    hardware = tuple(run.machine.get(name, UNKNOWN) for name in HARDWARE)
    return Run(
        path=path,
        file=file,
        number=number,
        label=label or kind,
        created=plan.created,
        complete=run.samples.complete,
        processes=int((run.samples.code > 0).sum()),
        kind=kind,
        hardware=hardware,
        cases=frozenset(case.id for case in plan.cases),
        work=plans.facts(plan),
        identity=(plan.run, plan.created, plan.seed, plan.fingerprint, hardware),
    )


def _check_plan(plan: Plan) -> None:
    if plan.kind != "suite":
        raise UsageError(
            f"plan: $.kind is {plan.kind}; only runs of a suite are merged: "
            f"{SUITES_ONLY[plan.kind]}"
        )
    check_name("plan: $.run", plan.run)
    check_name("plan: $.machine", plan.machine or "none")
    try:
        datetime.fromisoformat(plan.created)
    except ValueError as error:
        raise UsageError(f"plan: $.created: {error}") from error
    for case in plan.cases:
        if f"scenario {case.scenario}" not in plan.definitions:
            raise UsageError(
                f"plan: $.definitions has no scenario {case.scenario}, so its work cannot be "
                "compared with that of other runs; measure again with this version"
            )


def _kind(facts: dict[str, str]) -> str:
    """System and architecture, such as `linux-x64`; unknown systems are distributions of Linux."""
    system = facts.get("os", "").partition(" ")[0].lower()
    if system not in ("darwin", "windows", "freebsd", "openbsd", "netbsd"):
        system = "linux"
    named = host.named(facts.get("architecture", ""))
    return f"{SYSTEMS.get(system, system)}-{named if NAME.fullmatch(named) else UNKNOWN}"


def _holders(folder: Path, depth: int) -> Iterator[Path]:
    """The folders that hold a file of runs, or a log of one; none that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            inside = {entry.name: entry for entry in entries}
    except OSError:
        return
    if inside.keys() & {runfile.FILE, f"{runfile.FILE}-wal"}:
        yield folder
    elif depth:
        for name, entry in sorted(inside.items()):
            if entry.is_dir(follow_symlinks=False) and not name.startswith("."):
                yield from _holders(folder / name, depth - 1)


def _refusal(path: str, error: UsageError, folder: Path) -> Refused:
    """What was said of files in the folder, which `path` names."""
    reason = str(error).replace(f"{folder}{os.sep}", "").replace(f"{folder}", "the folder")
    return Refused(path, _shortened(reason))


def _top(given: list[Path]) -> Path | None:
    try:
        return Path(os.path.commonpath([folder.parent for folder in given]))
    except ValueError:  # on several drives
        return None


def _shown(folder: Path, place: Path, top: Path | None) -> str:
    """`place` for messages: relative to where the folders given diverge."""
    path = folder / place.relative_to(folder.resolve())
    return _shortened((path.relative_to(top) if top else path).as_posix())


def _shortened(text: str) -> str:
    return one_line(text, MOST_SHOWN)


# Gives each machine its run, by label and hardware. Pure.

SAME_MACHINE = (
    "of the same machine as {}, and a machine counts once, with one run; ./just run --again RUN "
    "adds a sitting to a run, and NAME=DIR names another machine"
)
ALONE = (
    "plan: $.cases: no other machine measured any of these, so they can be compared with "
    "nothing; measure the same cases on each machine"
)


def arrange(runs: Iterable[Run]) -> tuple[dict[str, Run], list[Refused]]:
    """The run of each machine by its name, and the refused ones; the order of `runs` is no matter.

    Of two runs of a machine the earlier stays, and of two that began at one time the complete one.
    """
    ordered = sorted(runs, key=lambda run: (run.created, not run.complete, run.path))
    comparable, refused = _of_one_work(ordered)
    firsts: dict[tuple[str, tuple[str, ...]], Run] = {}
    for run in comparable:
        first = firsts.setdefault((run.label, run.hardware), run)
        if first is not run:
            refused.append(Refused(run.path, SAME_MACHINE.format(first.path)))
    times = Counter(case for run in firsts.values() for case in run.cases)
    machines: dict[str, Run] = {}
    for run in sorted(firsts.values(), key=lambda run: run.label):
        if len(firsts) > 1 and all(times[case] == 1 for case in run.cases):
            refused.append(Refused(run.path, ALONE))
        else:
            names = (f"{run.label} ({number})" if number > 1 else run.label for number in count(1))
            machines[next(name for name in names if name not in machines)] = run
    return machines, sorted(refused, key=lambda r: (r.path, r.reason))


def _of_one_work(runs: list[Run]) -> tuple[list[Run], list[Refused]]:
    """The runs, given in order of time, that measured the same, and a refusal for each other one.

    Of two definitions the one in more runs holds, and between equals that of the earliest run.
    """
    refused: list[Refused] = []
    for name in sorted({name for run in runs for name in run.work}):
        having = [run for run in runs if name in run.work]
        if not having:
            continue
        holds = Counter(run.work[name] for run in having).most_common(1)[0][0]
        first = next(run for run in having if run.work[name] == holds)
        odd = [run for run in having if run.work[name] != holds]
        reason = (
            f"plan: {name} differs from that of {first.path}; measure both with the same scenarios "
            "and fixtures"
        )
        refused += [Refused(run.path, reason) for run in odd]
        runs = [run for run in runs if run not in odd]
    return runs, refused


# Copies the runs into a file of their own.


@dataclass(frozen=True, slots=True)
class Done:
    """A merged directory; `twice` are the paths of runs that occurred more than once."""

    directory: Path
    machines: dict[str, Run]
    made: Merge
    twice: list[list[str]]


def label_of(label: str) -> str:
    """The label of a merged run to which the user gives `label`, which may be empty."""
    return f"merged-{label}" if label else "merged"


def merge(
    given: list[Given], out: Path, label: str, expect: list[str], now: datetime, *, partial: bool
) -> Done:
    """Merge the runs below the folders `given` into a new folder in `out`.

    Raises UsageError when nothing can be merged, and NotFit when `out` cannot be written.
    """
    target = out / name_of(now, label_of(label))
    if target.exists():
        raise UsageError(f"{target} exists already; choose another --label or --out")
    inventory = find(given, partial=partial)
    copies: dict[tuple[object, ...], list[Run]] = {}
    for run in inventory.runs:
        copies.setdefault(run.identity, []).append(run)
    once = [min(same, key=lambda run: (-run.processes, run.path)) for same in copies.values()]
    machines, misfits = arrange(once)
    refused = sorted({*inventory.refused, *misfits}, key=lambda r: (r.path, r.reason))
    if not machines:
        lines = [f"\n  {r.path}: {r.reason}" for r in refused]
        raise UsageError(f"nothing can be merged:{''.join(lines)}")
    arrived = {*machines, *(run.label for run in machines.values())}
    expected = sorted({*expect, *inventory.expected} - arrived)
    made = Merge(target.name, now.isoformat(timespec="seconds"), __version__, refused, expected)
    try:
        _write(target, made, machines)
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise NotFit(
            f"{out}: cannot be written: {why}; free some space or choose another folder with --out"
        ) from error
    point_latest(target)
    paths = [sorted({run.path for run in same}) for same in copies.values()]
    twice = sorted(several for several in paths if len(several) > 1)
    return Done(target, machines, made, twice)


def _write(target: Path, made: Merge, machines: dict[str, Run]) -> None:
    """Write the merged file."""
    with runfile.new_folder(target) as db:
        for number, (name, run) in enumerate(machines.items(), start=1):
            runfile.attach(db, run.file)
            with db:
                db.execute("BEGIN")
                runfile.copy_run(db, run.number, number, name, run.label, run.kind)
            db.execute("DETACH other")
        texts = (json.dumps([*map(asdict, made.refused)]), json.dumps(made.expected))
        row = (made.name, made.created, made.sqlitmus, *texts)
        db.execute("INSERT INTO merged VALUES(?, ?, ?, ?, ?)", row)


# Reads a merged file.


@dataclass(frozen=True, slots=True)
class MergedMachine:
    """A machine of a merged file: run `number` there, and its plan; `kind` is system and
    architecture such as `linux-x64`."""

    number: int
    name: str
    kind: str
    label: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged file."""

    file: Path
    made: Merge
    machines: list[MergedMachine]


def merged(file: Path) -> Merged | None:
    """What a checked file says that was merged; None of one run's. Raises UsageError."""
    with runfile.opened(file) as db:
        made = merge_of(db)
        if made is None:
            return None
        rows = db.execute("SELECT id, machine, kind, label FROM run ORDER BY id").fetchall()
        machines = [
            MergedMachine(number, name, kind, label, runfile.plan_of(db, number))
            for number, name, kind, label in rows
        ]
    names = Counter(machine.name for machine in machines)
    if repeated := [name for name, times in names.items() if times > 1]:
        raise UsageError(
            f"{file}: has several runs of {repeated[0]}, and a machine counts once; merge its "
            "runs again"
        )
    return Merged(file, made, machines)
