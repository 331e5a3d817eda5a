"""What each setting does: every new cell against its base, all verdicts corrected as one family."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sqlitmus.analysis.claims.series import NotHereError, Series, median
from sqlitmus.analysis.data import Check, RunData
from sqlitmus.analysis.outcomes import Outcomes
from sqlitmus.analysis.pairs import Question, compare_all, comparisons
from sqlitmus.catalog.plan import PlannedAdvice, Trial
from sqlitmus.results.advice import (
    Advice,
    Counsel,
    Effect,
    Place,
    Promise,
    Published,
    Setting,
    Tried,
)
from sqlitmus.results.report import Comparison
from sqlitmus.run.judge import normal
from sqlitmus.stats.estimate import Array
from sqlitmus.vocabulary.verdicts import Side, Verdict

BASE, NEW = "base", "new"
_EFFECTS: dict[Side, Effect] = {
    "faster": Effect.HELPS,
    "slower": Effect.HURTS,
    "equivalent": Effect.NOTHING,
    "undecided": Effect.NOT_RESOLVED,
}
_CACHED = {"off", "memory"}  # journals that a crash of the process takes with it
_KIBI = 1024


@dataclass(frozen=True, slots=True)
class _Measured:
    """A trial whose two cells have times, by block, and its noise as a log ratio."""

    trial: Trial
    base: Array
    new: Array
    guard: float


def advise(run: RunData, outcomes: Outcomes) -> Advice | None:
    """The advice of a run that tried settings; None for any other run."""
    planned = run.plan.advice
    if planned is None:
        return None
    series = Series(run, outcomes)
    tried: dict[Trial, Tried] = {}
    measured: list[_Measured] = []
    for trial in planned.trials:
        try:
            measured.append(_measured(series, trial, planned.runner))
        except NotHereError as error:
            tried[trial] = _without(run, outcomes, trial, planned.runner, str(error))
    tried |= zip([m.trial for m in measured], _judged(measured, Question.of(run.plan)), strict=True)
    for trial in tried:
        if trial.base and _alike(run, planned, trial):
            tried[trial] = Tried(
                *(trial.group, trial.database, Effect.ALREADY, trial.base, trial.new),
                reason="the driver sets it by itself",
            )
    settings = planned.settings
    return Advice(
        runner=planned.runner,
        start=settings.start,
        margin=run.plan.margin,
        groups={
            trial.group: settings.group[trial.group].title
            if trial.group in settings.group
            else trial.group
            for trial in planned.trials
        },
        places=_places(run, planned),
        settings=[_setting(run, planned, name, tried) for name in _names(planned)],
        workload=run.plan.workload.file if run.plan.workload else "",
    )


def _names(planned: PlannedAdvice) -> list[str]:
    """The settings that were tried, in the order of the file."""
    tried = {trial.setting for trial in planned.trials}
    return [setting.name for setting in planned.settings.setting if setting.name in tried]


def _measured(series: Series, trial: Trial, runner: str) -> _Measured:
    """Both cells' times; raises NotHereError where there is none."""
    if not trial.base:
        raise NotHereError(trial.reason)
    spots = [series.spot(case, runner) for case in (trial.base, trial.new)]
    if not series.equal_work(*spots):
        raise NotHereError("the two were given different numbers of operations in an iteration")
    base, new = (series.blocks("steady", spot) for spot in spots)
    guard = max(float(series.guard("steady")[spot.case]) for spot in spots)
    return _Measured(trial, base, new, guard)


def _without(
    run: RunData, outcomes: Outcomes, trial: Trial, runner: str, reason: str
) -> Tried:
    """A trial without a figure: what became of the worse of its two cells, and why."""
    effect = Effect.NOT_MEASURED
    series = [r.name for r in run.plan.runners].index(runner)
    for number, case in enumerate(run.plan.cases):
        outcome = outcomes.outcome[number][series]
        if case.id in (trial.base, trial.new) and outcome != "ok":
            effect, reason = Effect(outcome), outcomes.reason[number][series] or reason
    return Tried(trial.group, trial.database, effect, trial.base, trial.new, reason=reason)


def _judged(measured: Sequence[_Measured], question: Question) -> list[Tried]:
    """Every measured trial in words; all of them are one family."""
    if not measured:
        return []
    times = np.array([[m.base, m.new] for m in measured])
    guards = np.array([m.guard for m in measured])
    pairs = compare_all(times, [BASE, NEW], question, guards)
    return [
        _worded(m, found)
        for m, found in zip(
            measured, (columns.of(NEW, BASE) for columns in comparisons(pairs)), strict=True
        )
    ]


def _worded(measured: _Measured, found: Comparison | None) -> Tried:
    trial = measured.trial
    where = (trial.group, trial.database)
    times = {"base_time": median(measured.base), "new_time": median(measured.new)}
    if found is None:
        return Tried(*where, Effect.NOT_RESOLVED, trial.base, trial.new, **times)
    few = found.verdict is Verdict.NOT_TESTABLE
    return Tried(
        *where,
        _EFFECTS[found.verdict.side],
        trial.base,
        trial.new,
        found.ratio,
        found.verdict,
        **times,
        blocks=found.blocks,
        needs_blocks=found.needs_blocks,
        reason="too few blocks, or no interval" if few else "",
    )


def _setting(
    run: RunData, planned: PlannedAdvice, name: str, tried: Mapping[Trial, Tried]
) -> Setting:
    spec = next(setting for setting in planned.settings.setting if setting.name == name)
    mine = {trial: each for trial, each in tried.items() if trial.setting == name}
    ordered = [mine[trial] for trial in planned.trials if trial.setting == name]
    promises = [promise for trial in mine if (promise := _promises(run, planned, trial))]
    # the worst that was seen: the drop that is largest over the groups that write
    before, after = max(
        promises, key=lambda both: both[0].level - both[1].level, default=(None, None)
    )
    weakens = bool(before and after and after.level < before.level)
    return Setting(
        name=name,
        title=spec.title,
        beside=next((s.title for s in planned.settings.setting if s.name == spec.beside), ""),
        does=spec.does,
        caution=spec.caution,
        counsel=counsel([each.effect for each in ordered], weakens=weakens),
        before=before,
        after=after,
        published=[Published(p.says, p.source, p.url) for p in spec.publications],
        tried=ordered,
    )


def counsel(effects: Iterable[Effect], *, weakens: bool) -> Counsel:
    """What follows from a setting's effects; one that `weakens` commits is never simply set."""
    seen = {*effects} - {Effect.NOT_MEASURED}
    helps, hurts = Effect.HELPS in seen, Effect.HURTS in seen
    if weakens:
        return "your decision" if helps or Effect.NOT_RESOLVED in seen else "leave it"
    if helps and hurts:
        return "both"
    if helps:
        return "set it"
    if hurts:
        return "leave it"
    if Effect.NOT_RESOLVED in seen:
        return "open"
    if Effect.NOTHING in seen:
        return "does nothing"
    return "is so already" if Effect.ALREADY in seen else "no answer"


def promise(pragmas: Mapping[str, str | int | None]) -> Promise | None:
    """What a commit survives, by journal_mode and synchronous as they were read back.

    After https://sqlite.org/pragma.html#pragma_synchronous: in WAL mode NORMAL gives up durability
    only, with a rollback journal it may, rarely, cost the file.
    """
    if not {"journal_mode", "synchronous"} <= pragmas.keys():
        return None
    journal, level = (
        normal(name, pragmas[name]) for name in ("journal_mode", "synchronous")
    )
    if journal in _CACHED or level == "0":
        return Promise.NONE
    if level == "1":
        return Promise.LATE if journal == "wal" else Promise.RISKY
    return Promise.DURABLE


def _checks(
    run: RunData, planned: PlannedAdvice, trial: Trial
) -> tuple[Check | None, Check | None]:
    return (
        run.checks.get((trial.base, planned.runner)),
        run.checks.get((trial.new, planned.runner)),
    )


def _promises(
    run: RunData, planned: PlannedAdvice, trial: Trial
) -> tuple[Promise, Promise] | None:
    """What a commit promises without the setting and with it, of a trial that writes."""
    base, new = _checks(run, planned, trial)
    if base is None or new is None or not (base.affected or new.affected):
        return None
    before, after = promise(base.pragmas), promise(new.pragmas)
    return (before, after) if before and after else None


def _alike(run: RunData, planned: PlannedAdvice, trial: Trial) -> bool:
    """Whether all that the setting sets was read back the same without it."""
    spec = next(s for s in planned.settings.setting if s.name == trial.setting)
    base, new = _checks(run, planned, trial)
    if spec.transaction or not spec.pragmas or base is None or new is None:
        return False
    return new.outcome == "ok" and all(
        name in base.pragmas and normal(name, base.pragmas[name]) == normal(name, value)
        for name, value in spec.pragmas
    )


def _places(run: RunData, planned: PlannedAdvice) -> list[Place]:
    """The databases in the order of the file; a user's own has no name."""
    titles = {database.name: database.title for database in planned.settings.database}
    places: list[Place] = []
    for name in dict.fromkeys(trial.database for trial in planned.trials):
        bases = {trial.base for trial in planned.trials if trial.database == name} - {""}
        sizes = [c.database_bytes for c in run.plan.cases if c.id in bases and c.database_bytes]
        caches = [
            size
            for case in sorted(bases)
            if (check := run.checks.get((case, planned.runner)))
            and (size := cache_bytes(check.pragmas))
        ]
        places.append(
            Place(name, titles.get(name, ""), max(sizes, default=None), max(caches, default=None))
        )
    return places


def cache_bytes(pragmas: Mapping[str, str | int | None]) -> int | None:
    """The page cache of a connection; a negative cache_size is in KiB, a positive one in pages."""
    try:
        size, page = int(pragmas["cache_size"] or 0), int(pragmas["page_size"] or 0)
    except (KeyError, ValueError):
        return None
    return -size * _KIBI if size < 0 else size * page
