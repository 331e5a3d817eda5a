"""Freezes the plan: blocks, canary, floor, and a forecast of what the run will resolve."""

import random
import shlex
from dataclasses import replace

from sqlitmus import __version__, machine
from sqlitmus.catalog import beside, same_work
from sqlitmus.catalog.canaries import of_claims
from sqlitmus.catalog.cases import steps_of
from sqlitmus.catalog.plan import Plan, canaries
from sqlitmus.catalog.planned import MINIMUM_BLOCKS, Cells, PlannedCase, PlannedCounts
from sqlitmus.run.claimbudget import line_of, shares, shortened
from sqlitmus.run.context import Context
from sqlitmus.run.extent import Extent, extent
from sqlitmus.run.naming import free_moment, name_of
from sqlitmus.run.options import MARGIN, Options
from sqlitmus.run.progress import clock
from sqlitmus.vocabulary.nouns import counted


def freeze(
    options: Options,
    context: Context,
    cases: list[PlannedCase],
    cells: Cells,
    fit: Cells,
    counts: PlannedCounts,
    reference: str,
    left_s: float | None,
) -> Plan:
    """The plan, with the number of blocks that the mode, --blocks or the seconds left give."""
    from sqlitmus.run.counts import block_seconds, case_seconds

    name, mode = options.mode_in(context.catalog)
    others = of_claims(options.claims, fit)
    if options.advice:
        others = options.advice.canaries()
    twice = canaries(fit, reference, others)
    costs = case_seconds(counts, fit, twice)
    foretold = {case.id: fit[case.id] for case in cases if not case.fixed}
    planned = extent(options, mode, counts, foretold, costs, left_s)
    blocks = planned.blocks
    few = blocks < MINIMUM_BLOCKS and not options.blocks and options.time_budget_s
    if few and (options.claims or options.advice):
        context.progress.insist(shortened(MINIMUM_BLOCKS, blocks))
        planned = Extent(MINIMUM_BLOCKS, 1, {}, MINIMUM_BLOCKS * sum(costs.values()))
        blocks = planned.blocks
    canary = reference if blocks > 1 else None
    if canary is None:
        planned = replace(planned, seconds=block_seconds(counts, fit, {}))
    context.progress.say(_size(fit, planned, mode.pause_s))
    for part in shares(options.claims, counts, fit, twice if canary else {}):
        context.progress.say(line_of(part, blocks, clock(blocks * part.seconds)))
    looks = mode.looks
    if (options.kind != "suite" and not options.gate) or blocks < looks * MINIMUM_BLOCKS:
        looks = 1
    context.progress.say(_promise(options, counts, foretold, planned, looks))
    label = options.label or options.whole
    now = free_moment(options.folder, label)
    return Plan(
        run=name_of(now, label),
        label=label,
        kind=options.kind,
        suite=options.whole,
        mode=name,
        scheme=mode.scheme,
        size=options.size,
        created=now.isoformat(timespec="seconds"),
        sqlitmus=__version__,
        seed=options.seed if options.seed is not None else random.SystemRandom().randrange(2**31),
        blocks=blocks,
        sets=planned.sets,
        sessions=planned.sessions,
        pause_s=mode.pause_s,
        looks=looks,
        correction=options.correction,
        reference=reference,
        canary=canary,
        canaries=others if canary else {},
        floor=next(
            (n for n in among(context, fit) if context.catalog.runners[n].role == "floor"), None
        ),
        margin=options.margin,
        runners=[context.installed[n].planned() for n in among(context, cells)],
        cases=[_sized(context, case) for case in cases],
        cells=cells,
        counts=counts,
        fingerprint=context.fingerprint(),
        machine=options.machine or machine.kind(),
        definitions=same_work.definitions(context.catalog, cases),
        rerun=options.rerun or _rerun(options, name, planned, reference),
        subjects=options.subjects,
        gate=options.gate,
        strict=options.strict,
        confirms=options.confirms,
        claims=options.claims,
        workload=options.workload,
        advice=options.advice,
        pins=options.pins,
        level="total",
        processor=context.relay.processor if context.relay and mode.scheme == "relay" else None,
    )


def _size(fit: Cells, planned: Extent, pause_s: float) -> str:
    """How much there is to do, in a sentence."""
    many = f"{counted(sum(map(len, fit.values())), 'cell')} in {counted(len(fit), 'case')}"
    fewest = min(planned.sets.values(), default=planned.blocks)
    blocks = f"{fewest} to {planned.blocks} sets of each case"
    if not planned.sets:
        each = clock(planned.seconds / planned.blocks)
        blocks = f"{counted(planned.blocks, 'block')} of about {each}"
    whole = clock(planned.seconds + (planned.sessions - 1) * pause_s)
    return f"{many}, {blocks}: done in about {whole}"


def _sized(context: Context, case: PlannedCase) -> PlannedCase:
    file = context.invocations.fixtures.of(case)
    if file is None:
        return case
    steps = steps_of(context.catalog.scenarios[case.scenario], case.axes)
    in_files = any(step.operation == "read-file" for step in steps)
    size = beside.bytes_of_files(file) if in_files else file.stat().st_size
    return case.model_copy(update={"database_bytes": size})


def _promise(
    options: Options, counts: PlannedCounts, fit: Cells, planned: Extent, looks: int
) -> str:
    """A sentence on which differences the run will resolve, before it starts."""
    from sqlitmus.run.forecast import forecast
    from sqlitmus.stats.multiplicity import pocock, share
    from sqlitmus.stats.verdict import ALPHA

    blocks, sessions = planned.blocks, planned.sessions
    if blocks < MINIMUM_BLOCKS:
        return (
            f"fewer than {MINIMUM_BLOCKS} blocks: figures, but no verdicts (more --time-budget "
            "or --blocks, or fewer cells with -f)"
        )
    factor = ALPHA / pocock(looks) if options.gate else 1 / share(looks, early=False)
    able = forecast(counts, fit, blocks, options.correction, sessions, factor, planned.sets)
    if able is None:
        return "the differences that it can tell are unknown until it has run"
    return (
        f"able to tell differences of about {able.half:.1%} in half of the comparisons and "
        f"{able.most:.1%} in nine of ten (80 % power, if {able.differing} of {able.comparisons} "
        "differ as in the pilot)"
    )


def _rerun(options: Options, mode: str, planned: Extent, reference: str) -> str:
    """The command that repeats the run, in another order."""
    words = ["--suite", options.suite, "--mode", mode]
    words += [] if planned.sets else ["--blocks", str(planned.blocks)]
    words += ["--reference", reference, "--size", options.size]
    if options.margin != MARGIN:
        words += ["--margin", f"{100 * options.margin:g}"]
    for option, values in (
        ("-f", options.filters),
        ("--case", options.cases),
        ("-r", options.runners),
    ):
        words += [word for value in values for word in (option, value)]
    if options.scheme:
        words += ["--scheme", options.scheme]
    if options.machine:
        words += ["--machine", options.machine]
    return f"./just run {shlex.join(words)}"


def among(context: Context, cells: Cells) -> list[str]:
    """The runners of `cells`, in the catalogue's order."""
    return [name for name in context.installed if any(name in names for names in cells.values())]
