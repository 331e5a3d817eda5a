"""The numbers behind the page, as compact columns for its script: no key is repeated per cell or
pair.

Ratios are natural logarithms in units of 1e-6, so that the pair B/A is the negative of A/B; pairs
stand where `model.Comparisons` has them.
Samples are integers that times 10^e give nanoseconds; positions are differences from the one
before.
"""

from collections.abc import Sequence
from itertools import chain
from math import floor, log10
from typing import Any, TypeVar

import numpy as np

from sqlitmus.render.document.symbols import ABSENT, LEVELS, OUTCOMES
from sqlitmus.render.html import charts, columns
from sqlitmus.results.report import Case, Cell, Comparisons, Interval, Measure, Report
from sqlitmus.vocabulary.verdicts import Verdict

SAMPLE_DIGITS = 5
# Half-heights of the drift strips, which hold a case's largest relative deviation of a sample.
DRIFT_FLOOR = 0.02
DRIFT_CEILING = 0.5
NO_PAIR = " "
T = TypeVar("T")
CODES: dict[Verdict | None, str] = {
    None: NO_PAIR,
    **{verdict: verdict.letter for verdict in Verdict},
}


def page_data(report: Report) -> dict[str, Any]:
    """Everything the page's script may show, ready for JSON."""
    names = [runner.name for runner in report.runners]
    index = {name: place for place, name in enumerate(names)}
    return {
        "kind": report.kind,
        "run": report.run,
        "title": report.title,
        "reference": index.get(report.reference, -1),
        "floor": index.get(report.floor, -1) if report.floor else -1,
        "margin": report.margin,
        "groups": report.groups,
        "runners": [[r.name, r.title, r.runtime, r.driver, r.role] for r in report.runners],
        "verdicts": {
            verdict.letter: [verdict, verdict.symbol, verdict.style, verdict.opposite.letter]
            for verdict in Verdict
        },
        "outcomes": {word.code: word.label for word in (*OUTCOMES.values(), ABSENT)},
        "levels": LEVELS,
        "steps": charts.RATIO_STEPS,
        "glyph": [charts.GLYPH_WIDTH, charts.GLYPH_PAD, charts.GLYPH_RATIO],
        "summary": [charts.SUMMARY_WIDTH, charts.FOREST_PAD, charts.LABEL_GAP],
        "forest": [charts.FOREST_WIDTH, charts.FOREST_PAD, charts.LABEL_GAP],
        "standings": standings(report, index),
        "cases": cases_data(report.cases, index),
    }


def standings(report: Report, index: dict[str, int]) -> list[list[Any]]:
    """Rows of [group, runner, reference, log ratio, log low, log high, cases, counts…]."""
    groups = {name: place for place, name in enumerate(report.groups)}
    kept = [
        s
        for s in report.standings
        if s.group in groups and s.runner in index and s.reference in index
    ]
    ratios = zip(*(columns.logs(c) for c in triple([s.ratio for s in kept])), strict=True)
    return [
        [
            groups[s.group],
            index[s.runner],
            index[s.reference],
            *ratio,
            s.cases,
            s.faster,
            s.slower,
            s.equivalent,
            s.unresolved,
            s.not_ok,
        ]
        for s, ratio in zip(kept, ratios, strict=True)
    ]


def cases_data(cases: Sequence[Case], index: dict[str, int]) -> list[dict[str, Any]]:
    """Each case's columns, in runner order."""
    if not cases:
        return []
    places = [in_order(case, index) for case in cases]
    kept = [cell if cell and cell.outcome == "ok" else None for row in places for cell in row]
    widths = [len(index)] * len(cases)
    varying = {
        "time": intervals([c and c.time for c in kept], widths),
        "overhead": intervals([c and c.overhead for c in kept], widths),
        "cold": values([c and c.cold for c in kept], widths),
        "cpu": values([c and c.cpu for c in kept], widths),
        "memory": values([c and c.memory for c in kept], widths),
        **drift_columns(kept, widths),
        **pair_columns([case.comparisons for case in cases], index),
    }
    return [
        {
            "id": case.id,
            "scenario": case.scenario,
            "title": case.title,
            "group": case.group,
            "bound": case.bound_by,
            "axes": case.axes,
            "metric": case.metric,
            "unit": case.unit,
            "outcomes": "".join(OUTCOMES[c.outcome].code if c else ABSENT.code for c in row),
            **{name: column[number] for name, column in varying.items()},
        }
        for number, (case, row) in enumerate(zip(cases, places, strict=True))
    ]


def in_order(case: Case, index: dict[str, int]) -> list[Cell | None]:
    """A case's cells in the order of the report's runners."""
    cells: list[Cell | None] = [None] * len(index)
    for cell in case.cells:
        if cell.runner in index:
            cells[index[cell.runner]] = cell
    return cells


def drift_columns(kept: Sequence[Cell | None], widths: list[int]) -> dict[str, list[Any]]:
    """Samples and positions of each case, and the axes on which they are drawn."""
    exponents = [sample_exponent(cell) for cell in kept]
    samples = [cell.samples if cell else [] for cell in kept]
    positions = [cell.positions if cell else [] for cell in kept]
    lengths, places = list(map(len, samples)), list(map(len, positions))
    flat = list(chain.from_iterable(samples))
    low, high = columns.extremes(flat, lengths)
    time = columns.numbers([cell.time.value if cell and cell.time else None for cell in kept])
    time[~(time > 0)] = np.nan
    shape = len(widths), -1
    with np.errstate(invalid="ignore"):
        apart = np.where(high > 0, np.fmax(high / time - 1, 1 - low / time), np.nan).reshape(shape)
    widest = np.fmax.reduce(apart, axis=1, initial=DRIFT_FLOOR)
    least, most = low.reshape(shape).min(axis=1), high.reshape(shape).max(axis=1)
    return {
        "exponents": columns.parts(exponents, widths),
        "samples": columns.parts(
            columns.parts(columns.scaled(flat, np.repeat(exponents, lengths)), lengths), widths
        ),
        "positions": columns.parts(
            columns.parts(
                columns.differences(list(chain.from_iterable(positions)), places), places
            ),
            widths,
        ),
        "drift": np.minimum(widest, DRIFT_CEILING).round(4).tolist(),
        "axis": sample_axes(least.tolist(), most.tolist()),
    }


def sample_axes(least: list[float], most: list[float]) -> list[list[Any] | None]:
    """Per case [low, high, ticks] of the axis that holds its samples, None without any."""
    axes = [charts.sample_axis(*ends) for ends in zip(least, most, strict=True)]
    ends = [[low, high, *ticks] for low, high, ticks in filter(None, axes)]
    short = columns.short(list(chain.from_iterable(ends)))
    found = iter(columns.parts(short, list(map(len, ends))))
    return [[*(one := next(found))[:2], one[2:]] if axis else None for axis in axes]


def pair_columns(cases: Sequence[Comparisons], index: dict[str, int]) -> dict[str, list[Any]]:
    """Columns over unordered pairs, in the order of the report's runners."""
    if any(list(index) != pairs.runners for pairs in cases):
        raise ValueError("a case compares other runners than the report has")
    widths = [len(index) * (len(index) - 1) // 2] * len(cases)

    def logs(*names: str) -> list[list[columns.Integers]]:
        flat = ([v for pairs in cases for v in getattr(pairs, name)] for name in names)
        return by_case([columns.logs(column) for column in flat], widths)

    further = [any(pairs.next_low) for pairs in cases]
    return {
        "pairs": logs("ratio", "low", "high"),
        "verdicts": ["".join(CODES[verdict] for verdict in pairs.verdict) for pairs in cases],
        "blocks": [alike(pairs.blocks) for pairs in cases],
        "needs": [{at: n for at, n in enumerate(pairs.needs_blocks) if n} for pairs in cases],
        "cross": crossed(cases),
        "next": [
            ends if there else None
            for ends, there in zip(logs("next_low", "next_high"), further, strict=True)
        ]
        if any(further)
        else [None] * len(cases),
    }


def crossed(cases: Sequence[Comparisons]) -> list[dict[int, columns.Integers]]:
    """Per case the medians that say otherwise than the mean, by place."""
    where = [
        (n, at) for n, pairs in enumerate(cases) for at, no in enumerate(pairs.disagrees) if no
    ]
    ends = (
        columns.logs([cases[n].median[at] for n, at in where]),
        columns.logs([cases[n].median_low[at] for n, at in where]),
        columns.logs([cases[n].median_high[at] for n, at in where]),
    )
    found: list[dict[int, columns.Integers]] = [{} for _ in cases]
    for (n, at), median in zip(where, zip(*ends, strict=True), strict=True):
        found[n][at] = list(median)
    return found


def alike(blocks: list[int]) -> int | list[int]:
    """One number where all pairs that have blocks have the same."""
    same = set(blocks) - {0}
    return same.pop() if len(same) == 1 else blocks


def intervals(found: Sequence[Interval | None], widths: list[int]) -> list[list[columns.Numbers]]:
    """Per case the columns value, low, high."""
    return by_case([columns.short(column) for column in triple(found)], widths)


def values(measures: Sequence[Measure | None], widths: list[int]) -> list[columns.Numbers]:
    """Secondary figures without their comparisons, which hold for the report's reference only."""
    return columns.parts(columns.short([one.value if one else None for one in measures]), widths)


def triple(found: Sequence[Interval | None]) -> tuple[list[float | None], ...]:
    """Values, low and high ends."""
    return (
        [one.value if one else None for one in found],
        [one.low if one else None for one in found],
        [one.high if one else None for one in found],
    )


def by_case(whole: list[list[T]], widths: list[int]) -> list[list[list[T]]]:
    """Columns of a page as columns of each of its cases."""
    return [list(own) for own in zip(*(columns.parts(c, widths) for c in whole), strict=True)]


def sample_exponent(cell: Cell | None) -> int:
    """The power of ten that leaves five digits before the point of a cell's estimate."""
    if cell is None or cell.time is None or cell.time.value <= 0:
        return 0
    return floor(log10(cell.time.value)) - SAMPLE_DIGITS + 1
