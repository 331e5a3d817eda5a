"""The page as the templates see it: every text formatted, every coordinate known, nothing left to
compute."""

from collections import Counter
from dataclasses import dataclass

from markupsafe import Markup

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import symbols as words
from sqlitmus.render.document.naming import varying_axes
from sqlitmus.render.html import charts, fragments
from sqlitmus.render.html.look import Look, looks
from sqlitmus.results.report import Case, Cell, Comparison, Interval, Report, Runner
from sqlitmus.vocabulary.verdicts import Verdict

UNITY = Interval(1.0, None, None)


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case in the matrix and in its own section; `axes` are those that vary within its
    scenario."""

    index: int
    case: Case
    axes: Markup
    settings: Markup
    tally: str
    matrix: Markup
    ticks: Markup
    rows: Markup
    plans: list[tuple[str, list[str]]]
    plans_differ: bool
    commands: Markup
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
    style = looks(report.runners)
    heads = {r.name: fragments.runner_head(r.name, style[r.name]) for r in report.runners}
    members: dict[str, list[CaseView]] = {group: [] for group in report.groups}
    for index, case in enumerate(report.cases):
        view = case_view(index, case, report, varying[case.scenario], heads)
        members.setdefault(case.group, []).append(view)
    return [GroupView(name, sentence(name), cases) for name, cases in members.items() if cases]


def case_view(
    index: int, case: Case, report: Report, varying: list[str], heads: dict[str, str]
) -> CaseView:
    """Matrix cells and forest rows of one case against the report's reference."""
    cells = {cell.runner: cell for cell in case.cells}
    against = case.comparisons.against(report.reference)
    axis = charts.ratio_axis(
        [c.ratio for c in against.values()], charts.FOREST_WIDTH, charts.FOREST_PAD
    )
    frame = fragments.forest_frame(axis, report.margin)
    matrix: list[str] = []
    rows: list[str] = []
    for name, head in heads.items():
        cell, compared = cells.get(name), against.get(name)
        if cell is None or cell.outcome != "ok" or cell.time is None:
            matrix.append(fragments.outcome_td(cell))
            rows.append(fragments.outcome_tr(head, cell, 9 if report.floor else 8))
            continue
        time = fmt.time(cell.time)
        above = fragments.above_floor_td(cell) if report.floor else ""
        if compared is None:
            own = name == report.reference
            style, said = ("base", "reference") if own else ("un", "not compared")
            drawn = fragments.forest(frame, axis, UNITY if own else None)
            matrix.append(fragments.plain_td(style, time[0], said))
            rows.append(fragments.forest_tr(style, head, cell, drawn, "", said, time) + above)
            continue
        style, ratio = (
            words.shade(compared.verdict, compared.ratio.value),
            fmt.ratio(compared.ratio),
        )
        drawn = fragments.forest(frame, axis, compared.ratio)
        said = fragments.verdict_words(compared)
        matrix.append(fragments.compared_td(style, compared, ratio))
        rows.append(
            fragments.forest_tr(style, head, cell, drawn, fragments.pair(ratio), said, time) + above
        )
    plans = plan_groups(case.cells)
    return CaseView(
        index,
        case,
        safe(fragments.axes((name, case.axes[name]) for name in varying if name in case.axes)),
        safe(fragments.axes(case.axes.items())),
        tally(list(against.values())),
        safe("".join(matrix)),
        safe(fragments.ticks(axis)),
        safe("\n".join(rows)),
        plans,
        len(plans) > 1,
        safe(fragments.commands(case.cells)),
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


def safe(text: str) -> Markup:
    """Marks what `fragments` made as safe."""
    return Markup(text)  # noqa: S704


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
            groups.setdefault(tuple(tuple(plan) for plan in cell.plans), []).append(cell.runner)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return [
        (", ".join(names), [line for plan in plans for line in plan]) for plans, names in ordered
    ]


def sentence(text: str) -> str:
    """The first letter in upper case, the others as they are."""
    return text[:1].upper() + text[1:]
