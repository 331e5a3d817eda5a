"""The cases as the matrix and their own sections show them: every text formatted, every coordinate
known."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlitmus.render.document import durability
from sqlitmus.render.document import symbols as words
from sqlitmus.render.document.naming import varying_axes
from sqlitmus.render.html import charts
from sqlitmus.render.html.assets import sentence
from sqlitmus.render.html.entries import Entry, Pair, entry, iterated
from sqlitmus.render.html.look import Look, looks
from sqlitmus.results.comparisons import Comparison
from sqlitmus.results.report import Case, Cell, Report, Runner
from sqlitmus.vocabulary.figure import Figure
from sqlitmus.vocabulary.figures import FIGURES
from sqlitmus.vocabulary.nouns import by_value
from sqlitmus.vocabulary.queryplans import modern
from sqlitmus.vocabulary.verdicts import Verdict

# With more cells the body of a case becomes elements when it is opened: a browser takes seconds for
# all of them.
RESERVED = 1_000


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


@dataclass(frozen=True, slots=True)
class CasesView:
    """All cases, and what the reader may choose of them.

    `runners` are with their look and whether any cell was timed; `figures` those that a cell has,
    by name and title. The body of a case is `reserved` until it is opened where the page is long.
    """

    report: Report
    runners: list[tuple[Runner, Look, bool]]
    figures: list[tuple[str, str]]
    profiles: list[str]
    groups: list[GroupView]
    reserved: bool


def cases_view(report: Report, runners: Sequence[Runner]) -> CasesView:
    """The cases of a report with its `runners`."""
    style = looks(runners)
    timed = {c.runner for case in report.cases for c in case.cells if c.outcome == "ok"}
    measured = {name for case in report.cases for cell in case.cells for name in cell.figures}
    return CasesView(
        report,
        [(runner, style[runner.name], runner.name in timed) for runner in runners],
        [(figure.name, figure.title) for figure in FIGURES if figure.name in measured],
        sorted({c.axes["profile"] for c in report.cases if "profile" in c.axes}),
        group_views(report),
        sum(len(case.cells) for case in report.cases) > RESERVED,
    )


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
