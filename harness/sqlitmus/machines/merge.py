"""Merges run directories into one directory, top to bottom: find, take, arrange, write."""

import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

from sqlitmus import __version__
from sqlitmus.machines import admit
from sqlitmus.machines.admit import (
    Given,
    Merged,
    MergedMachine,
    RefusedRun,
    Run,
    age,
    find,
    take_all,
)
from sqlitmus.run.planning import name_of, point_latest
from sqlitmus.vocabulary.errors import NotFit, UsageError

Facts = Callable[[Run], Mapping[str, str]]


def agree(runs: list[Run], facts: Facts, among: str) -> tuple[list[Run], list[RefusedRun]]:
    """The runs that agree on all facts they share, and a refusal for each of the others.

    Of two values the one in more runs wins, and between equals that of the earliest run. `among`
    completes the message: it says among which runs the facts must agree.
    """
    agreeing, refused = sorted(runs, key=age), list[RefusedRun]()
    for name in sorted({name for run in agreeing for name in facts(run)}):
        having = [run for run in agreeing if name in facts(run)]
        if not having:
            continue
        holds = Counter(facts(run)[name] for run in having).most_common(1)[0][0]
        first = next(run for run in having if facts(run)[name] == holds)
        odd = [run for run in having if facts(run)[name] != holds]
        refused += [
            RefusedRun(
                path=run.path, reason=f"plan.json: {name} differs from that of {first.path}{among}"
            )
            for run in odd
        ]
        agreeing = [run for run in agreeing if run not in odd]
    return agreeing, refused


# Groups runs into machines, by label and hardware. Pure.


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


# Merges run directories into one directory, top to bottom: find, take, arrange, write.


@dataclass(frozen=True, slots=True)
class Done:
    """A merged directory; `twice` are the paths of runs that occurred more than once."""

    directory: Path
    merged: Merged
    twice: list[list[str]]


def label_of(label: str) -> str:
    """The label of a merged run to which the user gives `label`, which may be empty."""
    return f"merged-{label}" if label else "merged"


def merge(
    given: list[Given], out: Path, label: str, expect: list[str], now: datetime, *, partial: bool
) -> Done:
    """Merge the runs below the folders `given` into a new folder in `out`.

    Raises UsageError when nothing can be merged, and NotFit when `out` cannot be written.
    """
    name = name_of(now, label_of(label))
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".merge-", dir=out) as staging:
            return _merge(given, Path(staging), out / name, expect, now, partial=partial)
    except OSError as error:
        raise NotFit(
            f"{out}: cannot be written: {error.strerror}; free some space or choose another folder "
            "with --out"
        ) from error


def _merge(
    given: list[Given],
    staging: Path,
    target: Path,
    expect: list[str],
    now: datetime,
    *,
    partial: bool,
) -> Done:
    if target.exists():
        raise UsageError(f"{target} exists already; choose another --label or --out")
    inventory = find(given, partial=partial)
    runs: dict[str, list[Run]] = {}
    copies: dict[str, Path] = {}
    refused = list(inventory.refused)
    for folder, taken in take_all(inventory.origins, staging):
        if isinstance(taken, Run):
            runs.setdefault(taken.hash, []).append(taken)
            copies[taken.hash] = folder
        else:
            refused.append(taken)
            shutil.rmtree(folder, ignore_errors=True)
    once = [min(same, key=lambda run: run.path) for same in runs.values()]
    machines, misfits = arrange(once)
    refused = _each_once([*refused, *misfits])
    if not machines:
        lines = [f"\n  {r.path}: {r.reason}" for r in refused]
        raise UsageError(f"nothing can be merged:{''.join(lines)}")
    merged = Merged(
        run=target.name,
        created=now.isoformat(timespec="seconds"),
        sqlitmus=__version__,
        machines=machines,
        refused=refused,
        expected=_absent([*expect, *inventory.expected], machines),
    )
    _write(merged, copies, staging / "merged", target)
    twice = [sorted({run.path for run in same}) for same in runs.values() if len(same) > 1]
    return Done(target, merged, sorted(paths for paths in twice if len(paths) > 1))


def _write(merged: Merged, copies: dict[str, Path], folder: Path, target: Path) -> None:
    """Write the merged directory, which appears only when it is complete."""
    (folder / admit.SOURCES).mkdir(parents=True)
    for machine in merged.machines:
        for source in machine.sources:
            copies[source.hash].rename(folder / admit.SOURCES / source.hash)
    text = merged.model_dump_json(indent=1)
    (folder / admit.NAME).write_bytes((text + "\n").encode())
    folder.rename(target)
    point_latest(target)


def _absent(names: list[str], machines: list[MergedMachine]) -> list[str]:
    arrived = {name for machine in machines for name in (machine.name, machine.label)}
    return sorted(set(names) - arrived)


def _each_once(refused: list[RefusedRun]) -> list[RefusedRun]:
    pairs = {(refusal.path, refusal.reason): refusal for refusal in refused}
    return [pairs[key] for key in sorted(pairs)]
