"""A sitting at the bench, top to bottom: choose, verify, rehearse, freeze the plan, measure, save.

Everything that takes time in here happens between invocations, never beside one.
"""

import datetime
import random
import shutil
import statistics
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlitmus import __version__, machine, paths
from sqlitmus.bench import Bench, opened
from sqlitmus.catalog import Catalog
from sqlitmus.errors import Exit, NotFit, UsageError
from sqlitmus.plan import MINIMUM_BLOCKS, Case, Cells, Plan, choose
from sqlitmus.progress import Progress, Remaining, clock
from sqlitmus.rehearse import block_seconds, seconds_per_cell
from sqlitmus.schedule import Slot, schedule
from sqlitmus.store import RunDirectory, Sample, point_latest
from sqlitmus.verification import Answers, verify_cells
from sqlitmus.workbench import Attempt

MARGIN = 0.02
FREE_BYTES_NEEDED = 256 * 2**20
PREFERRED_REFERENCE = "node"


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for; times in seconds."""

    suite: str = "quick"
    filters: list[str] = field(default_factory=list[str])
    cases: list[str] = field(default_factory=list[str])
    runners: list[str] = field(default_factory=list[str])
    reference: str | None = None
    blocks: int | None = None
    time_budget_s: float | None = None
    size: str = "m"
    seed: int | None = None
    label: str = ""
    out: Path | None = None
    timeout_s: float = 60.0
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session ended, and where its results are (None when it did not get that far)."""

    exit: Exit
    directory: Path | None


def run(options: Options, catalog: Catalog, tools: paths.Tools, progress: Progress) -> Ended:
    """A new run. Raises SqlitmusError for what cannot be asked or done."""
    cases, cells = choose(
        catalog, options.suite, options.cases, options.runners, options.filters, options.reference
    )
    results = options.out or paths.RESULTS
    _check_disk(results)
    with _bench(options, catalog, tools, progress, cells) as bench:
        present = bench.present(cells)
        answers = verify_cells(bench, cases, present)
        if bench.stop.requested:
            bench.memory.save()
            return Ended(Exit.INTERRUPTED, None)
        fit = answers.fit(present)
        seconds = seconds_per_cell(bench, cases, fit, answers)
        bench.memory.save()
        if bench.stop.requested:
            return Ended(Exit.INTERRUPTED, None)
        plan = _freeze(options, bench, cases, cells, fit, seconds)
        directory = RunDirectory.create(
            results / plan.run, plan, machine.facts(paths.toolchain()), answers.records.values()
        )
        point_latest(directory.path)
        return _measure(plan, directory, bench, answers, fit, seconds)


def resume(
    path: Path,
    options: Options,
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    *,
    force: bool,
) -> Ended:
    """Go on with the run at `path`; raises UsageError when something changed, unless `force`."""
    directory = RunDirectory.open(path)
    plan = directory.plan()
    if directory.complete():
        raise UsageError(f"{path} is complete; `./just report {path}` renders it again")
    _check_disk(directory.path)
    directory.repair()
    cases = plan.cases
    with _bench(replace(options, size=plan.size), catalog, tools, progress, plan.cells) as bench:
        if bench.fingerprint(cases) != plan.fingerprint:
            if not force:
                raise UsageError(
                    f"{path} cannot be resumed: runners, scenarios or the machine changed since it "
                    "started. Start a new run, or add --force (the report will say so)."
                )
            plan = plan.model_copy(update={"forced": True})
            directory.write("plan.json", plan.model_dump_json(indent=1))
        present = bench.present(plan.cells)
        answers = verify_cells(bench, cases, present)
        if bench.stop.requested:
            return Ended(Exit.INTERRUPTED, directory.path)
        fit = answers.fit(present)
        seconds = seconds_per_cell(bench, cases, fit, answers)
        return _measure(plan, directory, bench, answers, fit, seconds)


def _bench(
    options: Options, catalog: Catalog, tools: paths.Tools, progress: Progress, cells: Cells
) -> AbstractContextManager[Bench]:
    return opened(
        catalog,
        tools,
        progress,
        cells,
        size=options.size,
        timeout_s=options.timeout_s,
        fresh=options.fresh,
    )


def _freeze(
    options: Options,
    bench: Bench,
    cases: list[Case],
    cells: Cells,
    fit: Cells,
    seconds: dict[tuple[str, str], float],
) -> Plan:
    """The plan, with the number of blocks that the suite, --blocks or --time-budget gives."""
    named = [name for name in bench.installed if any(name in names for names in cells.values())]
    there = [name for name in named if any(name in names for names in fit.values())]
    reference = options.reference or next(
        (name for name in [PREFERRED_REFERENCE, *there] if name in there), named[0]
    )
    blocks = options.blocks or bench.catalog.suites[options.suite].blocks
    canary = reference if blocks > 1 else None
    block_s = block_seconds(seconds, fit, canary)
    if options.time_budget_s and not options.blocks:
        canary = reference
        block_s = block_seconds(seconds, fit, canary)
        blocks = max(1, int(options.time_budget_s / max(block_s, 1e-3)))
    bench.progress.say(
        f"{sum(map(len, fit.values()))} cells in {len(cases)} cases, {blocks} blocks of about "
        f"{clock(block_s)}: done in about {clock(blocks * block_s)}"
    )
    if blocks < MINIMUM_BLOCKS:
        bench.progress.say(
            f"fewer than {MINIMUM_BLOCKS} blocks: figures, but no verdicts (more --time-budget "
            "or --blocks, or fewer cells with -f)"
        )
    now = datetime.datetime.now(datetime.UTC)
    label = options.label or options.suite
    floor = next((n for n in there if bench.catalog.runners[n].role == "floor"), None)
    return Plan(
        run=f"{now:%Y-%m-%dT%H%M%SZ}-{label}",
        label=label,
        suite=options.suite,
        size=options.size,
        created=now.isoformat(timespec="seconds"),
        sqlitmus=__version__,
        seed=options.seed if options.seed is not None else random.SystemRandom().randrange(2**31),
        blocks=blocks,
        reference=reference,
        canary=canary,
        floor=floor,
        margin=MARGIN,
        runners=[bench.installed[name].planned() for name in named],
        cases=cases,
        cells=cells,
        fingerprint=bench.fingerprint(cases),
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


def _measure(
    plan: Plan,
    directory: RunDirectory,
    bench: Bench,
    answers: Answers,
    fit: Cells,
    seconds: dict[tuple[str, str], float],
) -> Ended:
    """All slots that have no sample yet, in the plan's order."""
    bench.workbench.keep_logs(directory.path / "logs")
    cases = {case.id: case for case in plan.cases}
    done: set[int] = set()
    # The order is that of the cells fit at the start: one that fails only now shifts no other.
    ordered = _fit_at_start(plan, directory)
    given_up = {(c, n) for c, names in ordered.items() for n in names if n not in fit.get(c, [])}
    for sample in directory.samples():
        done.add(sample.position)
        if sample.outcome != "ok":
            given_up.add((sample.case, sample.runner))
    slots = schedule(ordered, plan.canary, plan.blocks, plan.seed)
    left = [s for s in slots if s.position not in done and (s.case, s.runner) not in given_up]
    remaining = Remaining(sum(seconds[s.case, s.runner] for s in left))
    spent_s = 0.0
    took: dict[tuple[str, str], list[float]] = {}
    for number, slot in enumerate(left):
        if bench.stop.requested:
            return _interrupted(bench, directory)
        first_of_block = number == 0 or left[number - 1].block != slot.block
        bench.progress.step(
            f"block {slot.block + 1}/{plan.blocks}  {clock(remaining.after(spent_s))} left  "
            f"{slot.case}  {slot.label}",
            milestone=first_of_block,
        )
        spent_s += seconds[slot.case, slot.runner]
        if (slot.case, slot.runner) in given_up:
            continue
        begin = time.monotonic()
        attempt = bench.workbench.attempt(
            cases[slot.case], bench.installed[slot.runner], "measure", answers.expected[slot.case]
        )
        if bench.stop.requested > 1:
            return _interrupted(bench, directory)
        _save(directory, to_sample(slot, attempt))
        if attempt.outcome == "ok":
            took.setdefault((slot.case, slot.runner), []).append(time.monotonic() - begin)
        else:
            given_up.add((slot.case, slot.runner))
            bench.progress.say(f"{slot.case}/{slot.runner}: {attempt.outcome}: {attempt.reason}")
    directory.finish()
    for (case, runner), spans in took.items():
        bench.memory.keep_seconds(bench.key(cases[case], runner), statistics.median(spans))
    bench.memory.save()
    outcomes = {r.outcome for r in answers.records.values()}
    outcomes |= {s.outcome for s in directory.samples() if s.outcome != "ok"}
    bench.progress.say(f"{len(left)} invocations in {clock(remaining.spent())}")
    if "wrong" in outcomes:
        return Ended(Exit.WRONG_ANSWERS, directory.path)
    return Ended(Exit.CELLS_FAILED if "failed" in outcomes else Exit.DONE, directory.path)


def _fit_at_start(plan: Plan, directory: RunDirectory) -> Cells:
    fit = {(r.case, r.runner) for r in directory.verified() if r.outcome == "ok"}
    return {case: [n for n in names if (case, n) in fit] for case, names in plan.cells.items()}


def _interrupted(bench: Bench, directory: RunDirectory) -> Ended:
    bench.memory.save()
    return Ended(Exit.INTERRUPTED, directory.path)


def _save(directory: RunDirectory, sample: Sample) -> None:
    try:
        directory.add_sample(sample)
    except OSError as error:
        raise NotFit(
            f"{directory.path}: a sample could not be written: {error.strerror}. What was written "
            f"stays readable; free some space and run: ./just run --resume {directory.path}"
        ) from error


def to_sample(slot: Slot, attempt: Attempt) -> Sample:
    """The line that is kept of an invocation."""
    timing, result = attempt.invocation.timing, attempt.invocation.result
    ok = attempt.outcome == "ok" and result is not None
    return Sample(
        block=slot.block,
        position=slot.position,
        case=slot.case,
        runner=slot.runner,
        label=slot.label,
        outcome=attempt.outcome,
        reason=attempt.reason,
        log=attempt.log,
        # A wrong or failed invocation has no times: they must never look like a result.
        wall_ns=timing.wall_ns if timing and ok else None,
        user_ns=timing.user_ns if timing and ok else None,
        system_ns=timing.system_ns if timing and ok else None,
        rss_bytes=result.peak_rss_bytes if result and ok else None,
        steady_ns=statistics.median(result.iterations_ns)
        if result and ok and result.iterations_ns
        else None,
        iterations_ns=result.iterations_ns if result and ok else [],
        warmup_ns=result.warmup_ns if result and ok else [],
        cpu_ns=result.cpu_ns.model_dump() if result and ok and result.cpu_ns else None,
    )
