"""Surveys of machines become the merged report: what holds on which of them. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sqlitmus.analysis.cells import ratios
from sqlitmus.machines.merge import Merged
from sqlitmus.machines.survey import Survey
from sqlitmus.results.machines import VERSION, Answer, MergedReport, Pooled, Row
from sqlitmus.results.report import Agreed, Case, Contradicted, Holding, Statement
from sqlitmus.stats.estimate import Array, combine
from sqlitmus.stats.verdict import ALPHA
from sqlitmus.vocabulary.text import counted
from sqlitmus.vocabulary.verdicts import CONTROLS, HoldsWord, Side, Verdict

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
