"""The suite page as its templates see it: every text formatted, every coordinate known."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlitmus.render.document import durability
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import symbols as words
from sqlitmus.render.document.cells import of_medians
from sqlitmus.render.document.naming import varying_axes
from sqlitmus.render.document.symbols import OutcomeWord
from sqlitmus.render.html import charts
from sqlitmus.render.html.assets import sentence
from sqlitmus.render.html.look import Look, looks
from sqlitmus.results.comparisons import Comparison
from sqlitmus.results.report import Case, Cell, Interval, Report, Runner
from sqlitmus.vocabulary.figure import Figure
from sqlitmus.vocabulary.nouns import by_value, counted
from sqlitmus.vocabulary.queryplans import modern
from sqlitmus.vocabulary.verdicts import Verdict

UNITY = Interval(1.0, None, None)
DASH = "\u2013"
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Judged:
    """A figure as text; `verdict` is None where it is compared with nothing."""

    name: str
    text: str
    verdict: Verdict | None = None
    ratio: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A runner in a case, against the report's reference.

    `words` say the verdict, or why there is no time; `glyph` and `mark` are where its interval
    lies in the matrix and on the axis of the case; `medians` is the ratio of the times shown where
    that is another one; `over` is what it takes over the floor.
    """

    runner: int
    name: str
    style: str
    words: str
    cell: Cell | None
    outcome: OutcomeWord | None = None
    time: Pair = ("", "")
    ratio: Pair = ("", "")
    comparison: Comparison | None = None
    medians: str = ""
    glyph: charts.Mark | None = None
    mark: charts.Mark | None = None
    figures: tuple[Judged, ...] = ()
    over: Judged | None = None


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case in the matrix and in its own section; `axes` are those that vary within its
    scenario, `columns` the figures that its entries have, `work` what its processes did and `syncs`
    what their transactions made durable."""

    index: int
    case: Case
    axes: list[Pair]
    tally: str
    axis: charts.RatioAxis
    columns: list[Figure]
    entries: list[Entry]
    work: str
    syncs: str
    plans: list[tuple[str, list[str]]]
    evidence: list[tuple[str, str, str, str]]
    canary: str
    unsteady: list[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group of cases, in report order."""

    name: str
    title: str
    cases: list[CaseView]


def runner_views(report: Report) -> list[tuple[Runner, Look, bool]]:
    """Each runner with its look and whether it has any timed cell."""
    style = looks(report.runners)
    timed = {c.runner for case in report.cases for c in case.cells if c.outcome == "ok"}
    return [(runner, style[runner.name], runner.name in timed) for runner in report.runners]


def group_views(report: Report) -> list[GroupView]:
    """All cases by group: the report's groups first, then any that it does not name."""
    varying = varying_axes(report.cases)
    members: dict[str, list[CaseView]] = {group: [] for group in report.groups}
    for index, case in enumerate(report.cases):
        view = case_view(index, case, report, varying[case.scenario])
        members.setdefault(case.group, []).append(view)
    return [GroupView(name, sentence(name), cases) for name, cases in members.items() if cases]


def case_view(index: int, case: Case, report: Report, varying: list[str]) -> CaseView:
    """One case against the report's reference."""
    cells = {cell.runner: cell for cell in case.cells}
    against = case.comparisons.against(report.reference)
    axis = charts.ratio_axis(
        [c.ratio for c in against.values()], charts.FOREST_WIDTH, charts.FOREST_PAD
    )
    columns = case.measured
    entries = [
        entry(
            place,
            runner.name,
            cells.get(runner.name),
            cells.get(report.reference),
            against.get(runner.name),
            axis,
            columns,
            report,
        )
        for place, runner in enumerate(report.runners)
    ]
    return CaseView(
        index,
        case,
        [(name, case.axes[name]) for name in varying if name in case.axes],
        tally(list(against.values())),
        axis,
        columns,
        entries,
        work(case),
        durability.in_words(case),
        plan_groups(case.cells),
        [
            (cell.runner, words.OUTCOMES[cell.outcome].label, cell.reason or "", cell.log or "")
            for cell in case.cells
            if cell.outcome in {"wrong", "failed"}
        ],
        words.phrase(case.canary) if case.canary else "",
        [
            (cell.runner, cell.steadiness, words.STEADINESS[cell.steadiness].meaning)
            for cell in case.cells
            if cell.steadiness and words.STEADINESS[cell.steadiness].bad
        ],
    )


def entry(
    place: int,
    name: str,
    cell: Cell | None,
    base: Cell | None,
    compared: Comparison | None,
    axis: charts.RatioAxis,
    columns: Sequence[Figure],
    report: Report,
) -> Entry:
    """One runner in one case, whose figures are those `columns`."""
    if cell is None or cell.outcome != "ok" or cell.time is None:
        outcome = words.OUTCOMES[cell.outcome] if cell else words.ABSENT
        reason = (cell.reason if cell else None) or outcome.meaning
        return Entry(place, name, f"na x-{outcome.code}", reason, cell, outcome)
    time = fmt.time(cell.time)
    beside = tuple(judged(figure, cell) for figure in columns)
    over = over_floor(cell) if report.floor else None
    if compared is None:
        is_base = name == report.reference
        style, text = ("base", "reference") if is_base else ("un", "not compared")
        mark = axis.mark(UNITY) if is_base else None
        return Entry(
            place, name, style, text, cell, time=time, mark=mark, figures=beside, over=over
        )
    medians = of_medians(cell, base, compared.ratio)
    return Entry(
        place,
        name,
        words.shade(compared.verdict, compared.ratio.value),
        words.worded(compared.verdict, report),
        cell,
        time=time,
        ratio=fmt.ratio(compared.ratio),
        comparison=compared,
        medians=fmt.ratio(medians)[0] if medians else "",
        glyph=charts.GLYPH.mark(compared.ratio),
        mark=axis.mark(compared.ratio),
        figures=beside,
        over=over,
    )


def judged(figure: Figure, cell: Cell) -> Judged:
    """A secondary figure with its ratio to the report's reference and the verdict on that."""
    measure = cell.figures.get(figure.name)
    if measure is None:
        return Judged(figure.name, "unknown")
    text = fmt.figure(measure.value, figure.unit)
    if measure.ratio is None or measure.verdict is None:
        return Judged(figure.name, text)
    ratio, bounds = fmt.ratio(measure.ratio)
    return Judged(
        figure.name, text, measure.verdict, ratio, f"{figure.said(measure.verdict)} {bounds}"
    )


def work(case: Case) -> str:
    """What the processes of a steady case did besides the work, where they were told: `5
    iterations after a warm-up of 100 ms: node; …`."""
    cells = [cell for cell in case.cells if cell.outcome == "ok" and cell.iterations]
    if case.metric == "cold" or not cells:
        return ""
    operations = {cell.operations for cell in cells}
    texts = {cell.runner: iterated(cell, operations=len(operations) > 1) for cell in cells}
    if len(set(texts.values())) == 1:
        return f"Each process: {texts[cells[0].runner]}."
    return f"Each process: {by_value(texts)}."


def iterated(cell: Cell, *, operations: bool) -> str:
    """`5 iterations after a warm-up of 100 ms`, with the `operations` of one if asked."""
    text = counted(cell.iterations, "iteration")
    if operations:
        text += f" of {counted(cell.operations, 'operation')}"
    if cell.warmup_ms:
        return f"{text} after a warm-up of {cell.warmup_ms:g} ms"
    if cell.warmup_iterations:
        return f"{text} after {cell.warmup_iterations} of warm-up"
    return f"{text} without warm-up"


def over_floor(cell: Cell) -> Judged:
    """Time over the floor, and whether that is a difference."""
    if cell.overhead is None:
        return Judged("over", DASH)
    text, bounds = fmt.signed_time(cell.overhead)
    verdict = cell.overhead_verdict
    words = bounds if verdict is None else f"{bounds} against the floor: {verdict}"
    return Judged("over", text, verdict, words=words)


def tally(comparisons: list[Comparison]) -> str:
    """ "4 faster, 2 slower, 1 equivalent, 3 not resolved": only the kinds that occur."""
    counts = Counter(
        c.verdict if c.verdict.side == "undecided" else c.verdict.side for c in comparisons
    )
    order = ("faster", "slower", "equivalent", Verdict.NOT_RESOLVED, Verdict.NOT_TESTABLE)
    return ", ".join(f"{counts[kind]} {kind}" for kind in order if kind in counts)


def plan_groups(cells: list[Cell]) -> list[tuple[str, list[str]]]:
    """Query plans with the runners that share each, most common first."""
    groups: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for cell in cells:
        if cell.plans:
            plans = tuple(tuple(map(modern, plan)) for plan in cell.plans)
            groups.setdefault(plans, []).append(cell.runner)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return [
        (", ".join(names), [line for plan in plans for line in plan]) for plans, names in ordered
    ]
