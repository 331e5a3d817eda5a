"""Groups runs into machines: shards of one whole, or runs on the same hardware. Pure."""

from collections import defaultdict
from collections.abc import Callable

from sqlitmus.machines.agree import agree
from sqlitmus.machines.candidate import Run, age
from sqlitmus.machines.manifest import MergedMachine, RefusedRun

SAME_WORK = "; measure both with the same scenarios and fixtures"
SAME_SETTINGS = ", of the same machine; ratios of a machine have one base"


def arrange(runs: list[Run]) -> tuple[list[MergedMachine], list[RefusedRun]]:
    """The machines by name, and the refused runs; the order of `runs` does not matter."""
    comparable, refused = agree(runs, lambda run: run.work, SAME_WORK)
    labelled: dict[str, list[list[Run]]] = defaultdict(list)
    for alike in _by(comparable, lambda run: (run.label, run.kind)):
        whole, foreign = _one_whole(alike)
        refused += foreign
        for group in _by_hardware(whole):
            agreed, odd = agree(group, lambda run: run.settings, SAME_SETTINGS)
            members, overlapping = _apart(agreed)
            refused += odd + overlapping
            labelled[members[0].label].append(members)
    machines = [
        _machine(label if number == 1 else f"{label} ({number})", members)
        for label, groups in sorted(labelled.items())
        for number, members in enumerate(sorted(groups, key=lambda g: age(g[0])), start=1)
    ]
    return machines, sorted(refused, key=lambda r: (r.path, r.reason))


def _one_whole(runs: list[Run]) -> tuple[list[Run], list[RefusedRun]]:
    """The runs without the shards of other wholes than the one with most shards here."""
    wholes = _by([run for run in runs if run.shard], lambda run: run.shard and _whole(run))
    if len(wholes) < 2:
        return runs, []
    most = max(wholes, key=lambda shards: len({run.shard and run.shard.number for run in shards}))
    foreign = [run for shards in wholes if shards is not most for run in shards]
    refused = [
        RefusedRun(
            path=run.path,
            reason=f"plan.json: $.shard: {_numbered(run)} of another whole than {most[0].path}, "
            "of which more shards are here; merge the shards of one command",
        )
        for run in foreign
    ]
    return [run for run in runs if run not in foreign], refused


def _by_hardware(runs: list[Run]) -> list[list[Run]]:
    """Groups of runs: shards with what ran on their hardware, then the others by hardware."""
    shards = [run for run in runs if run.shard]
    shared = {run.hardware for run in shards}
    joined = [run for run in runs if run.shard or run.hardware in shared]
    others = [run for run in runs if run not in joined]
    return [*([joined] if joined else []), *_by(others, lambda run: run.hardware)]


def _apart(runs: list[Run]) -> tuple[list[Run], list[RefusedRun]]:
    """The runs without those that repeat cases or a shard of an earlier run."""
    separate, refused = list[Run](), list[RefusedRun]()
    for run in sorted(runs, key=age):
        for earlier in separate:
            both = run.cases & earlier.cases
            if _number(run) is not None and _number(run) == _number(earlier):
                problem = f"$.shard: {_numbered(run)} is there already"
            elif both:
                problem = f"$.cases: {min(both)} was measured already"
            else:
                continue
            reason = f"plan.json: {problem}, in {earlier.path}; merge one of the two"
            refused.append(RefusedRun(path=run.path, reason=reason))
            break
        else:
            separate.append(run)
    return separate, refused


def _machine(name: str, members: list[Run]) -> MergedMachine:
    ordered = sorted(members, key=lambda run: (_number(run) or 0, *age(run)))
    arrived = {run.shard.number for run in members if run.shard}
    of = max((run.shard.of for run in members if run.shard), default=0)
    return MergedMachine(
        name=name,
        kind=members[0].kind,
        label=members[0].label,
        sources=[run.source() for run in ordered],
        missing=sorted(set(range(1, of + 1)) - arrived),
        cpus=list(dict.fromkeys(run.cpu for run in ordered)),
    )


def _whole(run: Run) -> tuple[str, int] | None:
    return run.shard and (run.shard.whole, run.shard.of)


def _number(run: Run) -> int | None:
    return run.shard and run.shard.number


def _numbered(run: Run) -> str:
    return f"shard {run.shard.number} of {run.shard.of}" if run.shard else "no shard"


def _by(runs: list[Run], key: Callable[[Run], object]) -> list[list[Run]]:
    """Groups in order of their earliest run, each in order of time."""
    groups: dict[object, list[Run]] = {}
    for run in sorted(runs, key=age):
        groups.setdefault(key(run), []).append(run)
    return list(groups.values())
