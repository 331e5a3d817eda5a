"""Every new cell of a settings run against its base: all verdicts are corrected as one family."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlitmus.analysis.claims.series import NotHereError, Series, median
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.outcomes import Outcomes
from sqlitmus.analysis.pairs import compare_all, comparisons
from sqlitmus.analysis.question import Question
from sqlitmus.catalog.advised import PlannedAdvice, Trial
from sqlitmus.results.advice import Effect, Tried
from sqlitmus.results.comparisons import Comparison
from sqlitmus.run.judge import Verified, normal
from sqlitmus.stats.estimate import Array
from sqlitmus.vocabulary.verdicts import Side, Verdict

BASE, NEW = "base", "new"
_EFFECTS: dict[Side, Effect] = {
    "faster": Effect.HELPS,
    "slower": Effect.HURTS,
    "equivalent": Effect.NOTHING,
    "undecided": Effect.NOT_RESOLVED,
}


@dataclass(frozen=True, slots=True)
class _Measured:
    """A trial whose two cells have times, by block, and its noise as a log ratio."""

    trial: Trial
    base: Array
    new: Array
    guard: float


def tried(run: RunData, outcomes: Outcomes, planned: PlannedAdvice) -> dict[Trial, Tried]:
    """What came of each trial of the plan, in its order."""
    series = Series(run, outcomes)
    results: dict[Trial, Tried] = {}
    measured: list[_Measured] = []
    for trial in planned.trials:
        try:
            measured.append(_measured(series, trial, planned.runner))
        except NotHereError as error:
            results[trial] = _without(run, outcomes, trial, planned.runner, str(error))
    judged = _judged(measured, replace(Question.of(run.plan), small_is_nothing=True))
    results |= zip([each.trial for each in measured], judged, strict=True)
    for trial in planned.trials:
        if _alike(run, planned, trial):
            results[trial] = Tried(
                *(trial.group, trial.database, Effect.ALREADY, trial.base, trial.new),
                reason="the driver sets it by itself",
            )
    return {trial: results[trial] for trial in planned.trials}


def checks(
    run: RunData, planned: PlannedAdvice, trial: Trial
) -> tuple[Verified | None, Verified | None]:
    """The verifications of base and new."""
    base, new = (run.checks.get((case, planned.runner)) for case in (trial.base, trial.new))
    return base, new


def _measured(series: Series, trial: Trial, runner: str) -> _Measured:
    """Both cells' times; raises NotHereError where there is none."""
    if not trial.base:
        raise NotHereError(trial.reason)
    spots = [series.spot(case, runner) for case in (trial.base, trial.new)]
    if not series.equal_work(*spots):
        raise NotHereError("the two were given different numbers of operations in an iteration")
    cases = series.run.plan.cases
    base, new = (series.blocks("steady", spot) / cases[spot.case].per_operation for spot in spots)
    guard = max(float(series.guard("steady")[spot.case]) for spot in spots)
    return _Measured(trial, base, new, guard)


def _without(run: RunData, outcomes: Outcomes, trial: Trial, runner: str, reason: str) -> Tried:
    """A trial without a figure: what became of the cell that has none, and why."""
    effect = Effect.NOT_MEASURED
    series = [planned.name for planned in run.plan.runners].index(runner)
    for number, case in enumerate(run.plan.cases):
        outcome = outcomes.outcome[number][series]
        if case.id in (trial.base, trial.new) and outcome != "ok":
            effect, reason = Effect(outcome), outcomes.reason[number][series] or reason
    return Tried(trial.group, trial.database, effect, trial.base, trial.new, reason=reason)


def _judged(measured: Sequence[_Measured], question: Question) -> list[Tried]:
    """Every measured trial in words; all of them are one family."""
    if not measured:
        return []
    times = np.array([[each.base, each.new] for each in measured])
    guards = np.array([each.guard for each in measured])
    pairs = compare_all(times, [BASE, NEW], question, guards)
    return [
        _worded(each, columns.of(NEW, BASE))
        for each, columns in zip(measured, comparisons(pairs), strict=True)
    ]


def _worded(measured: _Measured, compared: Comparison | None) -> Tried:
    trial = measured.trial
    where = (trial.group, trial.database)
    if compared is None:
        few = "the two have fewer than 2 blocks in common"
        return Tried(*where, Effect.NOT_RESOLVED, trial.base, trial.new, reason=few)
    untestable = compared.verdict is Verdict.NOT_TESTABLE
    return Tried(
        *where,
        _EFFECTS[compared.verdict.side],
        trial.base,
        trial.new,
        compared.ratio,
        compared.verdict,
        median(measured.base),
        median(measured.new),
        blocks=compared.blocks,
        needs_blocks=compared.needs_blocks,
        reason="too few blocks, or no interval" if untestable else "",
    )


def _alike(run: RunData, planned: PlannedAdvice, trial: Trial) -> bool:
    """Whether all that the setting sets was read back the same without it."""
    spec = next(s for s in planned.settings.setting if s.name == trial.setting)
    base, new = checks(run, planned, trial)
    if spec.transaction or not spec.pragmas or base is None or new is None:
        return False
    return new.outcome == "ok" and all(
        name in base.pragmas and normal(name, base.pragmas[name]) == normal(name, value)
        for name, value in spec.pragmas
    )
