"""Each machine of a merged file is surveyed, and the merged report says what holds on which."""

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.cells import Exclusions, judge as outcomes_of, ratios, usable
from sqlitmus.analysis.data import RunData, read
from sqlitmus.analysis.notices import emulated
from sqlitmus.analysis.pairs import Question, compare_with
from sqlitmus.catalog import presets
from sqlitmus.machine import system
from sqlitmus.machines.merge import Merged, MergedMachine
from sqlitmus.results import machines
from sqlitmus.results.machines import VERSION, Answer, MergedReport, Pooled, Row
from sqlitmus.results.report import Agreed, Case, Contradicted, Holding, Report, Statement
from sqlitmus.stats.estimate import Array, combine
from sqlitmus.stats.verdict import ALPHA
from sqlitmus.store.file import opened
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import CONTROLS, HoldsWord, Side, Verdict

Place = tuple[str, str]  # case id, runner
Estimate = tuple[float, float, float]  # mean log ratio, its standard error, degrees of freedom


def machine_report(
    file: Path, machine: MergedMachine, reference: str | None
) -> tuple[RunData, Report]:
    """A machine's run and its report, against `reference` if that runner took part."""
    with opened(file) as db:
        run = read(db, machine.number, presets.load())
    present = {r.name for r in run.plan.runners if r.missing is None}
    return run, analyse(run, reference if reference in present else None)


def reference_of(merged: Merged, requested: str | None) -> str:
    """The runner that all machines are compared with: `requested`, or the one most plans name.

    Raises UsageError when `requested` took part in no run.
    """
    plans = [machine.plan for machine in merged.machines]
    if requested is None:
        return Counter(plan.reference for plan in plans).most_common(1)[0][0]
    present = {r.name: None for plan in plans for r in plan.runners if r.missing is None}
    if requested not in present:
        raise UsageError(
            f"{requested!r} cannot be the reference: it took no part in any of these runs. "
            f"Choose one of {', '.join(present) or 'none (no runner was present)'}."
        )
    return requested


@dataclass(frozen=True, slots=True)
class Survey:
    """One machine's contribution to the merged report; `page` is that of its own, packed."""

    machine: machines.Machine
    report: Report
    answers: dict[Place, Answer]
    estimates: dict[Place, Estimate]
    page: bytes


def surveys(
    merged: Merged, reference: str, pack: Callable[[Report], bytes] | None = None
) -> Iterator[Survey]:
    """The survey of each machine, in order; `pack`, a function of a module, gets its report in its
    process."""
    jobs = (repeat(merged.file), merged.machines, repeat(reference), repeat(pack))
    workers = min(system.usable(), len(merged.machines))
    if workers < 2:
        yield from map(survey, *jobs)
        return
    start = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=start) as pool:
        yield from pool.map(survey, *jobs)


def survey(
    file: Path, machine: MergedMachine, reference: str, pack: Callable[[Report], bytes] | None
) -> Survey:
    """The survey of one machine; without `pack` it has no page."""
    run, report = machine_report(file, machine, reference)
    foreign = list(emulated(run))
    versions: dict[str, list[str]] = {}
    for runner in report.runners:
        if runner.sqlite_version is not None:
            versions.setdefault(runner.sqlite_version, []).append(runner.name)
    about = machines.Machine(
        name=machine.name,
        kind=machine.kind,
        label=machine.label,
        facts=report.machine,
        sqlite=versions,
        runs=[report.run],
        created=report.created,
        blocks=report.blocks_complete,
        blocks_planned=report.blocks_planned,
        detectable=report.detectable and report.detectable[0],
        cases=len(report.cases),
        emulated=foreign,
        headline=report.headline,
        notices=report.notices,
        scheme=run.plan.actual_scheme(),
    )
    answers = _answers(report, reference, foreign)
    page = pack(report) if pack else b""
    return Survey(about, report, answers, _estimates(run, reference, foreign), page)


def _answers(report: Report, reference: str, foreign: list[str]) -> dict[Place, Answer]:
    """The machine's answer on each pair; pairs with an emulated, `foreign` runner are marked."""
    answers: dict[Place, Answer] = {}
    for case in report.cases:
        outcomes = {cell.runner: cell.apart or cell.outcome for cell in case.cells}
        against = case.comparisons.against(reference)
        for runner, outcome in outcomes.items():
            if runner == reference:
                continue
            marked = runner in foreign or reference in foreign
            reason = outcome if outcome != "ok" else _why(reference, outcomes.get(reference))
            contrast = against.get(runner)
            answers[case.id, runner] = Answer(contrast, "" if contrast else reason, marked)
    return answers


def _why(reference: str, outcome: str | None) -> str:
    if outcome is None:
        return f"no {reference}"
    return "no block in common" if outcome == "ok" else f"{reference} {outcome}"


def _estimates(run: RunData, reference: str, foreign: list[str]) -> dict[Place, Estimate]:
    """The report's log ratios between native processes."""
    names = run.plan.names
    if reference not in names or reference in foreign:
        return {}
    times = Exclusions.of(run).without(usable(run.samples.time, outcomes_of(run)))[:, :-1]
    logs = compare_with(times, names.index(reference), Question.of(run.plan)).logs
    values = zip(*(part.tolist() for part in (logs.mean, logs.error, logs.freedom)), strict=True)
    places = [(case.id, name) for case in run.plan.cases for name in names]
    return {
        place: estimate
        for place, estimate in zip(places, values, strict=True)
        if place[1] not in foreign and not np.isnan(estimate[1])
    }


LEAST_POOLED = 3


class Judged(NamedTuple):
    """The word on one comparison, as in a `Row`."""

    word: HoldsWord
    verdict: Verdict | None
    text: str
    beside: str


def judge(answers: Sequence[Answer], names: Sequence[str]) -> Judged:
    """The word for the answers of the machines `names`.

    A machine counts if it has a verdict, even "not resolved", from two native processes. "Depends
    on the machine": faster on one and slower on another, or materially so on one and equivalent on
    another, where each difference has a p of at most 5 % over the number of machines that count:
    one of many machines errs sooner than one of two. "Holds": the same side on all that count, or
    on at least two and more than half of them.
    """
    counted = {
        name: answer.contrast.verdict
        for name, answer in zip(names, answers, strict=True)
        if answer.contrast and not answer.emulated
    }
    beside = _beside(answers, names)
    if not counted:
        return Judged("no answer", None, "no answer", beside)
    sides: Counter[Side] = Counter(v.side for v in counted.values() if v.side != "undecided")
    if _contradict(answers, ALPHA / len(counted)):
        apart = "; ".join(
            f"{side} on: {', '.join(n for n, v in counted.items() if v.side == side)}"
            for side in ("faster", "equivalent", "slower")
            if sides[side]
        )
        both = "; ".join(filter(None, [apart, beside]))
        return Judged("depends on the machine", None, "depends on the machine", both)
    side, times = sides.most_common(1)[0] if sides else ("undecided", 0)
    whole = len(counted)
    if not times or (whole > 1 and (times < 2 or 2 * times <= whole)):
        return Judged("not resolved", None, "not resolved", beside)
    agreeing = [verdict for verdict in counted.values() if verdict.side == side]
    agreed = next((verdict for verdict in agreeing if not verdict.material), agreeing[0])
    if whole == 1:
        where = "this machine" if len(names) == 1 else next(iter(counted))
        return Judged("on one machine only", agreed, f"on {where} only", beside)
    if times == whole:
        return Judged("holds on all", agreed, f"holds on all {whole}", beside)
    others = ", ".join(name for name, v in counted.items() if v.side != side)
    text = f"holds on {times} of {whole} (not: {others})"
    return Judged("holds on most", agreed, text, beside)


def _contradict(answers: Sequence[Answer], level: float) -> bool:
    """Whether differences of native processes with a p of at most `level` are contradicted."""
    verdicts = {
        contrast.verdict
        for answer in answers
        if (contrast := answer.contrast)
        and not answer.emulated
        and (
            not contrast.verdict.different
            or (contrast.adjusted is not None and contrast.adjusted <= level)
        )
    }
    sides = {verdict.side for verdict in verdicts}
    material = any(verdict.material for verdict in verdicts)
    return {"faster", "slower"} <= sides or (material and "equivalent" in sides)


def _beside(answers: Sequence[Answer], names: Sequence[str]) -> str:
    """The machines that do not count, in words."""
    pairs = list(zip(names, answers, strict=True))
    emulated = [name for name, a in pairs if a.emulated and a.contrast]
    silent = [f"{name} ({a.said})" if a.said else name for name, a in pairs if not a.contrast]
    parts = [
        f"{what} on: {', '.join(machines)}"
        for what, machines in (("no answer", silent), ("emulated, not counted", emulated))
        if machines
    ]
    return "; ".join(parts)


def pool(kinds: Sequence[str], mean: Array, error: Array, freedom: Array) -> list[list[Pooled]]:
    """Per row the random-effects mean of each kind that has enough machines with an estimate.

    Arrays are rows x machines, on the log scale; NaN where a machine is not to be counted.
    """
    pooled: list[list[Pooled]] = [[] for _ in mean]
    for kind in dict.fromkeys(kinds):
        mine = np.array([machine_kind == kind for machine_kind in kinds], dtype=np.bool_)
        if mine.sum() < LEAST_POOLED:
            continue
        combined = combine(mean[:, mine], error[:, mine], freedom[:, mine])
        inside = ratios(combined.mean, combined.low, combined.high)
        further = ratios(combined.mean, combined.next_low, combined.next_high)
        counts: list[int] = combined.count.tolist()
        for row, (count, *both) in enumerate(zip(counts, inside, further, strict=True)):
            if count >= LEAST_POOLED and both[0] and both[1]:
                pooled[row].append(Pooled(kind, count, both[0], both[1]))
    return pooled


ABSENT = Answer(said="not planned")


def merged_report(merged: Merged, surveys: Sequence[Survey], reference: str) -> MergedReport:
    """All that the machines say of each comparison with `reference`, by case and runner."""
    machines = [survey.machine for survey in surveys]
    cases: dict[str, Case] = {}
    for survey in surveys:
        for case in survey.report.cases:
            cases.setdefault(case.id, case)
    groups = list(dict.fromkeys(case.group for case in cases.values()))
    rows = _rows(cases, surveys)
    # of use to choose a runtime by: neither a control nor a yardstick
    choices = {r.name for survey in surveys for r in survey.report.runners if r.role == "runner"}
    choosable = [row for row in rows if row.group != CONTROLS and row.runner in choices]
    return MergedReport(
        version=VERSION,
        title=f"SQLite across runtimes on {counted(len(machines), 'machine')}",
        run=merged.made.name,
        created=merged.made.created,
        sqlitmus_version=merged.made.sqlitmus,
        reference=reference,
        headline=headline(choosable, groups, reference),
        machines=machines,
        refused=merged.made.refused,
        expected=merged.made.expected,
        groups=groups,
        rows=rows,
    )


def _rows(cases: dict[str, Case], surveys: Sequence[Survey]) -> list[Row]:
    """A row for every pair that any machine was asked, by case, in order of first occurrence."""
    by_case: dict[str, dict[str, None]] = {name: {} for name in cases}
    for survey in surveys:
        for case, runner in survey.answers:
            by_case[case][runner] = None
    places = [(case, runner) for case, runners in by_case.items() for runner in runners]
    if not places:
        return []
    names, kinds = zip(*((each.machine.name, each.machine.kind) for each in surveys), strict=True)
    none = (np.nan, np.nan, 0.0)
    logs = np.array([[of.estimates.get(at, none) for of in surveys] for at in places], np.float64)
    rows: list[Row] = []
    for place, pooled in zip(places, pool(kinds, *np.moveaxis(logs, 2, 0)), strict=True):
        case, runner = cases[place[0]], place[1]
        answers = [survey.answers.get(place, ABSENT) for survey in surveys]
        about = (case.id, case.scenario, case.title, case.group, case.axes, runner)
        rows.append(Row(*about, *judge(answers, names), answers, pooled))
    return rows


def headline(rows: Sequence[Row], groups: Sequence[str], reference: str) -> list[Statement]:
    """What holds, what depends on the machine, what is open."""
    statements: list[Statement] = [
        Holding(reference, len(rows), dict(Counter(row.word for row in rows))),
        *(agreed for group in groups if (agreed := _agreed(rows, group)).sides),
    ]
    apart = [(row.runner, row.case) for row in rows if row.word == "depends on the machine"]
    return [*statements, Contradicted(apart)] if apart else statements


def _agreed(rows: Sequence[Row], group: str) -> Agreed:
    """In how many cases of a group each runner is faster, slower or equivalent on most machines."""
    mine = [row for row in rows if row.group == group]
    sides: dict[str, dict[Side, int]] = {}
    for row in mine:
        if row.verdict is not None and row.word in ("holds on all", "holds on most"):
            counts = sides.setdefault(row.runner, {})
            counts[row.verdict.side] = counts.get(row.verdict.side, 0) + 1
    return Agreed(group, len({row.case for row in mine}), sides)
