"""Which cases of a run need no further block, at a planned look."""

from dataclasses import replace
from pathlib import Path

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.files import load
from sqlitmus.results.report import Case
from sqlitmus.vocabulary.verdicts import Verdict

OPEN = (None, Verdict.NOT_RESOLVED, Verdict.NOT_TESTABLE)


def settled(directory: Path) -> list[str]:
    """The cases in which every comparison has an answer at an earlier look's share of the error."""
    run = load(directory)
    plan = run.plan
    early = plan.ended | {case.id: plan.blocks for case in plan.cases if case.id not in plan.ended}
    report = analyse(replace(run, plan=plan.model_copy(update={"ended": early})))
    return [case.id for case in report.cases if case.id not in plan.ended and _settled(case)]


def _settled(case: Case) -> bool:
    """Whether each pair of runners that are ok has an answer; a runner alone never has one."""
    names = [cell.runner for cell in case.cells if cell.outcome == "ok"]
    pairs = [(name, other) for place, name in enumerate(names) for other in names[:place]]
    compared = [case.comparisons.of(*pair) for pair in pairs]
    return bool(compared) and all(c and c.verdict not in OPEN for c in compared)
