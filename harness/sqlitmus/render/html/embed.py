"""The numbers behind the page, as compact columns for its script: no key is repeated per cell or
pair.

Ratios are natural logarithms in units of 1e-6, so that the pair B/A is the negative of A/B; pairs
stand where `results.report.Comparisons` has them.
Samples are integers that times 10^e give nanoseconds; positions are differences from the one
before.
"""

from collections.abc import Sequence
from math import isfinite, log
from typing import Any

from sqlitmus.render.document.symbols import ABSENT, LEVELS, OUTCOMES, worded
from sqlitmus.render.html import charts, samples
from sqlitmus.render.html.summary import COUNTS
from sqlitmus.render.html.weights import weighing_data
from sqlitmus.results.comparisons import Comparisons
from sqlitmus.results.report import Case, Cell, Interval, Report
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.verdicts import Verdict

LOG_UNIT = 1e6
NO_PAIR = " "
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
        "figures": [
            [of.name, of.column, of.unit, of.title, {v.letter: of.said(v) for v in Verdict}]
            for of in figures.FIGURES
        ],
        "verdicts": {
            verdict.letter: [
                worded(verdict, report),
                verdict.symbol,
                verdict.style,
                verdict.opposite.letter,
            ]
            for verdict in Verdict
        },
        "outcomes": {word.code: word.label for word in (*OUTCOMES.values(), ABSENT)},
        "levels": LEVELS,
        "steps": charts.RATIO_STEPS,
        "glyph": [charts.GLYPH_WIDTH, charts.GLYPH_PAD, charts.GLYPH_RATIO],
        "summary": [charts.SUMMARY_WIDTH, charts.FOREST_PAD, charts.LABEL_GAP],
        "forest": [charts.FOREST_WIDTH, charts.FOREST_PAD, charts.LABEL_GAP],
        "counts": COUNTS,
        "standings": standings(report, index),
        "cases": [case_data(case, index) for case in report.cases],
        "weighing": weighing_data(report, index),
    }


def standings(report: Report, index: dict[str, int]) -> list[list[Any]]:
    """Rows of [group, runner, reference, log ratio, log low, log high, cases, verdict, counts…]."""
    groups = {name: place for place, name in enumerate(report.groups)}
    return [
        [
            groups[s.group],
            index[s.runner],
            index[s.reference],
            *map(logarithm, ends(s.ratio)),
            s.cases,
            s.verdict and s.verdict.letter,
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
    by_name = {cell.runner: cell for cell in case.cells}
    cells = [by_name.get(name) for name in index]
    timed = [cell if cell and cell.outcome == "ok" else None for cell in cells]
    return {
        "id": case.id,
        "scenario": case.scenario,
        "title": case.title,
        "group": case.group,
        "bound": case.bound_by,
        "axes": case.axes,
        "metric": case.metric,
        "unit": case.unit,
        "outcomes": "".join(OUTCOMES[c.outcome].code if c else ABSENT.code for c in cells),
        "time": intervals([cell and cell.time for cell in timed]),
        "overhead": intervals([cell and cell.overhead for cell in timed]),
        "figures": {
            figure.name: [
                samples.short(measure.value)
                if cell and (measure := cell.figures.get(figure.name))
                else None
                for cell in timed
            ]
            for figure in case.measured
        },
        "judged": judged_figures(case, timed),
        **samples.columns(timed),
        **pair_columns(case.comparisons, index),
    }


def judged_figures(case: Case, cells: Sequence[Cell | None]) -> dict[str, list[Any]]:
    """Of each figure that is judged: log ratios to the report's reference, and the letters of the
    verdicts."""
    judged: dict[str, list[Any]] = {}
    for figure in case.measured:
        column = [cell and cell.figures.get(figure.name) for cell in cells]
        letters = "".join(CODES[measure.verdict if measure else None] for measure in column)
        if letters.strip():
            ratios = [measure and measure.ratio and measure.ratio.value for measure in column]
            judged[figure.name] = [*logarithms(ratios), letters]
    return judged


def pair_columns(pairs: Comparisons, index: dict[str, int]) -> dict[str, Any]:
    """Columns over unordered pairs, in the order of the report's runners."""
    if list(index) != pairs.runners:
        raise ValueError("a case compares other runners than the report has")
    crossed = [place for place, disagrees in enumerate(pairs.disagrees) if disagrees]
    return {
        "pairs": logarithms(pairs.ratio, pairs.low, pairs.high),
        "verdicts": "".join(CODES[verdict] for verdict in pairs.verdict),
        "blocks": alike(pairs.blocks),
        "needs": {place: needs for place, needs in enumerate(pairs.needs_blocks) if needs},
        "cross": {
            place: [
                logarithm(column[place])
                for column in (pairs.median, pairs.median_low, pairs.median_high)
            ]
            for place in crossed
        },
        "far": [place for place, marked in enumerate(pairs.far) if marked],
        "next": logarithms(pairs.next_low, pairs.next_high) if any(pairs.next_low) else None,
    }


def alike(blocks: list[int]) -> int | list[int]:
    """One number where all pairs that have blocks have the same."""
    same = set(blocks) - {0}
    return same.pop() if len(same) == 1 else blocks


def intervals(values: Sequence[Interval | None]) -> list[list[float | int | None]]:
    """The columns value, low, high."""
    return [
        [samples.short(end) for end in column] for column in zip(*map(ends, values), strict=True)
    ]


def ends(interval: Interval | None) -> tuple[float | None, float | None, float | None]:
    """Value, low and high end."""
    return (interval.value, interval.low, interval.high) if interval else (None, None, None)


def logarithms(*columns: Sequence[float | None]) -> list[list[int | None]]:
    """Columns of ratios as logarithms."""
    return [[logarithm(ratio) for ratio in column] for column in columns]


def logarithm(ratio: float | None) -> int | None:
    """In units of 1e-6; None for what has no finite one."""
    if ratio is None or not (ratio > 0 and isfinite(ratio)):
        return None
    return round(log(ratio) * LOG_UNIT)
