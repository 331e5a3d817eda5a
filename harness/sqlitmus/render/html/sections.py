"""The page's other sections as the templates see them: summary, scaling, overhead, provenance."""

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document.naming import varying_axes
from sqlitmus.render.html import charts, fragments
from sqlitmus.render.html.look import looks
from sqlitmus.render.html.view import UNITY, safe, sentence
from sqlitmus.results.report import Case, Cell, Fact, Interval, Report, Scaling, Standing

BAR_WIDTH = 120
OVERHEAD_WIDTH = 80
COUNTS = ("faster", "slower", "equivalent", "unresolved", "not_ok")


@dataclass(frozen=True, slots=True)
class SummaryGroup:
    """A group's standings against the report's reference, smallest estimate first."""

    name: str
    title: str
    cases: int
    ticks: Markup
    rows: list[tuple[Any, ...]]


def summary(report: Report) -> list[SummaryGroup]:
    """Standings by group, as far as there are any for the report's reference."""
    found: list[SummaryGroup] = []
    for group in report.groups:
        mine = [s for s in report.standings if s.group == group and s.reference == report.reference]
        if not mine:
            continue
        known = [s.ratio for s in mine if s.ratio]
        axis = charts.ratio_axis(known, charts.SUMMARY_WIDTH, charts.FOREST_PAD)
        mine.append(Standing(report.reference, report.reference, group, UNITY, 0, 0, 0, 0, 0, 0))
        mine.sort(key=lambda s: s.ratio.value if s.ratio else float("inf"))
        cases = max(s.cases for s in mine)
        rows = [standing_row(s, axis) for s in mine]
        found.append(SummaryGroup(group, sentence(group), cases, safe(fragments.ticks(axis)), rows))
    return found


def standing_row(s: Standing, axis: charts.RatioAxis) -> tuple[Any, ...]:
    """(class, runner, ratio, forest, counts, the counts with signs, bar segments)."""
    frame = fragments.forest_frame(axis)
    counts = tuple(getattr(s, name) for name in COUNTS)
    bar = segments(counts)
    signs = " ".join(f"{n}{mark}" for n, mark in zip(counts, "▲▼≈?∅", strict=True) if n)
    if s.runner == s.reference:
        own = safe("<b>1×</b> <small>reference</small>")
        return ("base", s.runner, own, safe(fragments.forest(frame, axis, s.ratio)), None, "", [])
    if s.ratio is None:
        none = safe(fragments.pair((fragments.DASH, "not compared")))
        return ("un", s.runner, none, safe(fragments.forest(frame, axis, None)), counts, signs, bar)
    ratio = safe(fragments.pair(fmt.ratio(s.ratio)))
    drawn = safe(fragments.forest(frame, axis, s.ratio))
    return (side(s.ratio), s.runner, ratio, drawn, counts, signs, bar)


def side(ratio: Interval) -> str:
    """Which side of 1 the interval lies on: f, s, or un when it contains 1 or has no bounds."""
    if ratio.high is not None and ratio.high < 1:
        return "f"
    return "s" if ratio.low is not None and ratio.low > 1 else "un"


def segments(counts: tuple[int, ...]) -> list[tuple[str, float, float]]:
    """A stacked bar as (count name, x, width) in px."""
    total = sum(counts) or 1
    parts: list[tuple[str, float, float]] = []
    place = 0.0
    for name, count in zip(COUNTS, counts, strict=True):
        width = BAR_WIDTH * count / total
        if count:
            parts.append((name, round(place, 1), round(width, 1)))
        place += width
    return parts


@dataclass(frozen=True, slots=True)
class ScalingView:
    """One parallel scenario: its panels and the same numbers as a table."""

    scaling: Scaling
    axes: Markup
    panels: list[charts.Panel]
    workers: list[int]
    rows: list[tuple[str, list[tuple[str, str]]]]


def scaling(report: Report) -> list[ScalingView]:
    """Panels and tables of every parallel scenario that has points."""
    runtimes = {runner.name: runner.runtime for runner in report.runners}
    views: list[ScalingView] = []
    for item in report.scaling:
        panels = charts.scaling_panels(item, runtimes)
        if not panels:
            continue
        workers = sorted({point.workers for curve in item.curves for point in curve.points})
        rows: list[tuple[str, list[tuple[str, str]]]] = []
        for curve in item.curves:
            rates = {point.workers: fmt.rate(point.rate) for point in curve.points}
            rows.append((curve.runner, [rates.get(count, ("\u2013", "")) for count in workers]))
        views.append(
            ScalingView(item, safe(fragments.axes(item.axes.items())), panels, workers, rows)
        )
    return views


@dataclass(frozen=True, slots=True)
class OverheadRow:
    """One case: the floor's time and, per runner, the overhead with its bar."""

    index: int
    case: Case
    axes: Markup
    floor: str
    cells: Markup


def overhead(report: Report) -> tuple[list[str], list[tuple[str, list[OverheadRow]]]]:
    """Runners that have an overhead, and rows by group. Bars are scaled within their row."""
    have = {c.runner for case in report.cases for c in case.cells if c.overhead}
    runners = [r.name for r in report.runners if r.name in have and r.name != report.floor]
    varying = varying_axes(report.cases)
    style = looks(report.runners)
    groups: dict[str, list[OverheadRow]] = {}
    for index, case in enumerate(report.cases):
        cells = {cell.runner: cell for cell in case.cells}
        base = cells.get(report.floor or "")
        known = [cells[name].overhead for name in runners if name in cells]
        if base is None or base.time is None or not any(known):
            continue
        top = max(max(o.value, o.high or o.value) for o in known if o)
        axes = safe(
            fragments.axes((n, case.axes[n]) for n in varying[case.scenario] if n in case.axes)
        )
        row = [overhead_td(cells.get(name), top, style[name].hue) for name in runners]
        view = OverheadRow(index, case, axes, fmt.time(base.time)[0], safe("".join(row)))
        groups.setdefault(case.group, []).append(view)
    return runners, [(sentence(name), rows) for name, rows in groups.items()]


def overhead_td(cell: Cell | None, top: float, hue: str) -> str:
    """One bar; a negative overhead has no length but keeps its number."""
    if cell is None or cell.overhead is None:
        return f"<td>{fragments.DASH}"
    value, low, high = cell.overhead.value, cell.overhead.low, cell.overhead.high

    def place(number: float) -> float:
        return round(OVERHEAD_WIDTH * min(max(number / top, 0.0), 1.0), 1) if top > 0 else 0.0

    ends = (place(value), place(value if low is None else low), place(high or value))
    return fragments.overhead_td(hue, fmt.signed_time(cell.overhead), ends, cell.overhead_verdict)


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts of one kind: those that differ as (name, value per runner), the others as (name,
    value)."""

    title: str
    differing: list[tuple[str, list[str]]]
    same: list[tuple[str, str]]


def provenance(report: Report) -> tuple[list[str], list[FactGroup]]:
    """Runners that any fact speaks of, and the facts by group."""
    spoken = {name for fact in report.provenance for name in fact.values}
    runners = [runner.name for runner in report.runners if runner.name in spoken]
    groups: dict[str, list[Fact]] = {}
    for fact in report.provenance:
        groups.setdefault(fact.group, []).append(fact)
    views: list[FactGroup] = []
    for name, facts in groups.items():
        differing = [
            (fact.name, [fact.values.get(runner, "unknown") for runner in runners])
            for fact in facts
            if fact.differs
        ]
        same = [
            (fact.name, next(iter(fact.values.values()), "unknown"))
            for fact in facts
            if not fact.differs
        ]
        views.append(FactGroup(sentence(name), differing, same))
    return runners, views
