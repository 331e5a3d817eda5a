"""Settings that were tried: every new cell against its base, and per setting what to do."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast, get_args

import numpy as np

from sqlitmus.analysis.cells import Exclusions, Outcomes
from sqlitmus.analysis.claim_rows import NotHereError, Series, median
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.pairs import Question, compare_all, comparisons
from sqlitmus.analysis.provenance import cache_bytes, promise
from sqlitmus.catalog.settings import PlannedAdvice, Trial
from sqlitmus.results.ranking import Comparison
from sqlitmus.results.recommendation import (
    Advice,
    Counsel,
    Effect,
    Place,
    Promise,
    Published,
    Setting,
    Tried,
)
from sqlitmus.stats.estimate import Array
from sqlitmus.store.file import Verified
from sqlitmus.vocabulary.contract import normal_pragma
from sqlitmus.vocabulary.verdicts import Apart, CellOutcome, Side, Verdict

BASE, NEW = "base", "new"
_APART: tuple[Effect, ...] = get_args(Apart)
_EFFECTS: dict[Side, Effect] = {
    "faster": "helps",
    "slower": "hurts",
    "equivalent": "does nothing here",
    "undecided": "not resolved",
}


def tried(
    run: RunData, outcomes: Outcomes, excluded: Exclusions, planned: PlannedAdvice
) -> dict[Trial, Tried]:
    """What came of each trial of the plan, in its order; all that were measured are one family."""
    series, runner, cases = Series(run, outcomes), planned.runner, run.plan.cases
    results: dict[Trial, Tried] = {}
    measured: dict[Trial, tuple[Array, Array]] = {}
    for trial in planned.trials:
        results[trial] = _blank(trial, "not measured here", trial.reason)
        if not trial.base:
            continue
        try:
            # if neither cell has a time, that with the setting says why
            new, base = series.pair((trial.new, runner), (trial.base, runner), "steady")
        except NotHereError as error:
            outcome = cast("CellOutcome", error.outcome)
            effect = "not measured here" if outcome == "ok" else outcome
            results[trial] = _blank(trial, effect, error.reason or str(error))
            continue
        base_times, new_times = (
            series.blocks("steady", spot) / cases[spot.case].per_operation for spot in (base, new)
        )
        timed = replace(results[trial], base_time=median(base_times), new_time=median(new_times))
        sides = {"without": base, "with": new}
        apart = {side: spot for side, spot in sides.items() if spot in excluded.why}
        words = [f"{side} the setting, {excluded.detail(spot)}" for side, spot in apart.items()]
        if apart:
            effect = excluded.why[next(iter(apart.values()))]
            results[trial] = replace(timed, effect=effect, reason="; ".join(words))
        else:
            results[trial], measured[trial] = timed, (base_times, new_times)
    if measured:
        question = replace(Question.of(run.plan), small_is_nothing=True)
        pairs = compare_all(np.array([*measured.values()]), [BASE, NEW], question)
        for trial, columns in zip(measured, comparisons(pairs), strict=True):
            results[trial] = _worded(trial, results[trial], columns.of(NEW, BASE))
    for trial in planned.trials:
        if _alike(run, planned, trial):
            results[trial] = _blank(trial, "is so already", "the driver sets it by itself")
    return results


def checks(
    run: RunData, planned: PlannedAdvice, trial: Trial
) -> tuple[Verified | None, Verified | None]:
    """The verifications of base and new."""
    base, new = (run.checks.get((case, planned.runner)) for case in (trial.base, trial.new))
    return base, new


def _blank(trial: Trial, effect: Effect, reason: str) -> Tried:
    """A trial without a figure, and why."""
    return Tried(trial.group, trial.database, effect, trial.base, trial.new, reason=reason)


def _worded(trial: Trial, timed: Tried, compared: Comparison | None) -> Tried:
    """The trial with its ratio and what that says."""
    if compared is None:
        few = "the two have fewer than 2 blocks in common"
        return _blank(trial, "not resolved", few)
    untestable = compared.verdict is Verdict.NOT_TESTABLE
    return replace(
        timed,
        effect=_EFFECTS[compared.verdict.side],
        ratio=compared.ratio,
        verdict=compared.verdict,
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
        name in base.pragmas
        and normal_pragma(name, base.pragmas[name]) == normal_pragma(name, value)
        for name, value in spec.pragmas
    )


# What follows from settings that were tried: per setting what to do, and what a commit loses.


def advise(run: RunData, outcomes: Outcomes, excluded: Exclusions) -> Advice | None:
    """The advice of a run that tried settings; None for any other run."""
    planned = run.plan.advice
    if planned is None:
        return None
    results = tried(run, outcomes, excluded, planned)
    named = {trial.setting for trial in planned.trials}
    groups = dict.fromkeys(trial.group for trial in planned.trials)
    titles = {name: group.title for name, group in planned.settings.group.items()}
    return Advice(
        runner=planned.runner,
        start=planned.settings.start,
        margin=run.plan.margin,
        groups={name: titles.get(name, name) for name in groups},
        places=_places(run, planned),
        settings=[
            _setting(run, planned, setting.name, results)
            for setting in planned.settings.setting
            if setting.name in named
        ],
        workload=run.plan.workload.file if run.plan.workload else "",
    )


def _setting(
    run: RunData, planned: PlannedAdvice, name: str, results: Mapping[Trial, Tried]
) -> Setting:
    by_name = {setting.name: setting for setting in planned.settings.setting}
    spec = by_name[name]
    mine = {trial: result for trial, result in results.items() if trial.setting == name}
    pairs = [pair for trial in mine if (pair := _promises(run, planned, trial))]
    # of all groups that write, the one in which a commit loses most
    before, after = max(pairs, key=lambda pair: pair[0].level - pair[1].level, default=(None, None))
    weakens = bool(before and after and after.level < before.level)
    return Setting(
        name=name,
        title=spec.title,
        beside=by_name[spec.beside].title if spec.beside in by_name else "",
        does=spec.does,
        caution=spec.caution,
        counsel=counsel([result.effect for result in mine.values()], weakens=weakens),
        before=before,
        after=after,
        published=[Published(p.says, p.source, p.url) for p in spec.publications],
        tried=list(mine.values()),
    )


def counsel(effects: Iterable[Effect], *, weakens: bool) -> Counsel:
    """What follows from a setting's effects; one that `weakens` commits is never simply set."""
    seen = {*effects}
    helps, hurts = "helps" in seen, "hurts" in seen
    if weakens and (helps or "not resolved" in seen):
        return "your decision"
    if weakens:
        return "no answer" if seen.intersection(_APART) else "leave it"
    if helps and hurts:
        return "both"
    if helps or hurts:
        return "set it" if helps else "leave it"
    left: dict[Effect, Counsel] = {
        "not resolved": "open",
        **dict.fromkeys(_APART, "no answer"),
        "does nothing here": "does nothing",
        "is so already": "is so already",
    }
    upshots: list[Counsel] = [word for effect, word in left.items() if effect in seen]
    return upshots[0] if upshots else "no answer"


def _promises(run: RunData, planned: PlannedAdvice, trial: Trial) -> tuple[Promise, Promise] | None:
    """What a commit promises without the setting and with it, of a trial that writes."""
    base, new = checks(run, planned, trial)
    if base is None or new is None or not (base.affected or new.affected):
        return None
    before, after = promise(base.pragmas), promise(new.pragmas)
    return (before, after) if before and after else None


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
