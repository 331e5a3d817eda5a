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
    kind: NoticeKind, cases: Sequence[Case], told: Callable[[Case, Counted], Counted]
) -> Iterable[Notice]:
    """One notice for all cases of which `told` gives the same."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for case in cases:
        counted = {cell.runner: cell.syncs for cell in case.cells if cell.syncs}
        values = tuple((name, syncs.calls()) for name, syncs in told(case, counted).items())
        if values:
            alike.setdefault(values, []).append(case.id)
    for values, names in alike.items():
        yield Notice(kind, names=names, values=dict(values))


def _fewer(case: Case, counted: Counted, floor: str | None) -> Counted:
    """Runners that sync too seldom, then the floor if it does not.

    Whole syncs are compared: what is beyond comes from checkpoints, which are no part of a commit.
    """
    pragmas = {name: normal(name, value) for name, value in case.pragmas}
    if pragmas.get("synchronous") not in _AT_EACH_COMMIT:
        return {}
    against = counted.get(floor or "")
    least = max(1, int(against.per_transaction) if against else 1)
    fewer = {name: s for name, s in counted.items() if int(s.per_transaction) < least}
    if fewer and against and floor not in fewer:
        fewer[f"{floor} (the floor)"] = against
    return fewer


def _other(case: Case, counted: Counted) -> Counted:
    if case.axes.get("profile") != "shipped":
        return {}
    return counted if len({s.per_transaction for s in counted.values()}) > 1 else {}
