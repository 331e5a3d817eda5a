"""What follows from settings that were tried: per setting what to do, and what a commit loses."""

from collections.abc import Iterable, Mapping

from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.outcomes import Outcomes
from sqlitmus.analysis.promises import cache_bytes, promise
from sqlitmus.analysis.trials import checks, tried
from sqlitmus.catalog.advised import PlannedAdvice, Trial
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


def advise(run: RunData, outcomes: Outcomes) -> Advice | None:
    """The advice of a run that tried settings; None for any other run."""
    planned = run.plan.advice
    if planned is None:
        return None
    results = tried(run, outcomes, planned)
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
    helps, hurts = Effect.HELPS in seen, Effect.HURTS in seen
    if weakens:
        return "your decision" if helps or Effect.NOT_RESOLVED in seen else "leave it"
    if helps and hurts:
        return "both"
    if helps or hurts:
        return "set it" if helps else "leave it"
    left: dict[Effect, Counsel] = {
        Effect.NOT_RESOLVED: "open",
        Effect.NOTHING: "does nothing",
        Effect.ALREADY: "is so already",
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
