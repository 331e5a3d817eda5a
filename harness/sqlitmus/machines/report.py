"""Surveys of machines → the merged report. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from sqlitmus.machines import manifest as merging
from sqlitmus.machines.holds import judge, pool
from sqlitmus.machines.load import Place
from sqlitmus.machines.survey import About, Estimate, Survey
from sqlitmus.results import machines as mergedmodel
from sqlitmus.results.headline import Agreed, Contradicted, Holding, Statement
from sqlitmus.results.machines import VERSION, Answer, MergedReport, Pooled, Row
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.verdicts import Side

ABSENT = Answer(said="not planned")
_CONTROLS = "controls"
T = TypeVar("T")


def merged_report(
    merged: merging.Merged, surveys: Sequence[Survey[T]], reference: str
) -> MergedReport:
    """All that the machines say of each comparison with `reference`, by case and runner."""
    readable = [survey for survey in surveys if survey.machine is not None]
    machines = [survey.machine for survey in readable if survey.machine is not None]
    cases: dict[str, About] = {}
    for survey in readable:
        for name, about in survey.cases.items():
            cases.setdefault(name, about)
    groups = list(dict.fromkeys(about.group for about in cases.values()))
    places = _places(readable, cases)
    rows = _rows(places, cases, readable, [machine.name for machine in machines])
    refused = [mergedmodel.Refused(run.path, run.reason) for run in merged.refused]
    refused += [run for survey in surveys for run in survey.refused]
    return MergedReport(
        version=VERSION,
        title=f"SQLite across runtimes on {counted(len(machines), 'machine')}",
        run=merged.run,
        created=merged.created,
        sqlitmus_version=merged.sqlitmus,
        reference=reference,
        headline=headline([row for row in rows if _choosable(row, readable)], groups, reference),
        machines=machines,
        refused=refused,
        expected=merged.expected,
        groups=groups,
        rows=rows,
    )


def _places(surveys: Sequence[Survey[T]], cases: dict[str, About]) -> list[Place]:
    """Every pair that any machine was asked, by case, in the order in which they first occur."""
    by_case: dict[str, dict[str, None]] = {name: {} for name in cases}
    for survey in surveys:
        for case, runner in survey.answers:
            by_case[case][runner] = None
    return [(case, runner) for case, runners in by_case.items() for runner in runners]


def _rows(
    places: list[Place], cases: dict[str, About], surveys: Sequence[Survey[T]], names: list[str]
) -> list[Row]:
    kinds = [survey.machine.kind for survey in surveys if survey.machine is not None]
    pooled = _pooled(places, [survey.estimates for survey in surveys], kinds)
    rows: list[Row] = []
    for place, means in zip(places, pooled, strict=True):
        case, runner = place
        about = cases[case]
        answers = [survey.answers.get(place, ABSENT) for survey in surveys]
        judged = judge(answers, names)
        rows.append(
            Row(
                case,
                about.scenario,
                about.title,
                about.group,
                about.axes,
                runner,
                judged.word,
                judged.verdict,
                judged.text,
                judged.beside,
                answers,
                means,
            )
        )
    return rows


def _pooled(
    places: list[Place], estimates: list[dict[Place, Estimate]], kinds: list[str]
) -> list[list[Pooled]]:
    if not places:
        return []
    none = (np.nan, np.nan, 0.0)
    values = np.array(
        [
            [
                (e.mean, e.error, e.freedom) if (e := by_place.get(place)) else none
                for by_place in estimates
            ]
            for place in places
        ],
        dtype=np.float64,
    )
    return pool(kinds, values[..., 0], values[..., 1], values[..., 2])


def _choosable(row: Row, surveys: Sequence[Survey[T]]) -> bool:
    """Whether a row is of use to choose a runtime by: neither a control nor a yardstick."""
    return row.group != _CONTROLS and any(row.runner in survey.choices for survey in surveys)


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
