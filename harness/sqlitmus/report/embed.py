"""The numbers behind the page, as compact columns for its script: no key is repeated per cell or
pair.

Ratios are natural logarithms in units of 1e-6, so that the pair B/A is the negative of A/B; pairs
stand where `model.Comparisons` has them.
Samples are integers that times 10^e give nanoseconds; positions are differences from the one
before.
"""

from math import floor, log10
from typing import Any

from sqlitmus.report import charts, columns
from sqlitmus.report.model import (
    OPPOSITE,
    Case,
    Cell,
    Comparisons,
    Interval,
    Measure,
    Report,
    Verdict,
)
from sqlitmus.report.words import ABSENT, LEVELS, OUTCOMES, VERDICTS

SAMPLE_DIGITS = 5
DRIFT_FLOOR = 0.02
DRIFT_CEILING = 0.5
NO_PAIR = " "
CODES: dict[Verdict | None, str] = {None: NO_PAIR, **{v: w.code for v, w in VERDICTS.items()}}


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
            word.code: [verdict, word.symbol, word.side, VERDICTS[OPPOSITE[verdict]].code]
            for verdict, word in VERDICTS.items()
        },
        "outcomes": {word.code: word.label for word in (*OUTCOMES.values(), ABSENT)},
        "levels": LEVELS,
        "steps": charts.RATIO_STEPS,
        "glyph": [charts.GLYPH_WIDTH, charts.GLYPH_PAD, charts.GLYPH_RATIO],
        "summary": [charts.SUMMARY_WIDTH, charts.FOREST_PAD, charts.LABEL_GAP],
        "forest": [charts.FOREST_WIDTH, charts.FOREST_PAD, charts.LABEL_GAP],
        "standings": standings(report, index),
        "cases": [case_data(case, index) for case in report.cases],
    }


def standings(report: Report, index: dict[str, int]) -> list[list[Any]]:
    """Rows of [group, runner, reference, log ratio, log low, log high, cases, counts…]."""
    groups = {name: place for place, name in enumerate(report.groups)}
    return [
        [
            groups[s.group],
            index[s.runner],
            index[s.reference],
            *log_interval(s.ratio),
            s.cases,
            s.faster,
            s.slower,
            s.equivalent,
            s.unresolved,
            s.not_ok,
        ]
        for s in report.standings
        if s.group in groups and s.runner in index and s.reference in index
    ]


def case_data(case: Case, index: dict[str, int]) -> dict[str, Any]:
    """One case's columns, in runner order."""
    cells: list[Cell | None] = [None] * len(index)
    for cell in case.cells:
        if cell.runner in index:
            cells[index[cell.runner]] = cell
    kept = [cell if cell and cell.outcome == "ok" else None for cell in cells]
    axis = charts.sample_axis(cell.samples for cell in kept if cell)
    exponents = [sample_exponent(cell) for cell in kept]
    data: dict[str, Any] = {
        "id": case.id,
        "scenario": case.scenario,
        "title": case.title,
        "group": case.group,
        "bound": case.bound_by,
        "axes": case.axes,
        "metric": case.metric,
        "unit": case.unit,
        "outcomes": "".join(OUTCOMES[c.outcome].code if c else ABSENT.code for c in cells),
        "time": intervals([cell.time if cell else None for cell in kept]),
        "overhead": intervals([cell.overhead if cell else None for cell in kept]),
        "cold": values([cell.cold if cell else None for cell in kept]),
        "cpu": values([cell.cpu if cell else None for cell in kept]),
        "memory": values([cell.memory if cell else None for cell in kept]),
        "exponents": exponents,
        "samples": [
            columns.scaled(cell.samples, exponent) if cell else []
            for cell, exponent in zip(kept, exponents, strict=True)
        ],
        "positions": [columns.differences(cell.positions) if cell else [] for cell in kept],
        "drift": drift_range(kept),
    }
    if axis:
        data["axis"] = [*columns.short(axis[:2]), columns.short(axis[2])]
    data.update(pair_columns(case.comparisons, index))
    return data


def pair_columns(pairs: Comparisons, index: dict[str, int]) -> dict[str, Any]:
    """Columns over unordered pairs, in the order of the report's runners."""
    if list(index) != pairs.runners:
        raise ValueError("a case compares other runners than the report has")
    same = set(pairs.blocks) - {0}
    return {
        "pairs": [columns.logs(c) for c in (pairs.ratio, pairs.low, pairs.high)],
        "verdicts": "".join(CODES[verdict] for verdict in pairs.verdict),
        "blocks": same.pop() if len(same) == 1 else pairs.blocks,
        "needs": {at: number for at, number in enumerate(pairs.needs_blocks) if number},
        "cross": {
            at: columns.logs([pairs.median[at], pairs.median_low[at], pairs.median_high[at]])
            for at, disagrees in enumerate(pairs.disagrees)
            if disagrees
        },
        "next": [columns.logs(c) for c in (pairs.next_low, pairs.next_high)]
        if any(pairs.next_low)
        else None,
    }


def log_interval(interval: Interval | None) -> columns.Integers:
    """The logarithms of a ratio and its bounds in units of 1e-6."""
    if interval is None:
        return [None, None, None]
    return columns.logs([interval.value, interval.low, interval.high])


def values(measures: list[Measure | None]) -> columns.Numbers:
    """Secondary figures without their comparisons, which hold for the report's reference only."""
    return columns.short([measure.value if measure else None for measure in measures])


def intervals(found: list[Interval | None]) -> list[columns.Numbers]:
    """Columns value, low, high."""
    return [
        columns.short([one.value if one else None for one in found]),
        columns.short([one.low if one else None for one in found]),
        columns.short([one.high if one else None for one in found]),
    ]


def sample_exponent(cell: Cell | None) -> int:
    """The power of ten that leaves five digits before the point of a cell's estimate."""
    if cell is None or cell.time is None or cell.time.value <= 0:
        return 0
    return floor(log10(cell.time.value)) - SAMPLE_DIGITS + 1


def drift_range(cells: list[Cell | None]) -> float:
    """Half-height of the drift strips: the largest relative deviation of a sample, within 2 % and
    50 %."""
    widest = DRIFT_FLOOR
    for cell in cells:
        if cell is None or cell.time is None or cell.time.value <= 0:
            continue
        known = [value for value in cell.samples if value]
        if known:
            widest = max(widest, max(known) / cell.time.value - 1, 1 - min(known) / cell.time.value)
    return round(min(widest, DRIFT_CEILING), 4)
