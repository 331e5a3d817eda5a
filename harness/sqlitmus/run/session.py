"""A session, top to bottom: choose, verify, pilot, freeze the plan, measure."""

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sqlitmus.catalog.cases import Cells
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Plan, definitions, differences, facts
from sqlitmus.catalog.scenario import TIMEOUT_S
from sqlitmus.machine import lock, system
from sqlitmus.run.measure.blocks import Ended, Measuring
from sqlitmus.run.plan.options import Options
from sqlitmus.run.plan.planning import Prepared, ask, chosen, prepare, reference_of
from sqlitmus.run.processes.progress import Progress
from sqlitmus.run.verify.answers import verify_cells
from sqlitmus.run.verify.context import Context, opened
from sqlitmus.store.folder import RunDirectory, check_disk
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, UsageError

Settled = Callable[[Path], Collection[str]]
"""The cases of a run directory that need no further block."""


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
    cases, cells = chosen(options, catalog, mode)
    system.check(options.pins)
    check_disk(options.folder)
    with _exclusive(options, catalog, tools, progress, cells, name) as context:
        ready = prepare(options, context, cases, cells, mode)
        if ready is None:
            return Ended(Exit.INTERRUPTED, None)
        return _measure(ready, context, settled)


def first_look(options: Options, catalog: Catalog, tools: paths.Tools, progress: Progress) -> Exit:
    """Say how the runners that are set up rank in the first preset by a process of each cell.

    No run is kept. What is found out of the cells is remembered, so a run does none of it again.
    """
    from sqlitmus.run.plan.pilot import Pilot

    name, mode = options.mode_in(catalog)
    preset = next(iter(catalog.presets.values()))
    cases, cells = chosen(replace(options, cases=[*preset.calls]), catalog, mode)
    ready = {spec.name for spec in catalog.runners.values() if spec.tool in tools.paths}
    cells = {case: [name for name in of if name in ready] for case, of in cells.items()}
    if not any(cells.values()):
        progress.say("no first look: no runner is set up yet")
        return Exit.DONE
    with _exclusive(options, catalog, tools, progress, cells, name) as context:
        present = context.present(cells)
        answers = verify_cells(context, cases, present)
        if not context.stop.requested:
            fit = answers.fit(present)
            reference = reference_of(options, context, cells, fit)
            Pilot(context, fit, answers, mode, reference, given={}).observe(cases)
        return Exit.INTERRUPTED if context.stop.requested else Exit.DONE


def resume(
    path: Path,
    options: Options,
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    settled: Settled | None = None,
    *,
    force: bool,
    again: bool = False,
) -> Ended:
    """Resume the run at `path`, see `run`; a complete one `again`, for one more sitting.

    Raises UsageError when it is complete, or not yet if `again`, or when something changed, unless
    `force`.
    """
    directory = RunDirectory.open(path)
    plan = directory.plan()
    if again:
        plan.again()
        if not directory.complete():
            raise UsageError(f"{path} is not complete; ./just run --resume {path} goes on with it")
    elif directory.complete():
        raise UsageError(
            f"{path} is complete; `./just report {path}` renders it again, and --again adds a "
            "sitting to it"
        )
    directory.check_changeable()
    check_disk(directory.path)
    options = replace(options, size=plan.size, pins=plan.pins, workload=plan.workload)
    with _exclusive(options, catalog, tools, progress, plan.cells, plan.mode) as context:
        changed, deed = _changed(plan, context), "measured again" if again else "resumed"
        if changed:
            if not force:
                raise UsageError(
                    f"{path} cannot be {deed}: {changed} changed since it started. Start a new "
                    "run, or add --force (the report will say so)."
                )
            plan = plan.model_copy(update={"forced": True})
            directory.change_plan(plan)
        if again:
            plan = plan.again()
        present = context.present(plan.cells)
        answers = verify_cells(context, plan.cases, present)
        if not context.stop.requested:
            ask(context, plan.cases, answers.fit(present), plan.counts, answers)
            fit = answers.fit(present)  # without what the oracle did not answer
            if not context.stop.requested:
                if again:
                    directory.reopen(plan)
                return _measure(Prepared(plan, directory, answers, fit), context, settled)
    return Ended(Exit.INTERRUPTED, directory.path)


def _changed(plan: Plan, context: Context) -> str:
    """What has changed since the plan was frozen; "" for nothing."""
    now = definitions(context.catalog, plan.cases)
    names = differences(facts(plan), now)
    if names:
        return ", ".join(names)
    return "a runner or the machine" if context.fingerprint() != plan.fingerprint else ""


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
        if measuring.late:
            return measuring.end()
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
