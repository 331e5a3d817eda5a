"""A sitting at the bench, top to bottom: choose, verify, rehearse, freeze the plan, measure."""

import datetime
import random
import shlex
import shutil
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlitmus import __version__, machine, paths
from sqlitmus.bench import Bench, opened
from sqlitmus.catalog import Catalog
from sqlitmus.errors import Exit, NotFit, UsageError
from sqlitmus.measure import Ended, measure
from sqlitmus.plan import MINIMUM_BLOCKS, Case, Cells, Plan, choose
from sqlitmus.progress import Progress, clock
from sqlitmus.rehearse import Seconds, block_seconds, seconds_per_cell
from sqlitmus.store import RunDirectory, point_latest
from sqlitmus.verification import verify_cells

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
        return measure(plan, directory, bench, answers, fit, seconds)


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
        return measure(plan, directory, bench, answers, fit, seconds)


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
    seconds: Seconds,
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
        rerun=_rerun(options, blocks, reference),
    )


def _rerun(options: Options, blocks: int, reference: str) -> str:
    """The command that does the same run again, in another order."""
    words = ["--suite", options.suite, "--blocks", str(blocks), "--reference", reference]
    words += ["--size", options.size]
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
