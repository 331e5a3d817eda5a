"""From options to a frozen plan: choose, verify, pilot, ask the oracle, freeze."""

import hashlib
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sqlitmus import __version__, machine
from sqlitmus.catalog import fixture, plan
from sqlitmus.catalog.cases import MINIMUM_BLOCKS, Cells, PlannedCase, PlannedCounts, steps_of
from sqlitmus.catalog.choose import choose, choose_claims, of_claims, spare_of
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Budget, Plan, canaries, compared
from sqlitmus.catalog.scenario import Mode
from sqlitmus.machine import system
from sqlitmus.run.plan.budget import Extent, beyond, budget_s, extent, line_of, shares, shortened
from sqlitmus.run.plan.options import Options
from sqlitmus.run.processes.progress import Progress, clock
from sqlitmus.run.verify.answers import has_answer, verify_cells
from sqlitmus.run.verify.context import Context, opened
from sqlitmus.run.verify.invocations import Answers
from sqlitmus.stats.estimate import Array
from sqlitmus.store.file import Verified
from sqlitmus.store.folder import RunDirectory, free_moment, name_of, point_latest, selftest_file
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import counted, listed, one_line, some

# Programs that a plan names by their paths: resuming a folder from elsewhere must not start them.


def remember(subjects: list[str]) -> None:
    """Remember the programs among the subjects of a run that begins here."""
    for subject in filter(_is_program, subjects):
        with suppress(OSError):  # a full disk costs --force when the run is resumed
            _record(subject).touch()


def check_programs(path: Path, subjects: list[str], *, force: bool) -> None:
    """Raise UsageError for a program that only the plan in `path` names, unless `force`."""
    new = [one_line(s) for s in subjects if _is_program(s) and not _record(s).exists()]
    if new and not force:
        raise UsageError(
            f"{path}: resuming it would start {', '.join(new)}, which no run begun on this machine "
            "named. If you trust this folder and that program, add --force."
        )


def _is_program(subject: str) -> bool:
    return "=" in subject.partition("+")[0]


def _record(subject: str) -> Path:
    return paths.cache("programs") / hashlib.sha256(subject.encode()).hexdigest()[:24]


# options that the plan has as they were given
KEPT = (
    *("kind", "size", "correction", "margin", "rerun", "subjects", "gate", "strict", "confirms"),
    *("claims", "sources", "workload", "advice", "pins"),
)


def freeze(
    options: Options,
    context: Context,
    cases: list[PlannedCase],
    cells: Cells,
    fit: Cells,
    counts: PlannedCounts,
    reference: str,
    left_s: float | None,
    left_out: list[str],
) -> Plan:
    """The plan, with the number of blocks that the mode, --blocks or the seconds left give, and
    without the cases `left_out`."""
    from sqlitmus.run.plan.counts import case_seconds

    name, mode = options.mode_in(context.catalog)
    others = of_claims(options.claims, fit)
    if options.advice:
        others = options.advice.canaries()
    twice = canaries(fit, reference, others)
    costs = case_seconds(counts, fit, twice)
    foretold = {case.id: fit[case.id] for case in cases if not case.fixed}
    planned = extent(options, mode, counts, foretold, costs, left_s)
    block_s = sum(costs.values())
    obeyed = bool(options.time_budget_s and not options.claims and not options.advice)
    least_s = MINIMUM_BLOCKS * block_s
    if left_s and not options.blocks and (least_s / 2 if obeyed else 0) < left_s < least_s:
        context.progress.insist(shortened(MINIMUM_BLOCKS, int(left_s / block_s), obeyed=obeyed))
        planned = Extent(MINIMUM_BLOCKS, 1, {}, least_s)
    blocks = planned.blocks
    canary = reference if blocks > 1 and options.kind != "selftest" else None
    if canary is None:
        planned = replace(planned, seconds=sum(case_seconds(counts, fit, {}).values()))
    context.progress.say(_size(fit, planned, mode.pause_s))
    for part in shares(options.claims, counts, fit, twice if canary else {}):
        context.progress.say(line_of(part, blocks))
    looks = mode.looks
    if (options.kind != "suite" and not options.gate) or blocks < looks * MINIMUM_BLOCKS:
        looks = 1
    context.progress.say(_promise(options, counts, foretold, planned, looks))
    label = options.label or options.whole
    now = free_moment(options.folder, label)
    budget = None
    if left_s and not options.blocks:
        room_s = max(left_s - (planned.sessions - 1) * mode.pause_s, 1e-3)
        budget = Budget(seconds=room_s, least=1 if obeyed else MINIMUM_BLOCKS)
    return Plan(
        **{name: getattr(options, name) for name in KEPT},
        run=name_of(now, label),
        label=label,
        suite=options.whole,
        mode=name,
        scheme=mode.scheme,
        created=now.isoformat(timespec="seconds"),
        sqlitmus=__version__,
        seed=options.seed if options.seed is not None else random.SystemRandom().randrange(2**31),
        blocks=blocks,
        sets=planned.sets,
        sessions=planned.sessions,
        pause_s=mode.pause_s,
        budget=budget,
        looks=looks,
        reference=reference,
        canary=canary,
        canaries=others if canary else {},
        floor=next(
            (n for n in among(context, fit) if context.catalog.runners[n].role == "floor"), None
        ),
        runners=[context.installed[n].planned() for n in among(context, cells)],
        cases=[_sized(context, _with_binding(context, case, cells)) for case in cases],
        cells=cells,
        counts={case: of for case, of in counts.items() if case not in left_out},
        left_out=left_out,
        fingerprint=context.fingerprint(),
        machine=options.machine or machine.kind(),
        definitions=plan.definitions(context.catalog, cases),
        processor=context.relay and context.relay.processor,
    )


def _size(fit: Cells, planned: Extent, pause_s: float) -> str:
    many = f"{counted(sum(map(len, fit.values())), 'cell')} in {counted(len(fit), 'case')}"
    fewest = min(planned.sets.values(), default=planned.blocks)
    blocks = f"{fewest} to {planned.blocks} sets of each case"
    if not planned.sets:
        each = clock(planned.seconds / planned.blocks)
        blocks = f"{counted(planned.blocks, 'block')} of about {each}"
    whole = clock(planned.seconds + (planned.sessions - 1) * pause_s)
    return f"{many}, {blocks}: done in about {whole}"


def _sized(context: Context, case: PlannedCase) -> PlannedCase:
    file = context.invocations.fixtures.of(case) if context.starts else None
    if file is None:
        return case
    steps = steps_of(context.catalog.scenarios[case.scenario], case.axes)
    in_files = any(step.operation == "read-file" for step in steps)
    size = fixture.bytes_of_files(file) if in_files else file.stat().st_size
    return case.model_copy(update={"database_bytes": size})


def _with_binding(context: Context, case: PlannedCase, cells: Cells) -> PlannedCase:
    """`case` with a note on how its values are bound, where its SQL has names and no axis decides;
    those of a runner that has no names are then bound by place."""
    steps = context.catalog.scenarios[case.scenario].steps
    if "binding" in case.axes or not any(step.names for step in steps):
        return case
    runners = {name: context.installed[name].description for name in cells.get(case.id, [])}
    others = [n for n, each in runners.items() if each and "named" not in each.features.bindings]
    but = f", but by place with {listed(others)}, which binds no value by name" if others else ""
    note = f"Values are bound by the names in the SQL{but}."
    return case.model_copy(update={"notes": [*case.notes, note]})


def _promise(
    options: Options, counts: PlannedCounts, fit: Cells, planned: Extent, looks: int
) -> str:
    """A sentence on which differences the run will resolve, before it starts."""
    from sqlitmus.run.plan.budget import forecast
    from sqlitmus.stats.verdict import ALPHA, pocock, share

    blocks, sessions = planned.blocks, planned.sessions
    if blocks < MINIMUM_BLOCKS:
        return (
            f"fewer than {MINIMUM_BLOCKS} blocks: figures, but no verdicts (more --time-budget "
            "or --blocks, or fewer cells with -f)"
        )
    factor = ALPHA / pocock(looks) if options.gate else 1 / share(looks, early=False)
    able = forecast(counts, fit, blocks, options.correction, sessions, factor, planned.sets)
    if able is None:
        return "the smallest detectable difference is unknown until it has run"
    return (
        f"smallest detectable difference at 80 % power: median about {able.half:.1%}, 90th "
        f"percentile {able.most:.1%} (if {able.differing} of {able.comparisons} differ as in the "
        "pilot)"
    )


def among(context: Context, cells: Cells) -> list[str]:
    """The runners of `cells`, in the catalogue's order."""
    return [name for name in context.installed if any(name in names for names in cells.values())]


PREFERRED_REFERENCE = "node"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A frozen plan that is ready to be measured."""

    plan: Plan
    directory: RunDirectory
    answers: Answers
    fit: Cells


def chosen(options: Options, catalog: Catalog, mode: Mode) -> tuple[list[PlannedCase], Cells]:
    """The cases and cells that `options` ask for; UsageError for what there is not."""
    if options.claims:
        return choose_claims(catalog, mode, options.claims, options.runners, system.usable())
    given = options.cases, options.runners, options.filters, options.reference
    return choose(catalog, options.suite, mode, *given)


def prepare(
    options: Options,
    context: Context,
    cases: list[PlannedCase],
    cells: Cells,
    mode: Mode,
) -> Prepared | None:
    """Verify, pilot and freeze the plan; None if the user asked to stop."""
    from sqlitmus.run.plan.counts import case_seconds
    from sqlitmus.run.plan.pilot import Pilot

    begin = time.monotonic()
    present = context.present(cells)
    answers = verify_cells(context, cases, present)
    if context.stop.requested:
        return None
    fit = answers.fit(present)
    reference = reference_of(options, context, cells, fit)
    pairs = compared(options.claims, options.advice)
    watched = "" if pairs else reference  # where cases are compared no runner stands for the others
    weights, budget = _weights(options, context.catalog, mode, cases), budget_s(options, mode)
    verified = time.monotonic()
    until = verified + OF_PILOT * ((budget or 0) - (verified - begin))
    counts = Pilot(context, fit, answers, mode, watched, _given(options)).counts(
        sorted(cases, key=lambda case: -weights.get(case.id, 2)),  # no weight is more than 1
        margin=options.margin,
        alike=options.kind == "compare",  # whatever differs between two subjects is their own
        compared=pairs,
        leaves_out=lambda case: case in weights and time.monotonic() > until,
    )
    ask(context, cases, answers.fit(present), counts, answers)
    fit = answers.fit(present)  # without what went wrong in the pilot or was not answered
    reference = reference_of(options, context, cells, fit)
    if context.stop.requested:
        return None
    left_s = budget and max(budget - (time.monotonic() - begin), 1e-3)
    left_out: list[str] = []
    if weights and left_s:
        tried = {case: names for case, names in fit.items() if case in counts}
        costs = case_seconds(counts, tried, canaries(tried, reference, {}))
        left_out = without_room(options, context.progress, weights, costs, left_s)
    cases = [case for case in cases if case.id not in left_out]
    cells, fit = (
        {case: names for case, names in of.items() if case not in left_out} for of in (cells, fit)
    )
    plan = freeze(options, context, cases, cells, fit, counts, reference, left_s, left_out)
    records = [record for record in answers.records.values() if record.case in cells]
    tested = selftest_file()
    directory = RunDirectory.create(
        options.folder / plan.run,
        plan,
        machine.facts(paths.toolchain()),
        records,
        tested.read_text(encoding="utf-8") if tested.exists() else None,
    )
    remember(plan.programs)
    if not plan.confirms:  # a confirmation is read with the run that it confirms
        point_latest(directory.path)
    return Prepared(plan, directory, answers, fit)


OF_PILOT = 0.2  # of the time that verification leaves, after which no further case is tried


def _weights(
    options: Options, catalog: Catalog, mode: Mode, cases: list[PlannedCase]
) -> dict[str, float]:
    """The cases that a budget without room may leave out, and the weight of each, at most 1: those
    queries of a workload that its mix has, and what a suite has to spare."""
    if options.workload:
        mixed = options.time_budget_s and any(case.group == "mix" for case in cases)
        of = options.workload.shares
        return {c.id: of[c.scenario] for c in cases if c.group == "queries"} if mixed else {}
    whole = options.kind == "suite" and not any([*options.cases, *options.filters])
    spare = spare_of(catalog, options.suite, mode) if whole and budget_s(options, mode) else []
    return {case: 1 - place / len(spare) for place, case in enumerate(spare)}


def without_room(
    options: Options,
    progress: Progress,
    weights: Mapping[str, float],
    costs: Mapping[str, float],
    left_s: float,
) -> list[str]:
    """The cases of `weights`, the least first, for which `left_s` has no room beside the others;
    says so. `costs` are the seconds of a block of those that were tried."""
    tried = {case: weight for case, weight in weights.items() if case in costs}
    left_out = beyond(costs, tried, left_s) + [case for case in weights if case not in costs]
    left_out.sort(key=weights.__getitem__)
    if left_out:
        where = "measured in the mix, and not by themselves, are" if options.workload else "without"
        progress.insist(
            f"the time budget has no room for {MINIMUM_BLOCKS} blocks of all cases: {where} "
            f"{listed(left_out) if options.workload else some(left_out)}"
        )
    return left_out


def ask(
    context: Context, cases: list[PlannedCase], fit: Cells, counts: PlannedCounts, answers: Answers
) -> None:
    """Ask the oracle for each case with the numbers of operations in the plan.

    Cells whose case it cannot answer with these fail.
    """
    for case in cases:
        for name in fit[case.id]:
            if context.stop.requested:
                return
            if planned := counts.get(case.id, {}).get(name):
                longest = planned.longest().of(case)
                has_answer(context, longest, [name], answers, digest=case.witnesses)
    context.memory.save()


def _given(options: Options) -> PlannedCounts:
    """The counts of the run whose counts are asked for; none without one."""
    return RunDirectory.open(options.counts).plan().counts if options.counts else {}


def reference_of(options: Options, context: Context, cells: Cells, fit: Cells) -> str:
    """The runner asked for, or node; for claims the runner in most cells, also their canary."""
    present = among(context, fit)
    if options.claims and present:
        return max(present, key=lambda name: sum(name in names for names in fit.values()))
    return options.reference or next(
        (name for name in [PREFERRED_REFERENCE, *present] if name in present),
        among(context, cells)[0],
    )


def _bought(room_s: float, costs: Mapping[str, float], weights: Mapping[str, float]) -> str:
    """The blocks, and of how many cases, for which so many seconds have room."""
    left_out = beyond(costs, weights, room_s)
    block_s = sum(cost for case, cost in costs.items() if case not in left_out)
    blocks = counted(max(int(room_s / max(block_s, 1e-3)), 0), "block")
    return f"{blocks} of {counted(len(costs) - len(left_out), 'case')}"


VERIFICATION_S = 0.4  # of a cell that was never verified


def outlook(
    options: Options, catalog: Catalog, tools: paths.Tools, progress: Progress
) -> dict[str, Array]:
    """What a new run takes of each runner, of its A/A control and of all, as earlier runs foretell:
    the number of cells, and the seconds of their verification, their pilot and all blocks.

    Says what budgets buy, and how many cells were never tried. Starts nothing.
    """
    from sqlitmus.run.plan.counts import Observed, case_seconds
    from sqlitmus.run.plan.pilot import Pilot

    _, mode = options.mode_in(catalog)
    cases, cells = chosen(options, catalog, mode)
    settings: dict[str, Any] = {"size": options.size, "fresh": options.fresh, "timeout_s": 0}
    with opened(catalog, tools, progress, cells, **settings, start=False) as context:
        present, memory = context.present(cells), context.memory
        keys = {(c.id, name): context.key(c, name) for c in cases for name in present[c.id]}
        verified = {at: memory.get(key, Verified) for at, key in keys.items()}
        right = {(c, n): Verified(case=c, runner=n, outcome="ok") for c, n in keys}
        answers = Answers({at: verified[at] or right[at] for at in keys}, {}, {})
        fit = answers.fit(present)
        reference = reference_of(options, context, cells, fit)
        given, margin = _given(options), options.margin
        pilot = Pilot(context, fit, answers, mode, reference, given)
        counts = pilot.counts(cases, margin=margin)
        costs = {name: np.zeros(4) for name in among(context, fit)}
        untried = 0
        for case, name in [(case, name) for case, names in fit.items() for name in names]:
            planned, seen = counts[case][name], memory.get(keys[case, name], Observed)
            new = name not in given.get(case, {}) and not (seen and seen.processes >= mode.pilot)
            tries = mode.pilot and new and mode.pilot + bool(planned.rounds)
            first_s = 0.0 if verified[case, name] else VERIFICATION_S
            costs[name] += [1, first_s, tries * planned.seconds, planned.seconds]
            untried += new
        many, *begin, _ = np.sum([np.zeros(4), *costs.values()], axis=0).tolist()
        spent_s, budget = sum(begin), budget_s(options, mode)
        left_s = budget and max(budget - spent_s, 1e-3)
        of_all = case_seconds(counts, fit, canaries(fit, reference, {}))
        weights = _weights(options, catalog, mode, cases)
        buys = [_bought(60 * m - spent_s, of_all, weights) + f" in {m}" for m in (15, 30, 60)]
        left_out = without_room(options, progress, weights, of_all, left_s) if left_s else []
        for case in left_out:
            for name in fit.pop(case):
                costs[name] -= [1, 0, 0, counts[case][name].seconds]
        once_s = sum(float(cost[3]) for cost in costs.values())
        cases = [case for case in cases if case.id not in left_out]
        cells = {case: names for case, names in cells.items() if case not in left_out}
        if 2 * untried > many:  # a few deviations say nothing of all
            for of in counts.values():
                of |= {n: each.model_copy(update={"deviation": None}) for n, each in of.items()}
        plan = freeze(options, context, cases, cells, fit, counts, reference, left_s, left_out)
    by_case = case_seconds(counts, fit, canaries(fit, plan.canary, {}))
    block_s = sum(by_case.values()) or 1e-3
    passes = sum(plan.sets.get(case, plan.blocks) * s for case, s in by_case.items()) / block_s
    progress.say(f"before that, verification and pilot take about {clock(spent_s)}")
    progress.say(f"a --time-budget buys {listed(buys)} minutes")
    progress.say(
        f"{untried} of {counted(int(many), 'cell')} were never tried here: a process of them "
        f"counts as {mode.process_s:g} s"
    )
    costs["A/A control"] = np.array([0, 0, 0, block_s - once_s])
    costs["all"] = np.sum([*costs.values()], axis=0)
    return {name: cost * [1, 1, 1, passes] for name, cost in costs.items()}
