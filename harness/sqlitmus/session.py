"""A sitting at the bench, top to bottom: choose, verify, pilot, freeze the plan, measure."""

import datetime
import random
import shlex
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlitmus import __version__, lock, machine, paths, selftest
from sqlitmus.bench import Bench, opened
from sqlitmus.catalog import Catalog, Mode
from sqlitmus.choose import choose, mode_of
from sqlitmus.errors import Exit, NotFit, UsageError
from sqlitmus.measure import Ended, Measuring
from sqlitmus.plan import (
    MINIMUM_BLOCKS,
    Case,
    Cells,
    Correction,
    Plan,
    PlannedCounts,
    RunKind,
)
from sqlitmus.progress import Progress, clock
from sqlitmus.store import RunDirectory, point_latest
from sqlitmus.verification import Answers, expected, verify_cells

Settled = Callable[[Path], bool]

MARGIN = 0.02
FREE_BYTES_NEEDED = 256 * 2**20
PREFERRED_REFERENCE = "node"


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for; times in seconds."""

    suite: str = "quick"
    mode: str | None = None
    kind: RunKind = "suite"
    correction: Correction = "bh"
    filters: list[str] = field(default_factory=list[str])
    cases: list[str] = field(default_factory=list[str])
    runners: list[str] = field(default_factory=list[str])
    reference: str | None = None
    blocks: int | None = None
    time_budget_s: float | None = None
    margin: float = MARGIN
    plan: Path | None = None
    size: str = "m"
    seed: int | None = None
    label: str = ""
    out: Path | None = None
    timeout_s: float = 60.0
    fresh: bool = False
    wait: bool = False
    rerun: str = ""
    subjects: list[str] = field(default_factory=list[str])


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
    _, mode = mode_of(catalog, options.suite, options.mode)
    cases, cells = choose(
        catalog,
        options.suite,
        mode,
        options.cases,
        options.runners,
        options.filters,
        options.reference,
    )
    _check_disk(options.out or paths.RESULTS)
    with _bench(options, catalog, tools, progress, cells) as bench:
        ready = _prepare(options, bench, cases, cells, mode)
        if ready is None:
            return Ended(Exit.INTERRUPTED, None)
        return _measure(ready, bench, settled)


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
    with _bench(replace(options, size=plan.size), catalog, tools, progress, plan.cells) as bench:
        if bench.fingerprint(plan.cases) != plan.fingerprint:
            if not force:
                raise UsageError(
                    f"{path} cannot be resumed: runners, scenarios or the machine changed since it "
                    "started. Start a new run, or add --force (the report will say so)."
                )
            plan = plan.model_copy(update={"forced": True})
            directory.write("plan.json", plan.model_dump_json(indent=1))
        present = bench.present(plan.cells)
        answers = verify_cells(bench, plan.cases, present)
        if not bench.stop.requested:
            fit = answers.fit(present)
            _ask(bench, plan.cases, fit, plan.counts, answers)
            if not bench.stop.requested:
                return _measure(Prepared(plan, directory, answers, fit), bench, None)
    return Ended(Exit.INTERRUPTED, directory.path)


def _prepare(
    options: Options, bench: Bench, cases: list[Case], cells: Cells, mode: Mode
) -> Prepared | None:
    """Verified, piloted and frozen; None if the user asked to stop."""
    from sqlitmus.pilot import plan_counts

    present = bench.present(cells)
    answers = verify_cells(bench, cases, present)
    if bench.stop.requested:
        bench.memory.save()
        return None
    fit = answers.fit(present)
    reference = _reference(options, bench, cells, fit)
    given = RunDirectory.open(options.plan).plan().counts if options.plan else {}
    counts = plan_counts(bench, cases, fit, answers, mode, reference, given)
    _ask(bench, cases, fit, counts, answers)
    bench.memory.save()
    if bench.stop.requested:
        return None
    plan = _freeze(options, bench, cases, cells, fit, counts, reference)
    directory = RunDirectory.create(
        (options.out or paths.RESULTS) / plan.run,
        plan,
        machine.facts(paths.toolchain()),
        answers.records.values(),
    )
    with suppress(OSError):  # none yet
        directory.write("selftest.json", selftest.kept().read_text(encoding="utf-8"))
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
        if look < looks and settled and settled(path):
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
                counted = case.model_copy(update={"operations": planned.operations})
                expected(bench, counted, answers)


@contextmanager
def _bench(
    options: Options, catalog: Catalog, tools: paths.Tools, progress: Progress, cells: Cells
) -> Generator[Bench]:
    """A bench on a machine that no other run uses meanwhile."""
    with (
        lock.hold(options.label or options.suite, wait=options.wait, progress=progress),
        opened(
            catalog,
            tools,
            progress,
            cells,
            size=options.size,
            timeout_s=options.timeout_s,
            fresh=options.fresh,
        ) as bench,
    ):
        yield bench


def _among(bench: Bench, cells: Cells) -> list[str]:
    """The runners of `cells`, in the catalogue's order."""
    return [name for name in bench.installed if any(name in names for names in cells.values())]


def _reference(options: Options, bench: Bench, cells: Cells, fit: Cells) -> str:
    there = _among(bench, fit)
    return options.reference or next(
        (name for name in [PREFERRED_REFERENCE, *there] if name in there), _among(bench, cells)[0]
    )


def _freeze(
    options: Options,
    bench: Bench,
    cases: list[Case],
    cells: Cells,
    fit: Cells,
    counts: PlannedCounts,
    reference: str,
) -> Plan:
    """The plan, with the number of blocks that the mode, --blocks or --time-budget gives."""
    from sqlitmus.counts import block_seconds

    name, mode = mode_of(bench.catalog, options.suite, options.mode)
    canary_s = block_seconds(counts, fit, reference)
    sessions = mode.sessions
    blocks = options.blocks or mode.blocks * sessions
    if options.time_budget_s and not options.blocks:
        blocks = max(1, int(options.time_budget_s / max(canary_s, 1e-3)))
    sessions = sessions if blocks % sessions == 0 else 1
    canary = reference if blocks > 1 else None
    block_s = canary_s if canary else block_seconds(counts, fit, None)
    bench.progress.say(
        f"{sum(map(len, fit.values()))} cells in {len(cases)} cases, {blocks} blocks of about "
        f"{clock(block_s)}: done in about {clock(blocks * block_s)}"
    )
    bench.progress.say(_promise(options, counts, fit, reference, blocks))
    now = datetime.datetime.now(datetime.UTC)
    label = options.label or options.suite
    return Plan(
        run=f"{now:%Y-%m-%dT%H%M%SZ}-{label}",
        label=label,
        kind=options.kind,
        suite=options.suite,
        mode=name,
        size=options.size,
        created=now.isoformat(timespec="seconds"),
        sqlitmus=__version__,
        seed=options.seed if options.seed is not None else random.SystemRandom().randrange(2**31),
        blocks=blocks,
        sessions=sessions,
        looks=mode.looks,
        correction=options.correction,
        reference=reference,
        canary=canary,
        floor=next(
            (n for n in _among(bench, fit) if bench.catalog.runners[n].role == "floor"), None
        ),
        margin=options.margin,
        runners=[bench.installed[n].planned() for n in _among(bench, cells)],
        cases=cases,
        cells=cells,
        counts=counts,
        fingerprint=bench.fingerprint(cases),
        rerun=options.rerun or _rerun(options, name, blocks, reference),
        subjects=options.subjects,
    )


def _promise(
    options: Options, counts: PlannedCounts, fit: Cells, reference: str, blocks: int
) -> str:
    """What the run will be able to tell, in words, before it starts."""
    from sqlitmus.counts import forecast

    if blocks < MINIMUM_BLOCKS:
        return (
            f"fewer than {MINIMUM_BLOCKS} blocks: figures, but no verdicts (more --time-budget "
            "or --blocks, or fewer cells with -f)"
        )
    able = forecast(counts, fit, reference, blocks, options.correction)
    if able is None:
        return "what differences it can tell is not known before it has run"
    return (
        f"able to tell differences from {reference} of about {able.half:.1%} in half of the "
        f"comparisons and {able.most:.1%} in nine of ten (80 % power, corrected)"
    )


def _rerun(options: Options, mode: str, blocks: int, reference: str) -> str:
    """The command that does the same run again, in another order."""
    words = ["--suite", options.suite, "--mode", mode, "--blocks", str(blocks)]
    words += ["--reference", reference, "--size", options.size]
    if options.margin != MARGIN:
        words += ["--margin", f"{100 * options.margin:g}"]
    for option, values in (
        ("-f", options.filters),
        ("--case", options.cases),
        ("-r", options.runners),
    ):
        words += [word for value in values for word in (option, value)]
    return f"./just run {shlex.join(words)}"


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
