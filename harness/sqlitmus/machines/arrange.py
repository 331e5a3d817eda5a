"""Groups runs into machines, by label and hardware. Pure."""

from collections import Counter, defaultdict
from itertools import groupby

from sqlitmus.machines.agree import agree
from sqlitmus.machines.candidate import Run, age
from sqlitmus.machines.manifest import MergedMachine, RefusedRun

SAME_WORK = "; measure both with the same scenarios and fixtures"
SAME_SETTINGS = ", of the same machine; ratios of a machine have one base"
ALONE = (
    "plan.json: $.cases: no other machine measured any of these, so they can be compared with "
    "nothing; measure the same cases on each machine"
)


def arrange(runs: list[Run]) -> tuple[list[MergedMachine], list[RefusedRun]]:
    """The machines by name, and the refused runs; the order of `runs` does not matter."""
    comparable, refused = agree(runs, lambda run: run.work, SAME_WORK)
    alike: dict[tuple[str, tuple[str, ...]], list[Run]] = defaultdict(list)
    for run in comparable:
        alike[run.label, run.hardware].append(run)
    groups: list[list[Run]] = []
    for group in alike.values():
        agreed, odd = agree(group, lambda run: run.settings, SAME_SETTINGS)
        members, repeated = _without_repeats(agreed)
        refused += odd + repeated
        groups.append(members)
    alone = _alone(groups)
    refused += [RefusedRun(path=run.path, reason=ALONE) for group in alone for run in group]
    groups = [group for group in groups if group not in alone]
    groups.sort(key=lambda group: (group[0].label, age(group[0])))
    machines = [
        _machine(label if number == 1 else f"{label} ({number})", members)
        for label, labelled in groupby(groups, key=lambda group: group[0].label)
        for number, members in enumerate(labelled, start=1)
    ]
    return machines, sorted(refused, key=lambda r: (r.path, r.reason))


def _without_repeats(runs: list[Run]) -> tuple[list[Run], list[RefusedRun]]:
    """The runs, given in order of time, without those that repeat a case of an earlier one."""
    separate, refused = list[Run](), list[RefusedRun]()
    for run in runs:
        earlier = next((other for other in separate if other.cases & run.cases), None)
        if earlier is None:
            separate.append(run)
            continue
        problem = f"{min(earlier.cases & run.cases)} was measured already, in {earlier.path}"
        reason = f"plan.json: $.cases: {problem}; merge one of the two"
        refused.append(RefusedRun(path=run.path, reason=reason))
    return separate, refused


def _alone(groups: list[list[Run]]) -> list[list[Run]]:
    """The machines that have no case in common with another; a single machine needs none."""
    times = Counter(case for group in groups for run in group for case in run.cases)
    if len(groups) == 1:
        return []
    return [
        group for group in groups if all(times[case] == 1 for run in group for case in run.cases)
    ]


def _machine(name: str, members: list[Run]) -> MergedMachine:
    return MergedMachine(
        name=name,
        kind=members[0].kind,
        label=members[0].label,
        sources=[run.source() for run in members],
    )
