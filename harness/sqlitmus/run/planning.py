"""From options to a frozen plan: choose, verify, pilot, ask the oracle, freeze."""

import time
from contextlib import suppress
from dataclasses import dataclass

from sqlitmus import machine
from sqlitmus.catalog.choose import choose, choose_claims
from sqlitmus.catalog.declared import Mode
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Plan, compared
from sqlitmus.catalog.planned import Cells, PlannedCase, PlannedCounts
from sqlitmus.machine import affinity
from sqlitmus.run import programs
from sqlitmus.run.answers import Answers, oracle_answer
from sqlitmus.run.context import Context
from sqlitmus.run.extent import budget_s
from sqlitmus.run.freeze import among, freeze
from sqlitmus.run.latest import point_latest
from sqlitmus.run.options import Options
from sqlitmus.run.preparation import Unanswered
from sqlitmus.run.selftest import keep
from sqlitmus.run.store import RunDirectory
from sqlitmus.run.verify import verify_cells
from sqlitmus.vocabulary import paths

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


def prepare(
    options: Options,
    context: Context,
    cases: list[PlannedCase],
    cells: Cells,
    mode: Mode,
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
    ask(context, cases, answers.fit(present), counts, answers)
    fit = answers.fit(present)  # without what went wrong in the pilot or was not answered
    reference = _reference(options, context, cells, fit)
    context.memory.save()
    if context.stop.requested:
        return None
    left_s = budget_s(options, mode)
    if left_s:
        left_s = max(left_s - (time.monotonic() - begin), 1e-3)
    plan = freeze(options, context, cases, cells, fit, counts, reference, left_s)
    directory = RunDirectory.create(
        options.folder / plan.run,
        plan,
        machine.facts(paths.toolchain()),
        answers.records.values(),
    )
    with suppress(OSError):  # none yet
        directory.write(keep.FILE, keep.record_file().read_text(encoding="utf-8"))
    programs.remember(plan.subjects)
    if not plan.confirms:  # a confirmation is read with the run that it confirms
        point_latest(directory.path)
    return Prepared(plan, directory, answers, fit)


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
            planned = counts.get(case.id, {}).get(name)
            if planned:
                try:
                    oracle_answer(context, planned.of(case).answered(), answers)
                except Unanswered as silence:
                    answers.give_up(case, [name], silence)


def _reference(options: Options, context: Context, cells: Cells, fit: Cells) -> str:
    """The runner asked for, or node; for claims the runner in most cells, also their canary."""
    present = among(context, fit)
    if options.claims and present:
        return max(present, key=lambda name: sum(name in names for names in fit.values()))
    return options.reference or next(
        (name for name in [PREFERRED_REFERENCE, *present] if name in present),
        among(context, cells)[0],
    )
