"""Surveys of machines → the merged report. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from sqlitmus.analysis.phrases import listed, some
from sqlitmus.machines import manifest as merging
from sqlitmus.machines.holds import judge, pool
from sqlitmus.machines.load import Place
from sqlitmus.machines.survey import About, Estimate, Survey
from sqlitmus.results import machines as mergedmodel
from sqlitmus.results.machines import VERSION, Answer, MergedReport, Pooled, Row
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.terms import HoldsWord

ABSENT = Answer(said="not planned")
_CONTROLS = "controls"
_ORDER = ("faster", "slower", "equivalent")
# Of one comparison and of several.
_SAID: dict[HoldsWord, tuple[str, str]] = {
    "holds on all": ("holds", "hold on every machine that has an answer"),
    "holds on most": ("holds", "hold on more than half of the machines"),
    "depends on the machine": ("depends", "depend on the machine"),
    "on one machine only": ("is", "are decided by one machine only"),
    "not resolved": ("is", "are not resolved"),
    "no answer": ("has", "have no answer"),
}
T = TypeVar("T")


def merged_report(
    merged: merging.Merged, surveys: Sequence[Survey[T]], reference: str
) -> MergedReport:
    """All that the machines say of each comparison with `reference`, by case and runner."""
    there = [one for one in surveys if one.machine is not None]
    machines = [one.machine for one in there if one.machine is not None]
    cases: dict[str, About] = {}
    for one in there:
        for name, about in one.cases.items():
            cases.setdefault(name, about)
    groups = list(dict.fromkeys(about.group for about in cases.values()))
    places = _places(there, cases)
    rows = _rows(places, cases, there, [machine.name for machine in machines])
    refused = [mergedmodel.Refused(one.path, one.reason) for one in merged.refused]
    refused += [one for survey in surveys for one in survey.refused]
    return MergedReport(
        version=VERSION,
        title=f"SQLite across runtimes on {counted(len(machines), 'machine')}",
        run=merged.run,
        created=merged.created,
        sqlitmus_version=merged.sqlitmus,
        reference=reference,
        headline=headline([row for row in rows if _choosable(row, there)], groups, reference),
        machines=machines,
        refused=refused,
        expected=merged.expected,
        groups=groups,
        rows=rows,
    )


def _places(surveys: Sequence[Survey[T]], cases: dict[str, About]) -> list[Place]:
    """Every pair that any machine was asked, by case, in the order in which they first occur."""
    by_case: dict[str, dict[str, None]] = {name: {} for name in cases}
    for one in surveys:
        for case, runner in one.answers:
            by_case[case][runner] = None
    return [(case, runner) for case, runners in by_case.items() for runner in runners]


def _rows(
    places: list[Place], cases: dict[str, About], surveys: Sequence[Survey[T]], names: list[str]
) -> list[Row]:
    kinds = [one.machine.kind for one in surveys if one.machine is not None]
    pooled = _pooled(places, [one.estimates for one in surveys], kinds)
    rows: list[Row] = []
    for place, means in zip(places, pooled, strict=True):
        case, runner = place
        about = cases[case]
        answers = [one.answers.get(place, ABSENT) for one in surveys]
        found = judge(answers, names)
        rows.append(
            Row(
                case,
                about.scenario,
                about.title,
                about.group,
                about.axes,
                runner,
                found.word,
                found.verdict,
                found.text,
                found.beside,
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
            [(e.mean, e.error, e.freedom) if (e := one.get(place)) else none for one in estimates]
            for place in places
        ],
        dtype=np.float64,
    )
    return pool(kinds, values[..., 0], values[..., 1], values[..., 2])


def _choosable(row: Row, surveys: Sequence[Survey[T]]) -> bool:
    """Whether a row is of use to choose a runtime by: neither a control nor a yardstick."""
    return row.group != _CONTROLS and any(row.runner in one.choices for one in surveys)


def headline(rows: Sequence[Row], groups: Sequence[str], reference: str) -> list[str]:
    """What holds, what depends on the machine, what is open, as sentences."""
    if not rows:
        return ["There is no comparison that could hold or not."]
    words = Counter(row.word for row in rows)
    parts = [_counted(words[word], *said) for word, said in _SAID.items() if words[word]]
    lines = [f"Of {counted(len(rows), 'comparison')} with {reference}, {listed(parts)}."]
    lines += [line for group in groups for line in _group(rows, group)]
    apart = [f"{row.runner} in {row.case}" for row in rows if row.word == "depends on the machine"]
    return [*lines, f"It depends on the machine: {some(apart)}."] if apart else lines


def _counted(number: int, one: str, several: str) -> str:
    """`3 hold on …`, `1 holds on …`."""
    verb, _, rest = several.partition(" ")
    return f"{number} {one if number == 1 else verb} {rest}"


def _group(rows: Sequence[Row], group: str) -> list[str]:
    """In how many cases of a group each runner is faster, slower or equivalent on most machines."""
    mine = [row for row in rows if row.group == group]
    sides: dict[str, Counter[str]] = {}
    for row in mine:
        if row.verdict is not None and row.word in ("holds on all", "holds on most"):
            sides.setdefault(row.runner, Counter())[row.verdict.side] += 1
    parts = [
        f"{runner} is {listed([f'{s} in {found[s]}' for s in _ORDER if found[s]])}"
        for runner, found in sides.items()
    ]
    cases = counted(len({row.case for row in mine}), "case")
    if not parts:
        return []
    return [f"{group.capitalize()} ({cases}), on all or most machines: {'; '.join(parts)}."]
