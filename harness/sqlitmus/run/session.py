"""A sitting at the bench, top to bottom: choose, verify, pilot, freeze the plan, measure."""

import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sqlitmus import machine
from sqlitmus.catalog import same_work
from sqlitmus.catalog.choose import choose, choose_claims
from sqlitmus.catalog.definitions import Catalog, Mode
from sqlitmus.catalog.plan import Case, Cells, Plan, PlannedCounts, Shard
from sqlitmus.catalog.shards import take
from sqlitmus.machine import affinity, lock
from sqlitmus.run import selftest
from sqlitmus.run.blocks import Ended, Measuring
from sqlitmus.run.context import Bench, opened
from sqlitmus.run.freeze import among, freeze
from sqlitmus.run.options import Options
from sqlitmus.run.progress import Progress
from sqlitmus.run.store import RunDirectory, point_latest
from sqlitmus.run.verify import Answers, expected, verify_cells
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, NotFit, UsageError

Settled = Callable[[Path], bool]

FREE_BYTES_NEEDED = 256 * 2**20
PREFERRED_REFERENCE = "node"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Frozen and ready to be measured."""

    plan: Plan
    directory: RunDirectory
    answers: Answers
    fit: Cells


def run(
    options: Options,
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    settled: Settled | None = None,
) -> Ended:
    """A new run. Raises SqlitmusError for what cannot be asked or done.

    It may end at one of the mode's planned looks, and only there, if `settled` says so of the run
    directory.
    """
    name, mode = options.mode_in(catalog)
    cases, cells = _chosen(options, catalog, mode)
    shard = None
    if options.shard:
        asked = [options.whole, name, options.size, options.blocks, options.reference]
        cases, cells, shard = take(options.shard, cases, cells, catalog, asked)
    affinity.check(options.pins)
    _check_disk(options.out or paths.RESULTS)
    with _bench(options, catalog, tools, progress, cells) as bench:
        ready = _prepare(options, bench, cases, cells, mode, shard)
        if ready is None:
            return Ended(Exit.INTERRUPTED, None)
        return _measure(ready, bench, settled)


def _chosen(options: Options, catalog: Catalog, mode: Mode) -> tuple[list[Case], Cells]:
    if options.claims:
        return choose_claims(catalog, mode, options.claims, options.runners, affinity.usable())
    return choose(
        catalog,
        options.suite,
        mode,
        options.cases,
        options.runners,
        options.filters,
        options.reference,
    )


def resume(
    path: Path,
    options: Options,
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    settled: Settled | None = None,
    *,
    force: bool,
) -> Ended:
    """Go on with the run at `path`, see `run`.

    Raises UsageError when it is complete, or when something changed, unless `force`.
    """
    directory = RunDirectory.open(path)
    plan = directory.plan()
    if directory.complete():
        raise UsageError(f"{path} is complete; `./just report {path}` renders it again")
    _check_disk(directory.path)
    directory.repair()
    options = replace(options, size=plan.size, pins=plan.pins)
    with _bench(options, catalog, tools, progress, plan.cells) as bench:
        changed = _changed(plan, bench)
        if changed:
            if not force:
                raise UsageError(
                    f"{path} cannot be resumed: {changed} changed since it started. Start a new "
                    "run, or add --force (the report will say so)."
                )
            plan = plan.model_copy(update={"forced": True})
            directory.write("plan.json", plan.model_dump_json(indent=1))
        present = bench.present(plan.cells)
        answers = verify_cells(bench, plan.cases, present)
        if not bench.stop.requested:
            fit = answers.fit(present)
            _ask(bench, plan.cases, fit, plan.counts, answers)
            if not bench.stop.requested:
                return _measure(Prepared(plan, directory, answers, fit), bench, settled)
    return Ended(Exit.INTERRUPTED, directory.path)


def _changed(plan: Plan, bench: Bench) -> str:
    """What is no longer as the plan has it; "" for nothing."""
    now = same_work.definitions(bench.catalog, plan.cases)
    names = same_work.differences(same_work.facts(plan), now)
    if names:
        return ", ".join(names)
    return "a runner or the machine" if bench.fingerprint() != plan.fingerprint else ""


def _prepare(
    options: Options,
    bench: Bench,
    cases: list[Case],
    cells: Cells,
    mode: Mode,
    shard: Shard | None,
) -> Prepared | None:
    """Verified, piloted and frozen; None if the user asked to stop."""
    from sqlitmus.run.pilot import plan_counts

    present = bench.present(cells)
    answers = verify_cells(bench, cases, present)
    if bench.stop.requested:
        bench.memory.save()
        return None
    fit = answers.fit(present)
    reference = _reference(options, bench, cells, fit)
    given = RunDirectory.open(options.plan).plan().counts if options.plan else {}
    counts = plan_counts(bench, cases, fit, answers, mode, reference, given)
    fit = answers.fit(present)  # without what went wrong in the pilot
    reference = _reference(options, bench, cells, fit)
    _ask(bench, cases, fit, counts, answers)
    bench.memory.save()
    if bench.stop.requested:
        return None
    plan = freeze(options, bench, cases, cells, fit, counts, reference, shard)
    directory = RunDirectory.create(
        (options.out or paths.RESULTS) / plan.run,
        plan,
        machine.facts(paths.toolchain()),
        answers.records.values(),
    )
    with suppress(OSError):  # none yet
        directory.write("selftest.json", selftest.kept().read_text(encoding="utf-8"))
    if not plan.confirms:  # a confirmation is read with the run that it confirms
        point_latest(directory.path)
    return Prepared(plan, directory, answers, fit)


def _measure(ready: Prepared, bench: Bench, settled: Settled | None) -> Ended:
    plan, path = ready.plan, ready.directory.path
    measuring = Measuring(plan, ready.directory, bench, ready.answers, ready.fit)
    looks = plan.looks if settled else 1
    for look in range(1, looks + 1):
        blocks = plan.blocks * look // looks
        if not measuring.until(blocks):
            return Ended(Exit.INTERRUPTED, path)
        # What was measured beyond a look, in an earlier sitting, must not enter its decision.
        early = look < looks and not measuring.beyond(blocks)
        if early and settled and settled(path):
            bench.progress.say(f"settled at the planned look after {blocks} blocks")
            break
    return measuring.end()


def _ask(
    bench: Bench, cases: list[Case], fit: Cells, counts: PlannedCounts, answers: Answers
) -> None:
    """Let the oracle answer each case with the numbers of operations that the plan asks for."""
    for case in cases:
        for name in fit[case.id]:
            if bench.stop.requested:
                return
            planned = counts.get(case.id, {}).get(name)
            if planned:
                as_planned = case.model_copy(update={"operations": planned.operations})
                expected(bench, as_planned, answers)


@contextmanager
def _bench(
    options: Options, catalog: Catalog, tools: paths.Tools, progress: Progress, cells: Cells
) -> Generator[Bench]:
    """A bench on a machine that no other run uses meanwhile."""
    with (
        lock.hold(options.label or options.whole, wait=options.wait, say=progress.insist),
        opened(
            catalog,
            tools,
            progress,
            cells,
            size=options.size,
            timeout_s=options.timeout_s,
            fresh=options.fresh,
            pins=options.pins,
        ) as bench,
    ):
        yield bench


def _reference(options: Options, bench: Bench, cells: Cells, fit: Cells) -> str:
    """The runner asked for, or node; of claims the one in most cells, where it is the canary."""
    there = among(bench, fit)
    if options.claims and there:
        return max(there, key=lambda name: sum(name in names for names in fit.values()))
    return options.reference or next(
        (name for name in [PREFERRED_REFERENCE, *there] if name in there), among(bench, cells)[0]
    )


def _check_disk(results: Path) -> None:
    """Raise NotFit when the results or the copies of databases would not fit."""
    for folder, hint in ((results, "--out"), (paths.toolchain(), "SQLITMUS_TOOLCHAIN")):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f".write-probe-{time.monotonic_ns()}"
            probe.write_bytes(b"x")
            probe.unlink()
            free = shutil.disk_usage(folder).free
        except OSError as error:
            raise NotFit(
                f"{folder}: cannot be written: {error.strerror}; choose another with {hint}"
            ) from error
        if free < FREE_BYTES_NEEDED:
            raise NotFit(
                f"{folder}: only {free >> 20} MB free, {FREE_BYTES_NEEDED >> 20} MB are needed; "
                f"free some or choose another folder with {hint}"
            )
