"""What write cells were counted to make durable: per profile, and where it is not what a reader
expects."""

from collections.abc import Callable, Iterable, Sequence

from sqlitmus.analysis.data import RunData
from sqlitmus.results.notices import Notice, NoticeKind
from sqlitmus.results.report import Case
from sqlitmus.run.judge import normal
from sqlitmus.vocabulary.syncs import Syncs

FACT = "syncs per transaction"
_AT_EACH_COMMIT = {"2", "3"}  # synchronous FULL and EXTRA
Counted = dict[str, Syncs]


def by_profile(run: RunData) -> dict[str | None, dict[str, str]]:
    """Profile → runner → its syncs per transaction over the cases, several joined by ` / `."""
    counted: dict[str | None, dict[str, dict[str, None]]] = {}
    for case in run.plan.cases:
        profile = case.axes.get("profile")
        for runner in run.plan.runners:
            check = run.checks.get((case.id, runner.name))
            if check is None or not (check.syncs or check.uncounted):
                continue
            words = check.syncs.calls() if check.syncs else "not counted"
            of_profile = counted.setdefault(None if profile is None else str(profile), {})
            of_profile.setdefault(runner.name, {})[words] = None
    return {
        profile: {runner: " / ".join(words) for runner, words in of_profile.items()}
        for profile, of_profile in counted.items()
    }


def notices(cases: Sequence[Case], floor: str | None) -> Iterable[Notice]:
    """Cells that sync less often than their profile promises or the floor does with it, and cases
    as shipped in which not all sync equally often."""
    yield from _gathered("fewer syncs", cases, lambda case, counted: _fewer(case, counted, floor))
    yield from _gathered("other syncs", cases, _other)


def _gathered(
    kind: NoticeKind, cases: Sequence[Case], told: Callable[[Case, Counted], Iterable[str]]
) -> Iterable[Notice]:
    """One notice for all cases in which the same would be said of the runners `told`."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for case in cases:
        counted = {cell.runner: cell.syncs for cell in case.cells if cell.syncs}
        values = tuple((runner, counted[runner].calls()) for runner in told(case, counted))
        if values:
            alike.setdefault(values, []).append(case.id)
    for values, names in alike.items():
        yield Notice(kind, names=names, values=dict(values))


def _fewer(case: Case, counted: Counted, floor: str | None) -> list[str]:
    """Runners that sync too seldom, then the floor if it is what shows that.

    Whole syncs are compared: what is beyond comes from checkpoints, which are no part of a commit.
    """
    pragmas = {name: normal(name, value) for name, value in case.pragmas}
    if pragmas.get("synchronous") not in _AT_EACH_COMMIT:
        return []
    least = max(1, int(counted[floor].per_transaction) if floor in counted else 1)
    fewer = [name for name, syncs in counted.items() if int(syncs.per_transaction) < least]
    return [*fewer, floor] if fewer and floor in counted and floor not in fewer else fewer


def _other(case: Case, counted: Counted) -> list[str]:
    if case.axes.get("profile") != "shipped":
        return []
    return list(counted) if len({s.per_transaction for s in counted.values()}) > 1 else []
