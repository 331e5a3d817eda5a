"""A workload's limits that its runners are held to beyond memory and start: p99 and durability."""

from collections.abc import Iterator, Sequence

from sqlitmus.analysis.cells import intervals
from sqlitmus.analysis.data import RunData
from sqlitmus.catalog.planned import PlannedWorkload
from sqlitmus.results.ranking import Excluded
from sqlitmus.results.recommendation import Latency
from sqlitmus.results.report import Case
from sqlitmus.run.judge import normal
from sqlitmus.stats.estimate import medians

_LEVELS = {"0": 0, "1": 1, "2": 2, "3": 2}  # of PRAGMA synchronous: off, normal, full, extra
_NEEDED = {"normal": 1, "full": 2}
_WORDS = ("off", "normal")


def latencies(run: RunData, cases: Sequence[Case]) -> list[Latency]:
    """The p99 of each case of a workload whose rounds were timed."""
    workload, details = run.plan.workload, run.details
    if workload is None or details is None:
        return []
    names = run.plan.names
    timed: list[Latency] = []
    for place, case in enumerate(cases):
        if case.scenario not in workload.paced:
            continue
        of_all = intervals(medians(details.figures["p99"][place, : len(names)]))
        right = {cell.runner for cell in case.cells if cell.outcome == "ok"}
        p99 = {name: p if name in right else None for name, p in zip(names, of_all, strict=True)}
        timed.append(Latency(case.id, workload.paced[case.scenario], workload.round, p99))
    return timed


def exceeded(run: RunData, timed: Sequence[Latency]) -> list[Excluded]:
    """Who exceeds them, or was not measured where one holds."""
    workload = run.plan.workload
    if workload is None:
        return []
    names = [runner.name for runner in run.plan.runners if runner.role == "runner"]
    return [over for name in names for over in _of(run, workload, name, timed)]


def _of(
    run: RunData, workload: PlannedWorkload, name: str, timed: Sequence[Latency]
) -> Iterator[Excluded]:
    most = workload.p99_ms and workload.p99_ms * 1e6
    for latency in timed if most else ():
        p99 = latency.p99.get(name)
        if p99 is None or (most and p99.value > most):
            yield Excluded(name, "p99", p99 and p99.value, most, cases=[latency.case])
    if workload.durability and (weak := _weak(run, name, _NEEDED[workload.durability])):
        yield Excluded(name, "durability", shown=f"{weak}, the limit {workload.durability}")


def _weak(run: RunData, name: str, needed: int) -> str | None:
    """How a runner's commits are less durable than `needed`, in words; None if they are not.

    What was read back counts, and syncs: where another runner has one a transaction, all need it.
    """
    for (case, runner), check in run.checks.items():
        if runner != name or check.readback is None:
            continue
        level = _LEVELS.get(normal("synchronous", check.pragmas.get("synchronous")), 2)
        if level < needed:
            return f"synchronous {_WORDS[level]}"
        if needed == _NEEDED["full"] and check.syncs and check.syncs.per_transaction < 1:
            others = [c.syncs for (at, _), c in run.checks.items() if at == case and c.syncs]
            if any(syncs.per_transaction >= 1 for syncs in others):
                return f"{check.syncs.calls()} a transaction"
    return None
