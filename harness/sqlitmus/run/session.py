"""A session, top to bottom: choose, verify, pilot, freeze the plan, measure."""

import shutil
import time
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sqlitmus import machine
from sqlitmus.catalog import same_work
from sqlitmus.catalog.choose import choose, choose_claims
from sqlitmus.catalog.declared import TIMEOUT_S, Mode
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Plan, compared
from sqlitmus.catalog.planned import Cells, PlannedCase, PlannedCounts, Shard
from sqlitmus.catalog.shards import take
from sqlitmus.machine import affinity, lock
from sqlitmus.run import folder, programs, remembered
from sqlitmus.run.blocks import Ended, Measuring
from sqlitmus.run.context import Context, opened
from sqlitmus.run.freeze import among, freeze
from sqlitmus.run.options import Options
from sqlitmus.run.preparation import Unanswered
from sqlitmus.run.progress import Progress
from sqlitmus.run.store import RunDirectory, point_latest
from sqlitmus.run.verify import Answers, oracle_answer, verify_cells
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, NotFit, UsageError

Settled = Callable[[Path], Collection[str]]
"""The cases of a run directory that need no further block."""

FREE_BYTES_NEEDED = 256 * 2**20
PREFERRED_REFERENCE = "node"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A frozen plan that is ready to be measured."""

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
    """Start a new run. Raises SqlitmusError for options that make no sense or cannot be met.

    `settled` is asked at each of the plan's looks, and only there cases may end early, all of a
    comparison together; of a comparison also before the first block.
    """
    name, mode = options.mode_in(catalog)
    cases, cells = _chosen(options, catalog, mode)
    shard = None
    if options.shard:
        settings = [options.whole, name, options.size, options.blocks, options.reference]
        settings.append(mode.scheme)
        cases, cells, shard = take(options.shard, cases, cells, catalog, settings)
    affinity.check(options.pins)
    _check_disk(options.out or paths.RESULTS)
    with _exclusive(options, catalog, tools, progress, cells, name) as context:
        ready = _prepare(options, context, cases, cells, mode, shard)
        if ready is None:
            return Ended(Exit.INTERRUPTED, None)
        return _measure(ready, context, settled)


def _chosen(options: Options, catalog: Catalog, mode: Mode) -> tuple[list[PlannedCase], Cells]:
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
    """Resume the run at `path`, see `run`.

    Raises UsageError when it is complete, or when something changed, unless `force`.
    """
    directory = RunDirectory.open(path)
    plan = directory.plan()
    if directory.complete():
        raise UsageError(f"{path} is complete; `./just report {path}` renders it again")
    folder.check_changeable(directory.path)
    _check_disk(directory.path)
    options = replace(options, size=plan.size, pins=plan.pins, workload=plan.workload)
    with _exclusive(options, catalog, tools, progress, plan.cells, plan.mode) as context:
        changed = _changed(plan, context)
        if changed:
            if not force:
                raise UsageError(
                    f"{path} cannot be resumed: {changed} changed since it started. Start a new "
                    "run, or add --force (the report will say so)."
                )
            plan = plan.model_copy(update={"forced": True})
        directory.repair()
        if changed:
            directory.write("plan.json", plan.model_dump_json(indent=1))
        present = context.present(plan.cells)
        answers = verify_cells(context, plan.cases, present)
        if not context.stop.requested:
            _ask(context, plan.cases, answers.fit(present), plan.counts, answers)
            fit = answers.fit(present)  # without what the oracle did not answer
            if not context.stop.requested:
                return _measure(Prepared(plan, directory, answers, fit), context, settled)
    return Ended(Exit.INTERRUPTED, directory.path)


def _changed(plan: Plan, context: Context) -> str:
    """What has changed since the plan was frozen; "" for nothing."""
    now = same_work.definitions(context.catalog, plan.cases)
    names = same_work.differences(same_work.facts(plan), now)
    if names:
        return ", ".join(names)
    return "a runner or the machine" if context.fingerprint() != plan.fingerprint else ""


def _prepare(
    options: Options,
    context: Context,
    cases: list[PlannedCase],
    cells: Cells,
    mode: Mode,
    shard: Shard | None,
) -> Prepared | None:
    """Verify, pilot and freeze the plan; None if the user asked to stop."""
    from sqlitmus.run.pilot import plan_counts

    begin = time.monotonic()
    present = context.present(cells)
    answers = verify_cells(context, cases, present)
    if context.stop.requested:
        context.memory.save()
        return None
    fit = answers.fit(present)
    reference = _reference(options, context, cells, fit)
    given = RunDirectory.open(options.plan).plan().counts if options.plan else {}
    alike = options.kind == "compare"  # whatever differs between two subjects is their own
    pairs = compared(options.claims, options.advice)
    watched = "" if pairs else reference  # where cases are compared no runner stands for the others
    counts = plan_counts(
        *(context, cases, fit, answers, mode, watched, given),
        margin=options.margin,
        alike=alike,
        compared=pairs,
    )
    _ask(context, cases, answers.fit(present), counts, answers)
    fit = answers.fit(present)  # without what went wrong in the pilot or was not answered
    reference = _reference(options, context, cells, fit)
    context.memory.save()
    if context.stop.requested:
        return None
    if options.time_budget_s:
        left_s = options.time_budget_s - (time.monotonic() - begin)
        options = replace(options, time_budget_s=max(left_s, 1e-3))
    plan = freeze(options, context, cases, cells, fit, counts, reference, shard)
    directory = RunDirectory.create(
        (options.out or paths.RESULTS) / plan.run,
        plan,
        machine.facts(paths.toolchain()),
        answers.records.values(),
    )
    for name in remembered.FILES:
        with suppress(OSError):  # none yet
            directory.write(name, remembered.file(name).read_text(encoding="utf-8"))
    programs.remember(plan.subjects)
    if not plan.confirms:  # a confirmation is read with the run that it confirms
        point_latest(directory.path)
    return Prepared(plan, directory, answers, fit)


def _measure(ready: Prepared, context: Context, settled: Settled | None) -> Ended:
    try:
        return _measured(ready, context, settled)
    except KeyboardInterrupt:
        return Ended(Exit.INTERRUPTED, ready.directory.path)


def _measured(ready: Prepared, context: Context, settled: Settled | None) -> Ended:
    plan, path = ready.plan, ready.directory.path
    measuring = Measuring(plan, ready.directory, context, ready.answers, ready.fit)
    everything = {case.id for case in plan.cases}
    comparing = plan.kind == "compare"
    if settled and comparing and not measuring.agenda.beyond(0) and everything == {*settled(path)}:
        context.progress.insist("no case can be compared; nothing is measured")
        return measuring.end()
    for look in range(1, plan.looks if settled else 1):
        blocks = plan.blocks * look // plan.looks
        if not measuring.until(blocks):
            return Ended(Exit.INTERRUPTED, path)
        # What was measured beyond a look, in an earlier sitting, must not enter its decision.
        if measuring.agenda.beyond(blocks) or measuring.agenda.looked(blocks) or not settled:
            continue
        ended = {*settled(path)}
        if not comparing:
            measuring.look(blocks, ended)
        elif ended == everything:
            context.progress.say(f"settled at the planned look after {blocks} blocks")
            return measuring.end()
    if not measuring.until(measuring.agenda.blocks):
        return Ended(Exit.INTERRUPTED, path)
    return measuring.end()


def _ask(
    context: Context, cases: list[PlannedCase], fit: Cells, counts: PlannedCounts, answers: Answers
) -> None:
    """Ask the oracle for each case with the numbers of operations in the plan.

    Cells whose case it cannot answer with these fail.
    """
    for case in cases:
        for name in fit[case.id]:
            if context.stop.requested:
                return
            planned = counts.get(case.id, {}).get(name)
            if planned:
                as_planned = case.model_copy(update={"operations": planned.operations})
                try:
                    oracle_answer(context, as_planned, answers)
                except Unanswered as silence:
                    answers.give_up(case, [name], silence)


@contextmanager
def _exclusive(
    options: Options,
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    cells: Cells,
    mode: str,
) -> Generator[Context]:
    """The context of a session, while no other run may use this machine."""
    # A resumed plan may name a mode that is gone.
    of_mode = catalog.modes[mode].timeout_s if mode in catalog.modes else TIMEOUT_S
    label = options.label or options.whole
    with (
        lock.hold(label, wait=options.wait, say=progress.insist) as handle,
        opened(
            catalog,
            tools,
            progress,
            cells,
            size=options.size,
            timeout_s=options.timeout_s or of_mode,
            fresh=options.fresh,
            pins=options.pins,
            keep_jobs=options.show_values or not options.workload,
            held=(handle,),
        ) as context,
    ):
        yield context


def _reference(options: Options, context: Context, cells: Cells, fit: Cells) -> str:
    """The runner asked for, or node; for claims the runner in most cells, also their canary."""
    present = among(context, fit)
    if options.claims and present:
        return max(present, key=lambda name: sum(name in names for names in fit.values()))
    return options.reference or next(
        (name for name in [PREFERRED_REFERENCE, *present] if name in present),
        among(context, cells)[0],
    )


def _check_disk(results: Path) -> None:
    """Raise NotFit when the results or the copies of databases would not fit on the disk."""
    for place, hint in ((results, "--out"), (paths.toolchain(), "SQLITMUS_TOOLCHAIN")):
        try:
            place.mkdir(parents=True, exist_ok=True)
            probe = place / f".write-probe-{time.monotonic_ns()}"
            probe.write_bytes(b"x")
            probe.unlink()
            free = shutil.disk_usage(place).free
        except OSError as error:
            raise NotFit(
                f"{place}: cannot be written: {error.strerror}; choose another with {hint}"
            ) from error
        if free < FREE_BYTES_NEEDED:
            raise NotFit(
                f"{place}: only {free >> 20} MB free, {FREE_BYTES_NEEDED >> 20} MB are needed; "
                f"free some or choose another folder with {hint}"
            )
