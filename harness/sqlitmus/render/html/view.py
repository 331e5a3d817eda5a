"""The cases as the matrix and their own sections show them: every text formatted, every
coordinate known.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import parts, symbols
from sqlitmus.render.document.parts import varying_axes
from sqlitmus.render.document.suite import group_means
from sqlitmus.render.document.symbols import OutcomeWord, above_floor, of_medians
from sqlitmus.render.html import charts
from sqlitmus.render.html.assets import sentence
from sqlitmus.results.ranking import Contrast, Interval
from sqlitmus.results.report import Case, Cell, Report, Runner, Standing
from sqlitmus.vocabulary.figures import FIGURES, Figure
from sqlitmus.vocabulary.text import by_value, counted, modern
from sqlitmus.vocabulary.verdicts import Verdict

RUNTIMES = ("node", "bun", "deno", "rust", "dotnet")
ALIASES = {"node.js": "node", ".net": "dotnet"}
SHAPES = 4


@dataclass(frozen=True, slots=True)
class Look:
    """`hue` is a style class; `shape` is the index of a marker and of a dash pattern."""

    hue: str
    shape: int


def looks(runners: Iterable[Runner]) -> dict[str, Look]:
    """A look per runner name; it depends on the runtimes and drivers, never on who is fast."""
    by_name: dict[str, Look] = {}
    seen: dict[str, int] = {}
    for runner in runners:
        key = runner.runtime.lower()
        shape = seen.get(key, 0)
        seen[key] = shape + 1
        runtime = ALIASES.get(key, key)
        hue = runtime if runtime in RUNTIMES else "other"
        by_name[runner.name] = Look(f"k-{hue}", shape % SHAPES)
    return by_name


# A runner's line of a case: its figures, each judged.


Pair = tuple[str, str]
UNITY = Interval(1.0, None, None)
DASH = "\u2013"


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
    verdict: Verdict | None = None
    comparison: Contrast | None = None
    medians: str = ""
    glyph: charts.Mark | None = None
    mark: charts.Mark | None = None
    figures: tuple[Judged, ...] = ()
    over: Judged | None = None


def entry(
    place: int,
    cell: Cell | None,
    base: Cell | None,
    compared: Contrast | None,
    axis: charts.RatioAxis,
    columns: Sequence[Figure],
    report: Report,
) -> Entry:
    """One runner in one case, whose figures are those `columns`."""
    name = report.runners[place].name
    if cell is None or cell.outcome != "ok" or cell.time is None:
        outcome = symbols.OUTCOMES[cell.outcome] if cell else symbols.ABSENT
        reason = (cell.reason if cell else None) or outcome.meaning
        return Entry(place, name, f"na x-{outcome.code}", reason, cell, outcome)
    time = fmt.time(cell.time)
    beside = tuple(judged(figure, cell) for figure in columns)
    over = over_floor(cell) if report.floor else None
    if compared is None:
        alone = uncompared(place, report)
        words = (cell.reason if cell.apart else None) or alone.words
        mark = axis.mark(UNITY) if name == report.reference else None
        return replace(
            alone, words=words, cell=cell, time=time, mark=mark, figures=beside, over=over
        )
    medians = of_medians(cell, base, compared.ratio)
    return replace(
        compared_entry(place, compared, report),
        cell=cell,
        time=time,
        comparison=compared,
        medians=fmt.ratio(medians)[0] if medians else "",
        mark=axis.mark(compared.ratio),
        figures=beside,
        over=over,
    )


def compared_entry(place: int, contrast: Contrast, report: Report) -> Entry:
    """A runner's ratio to the reference, of a case or of a group."""
    ratio, verdict = contrast.ratio, contrast.verdict
    return Entry(
        place,
        report.runners[place].name,
        symbols.shade(verdict, ratio.value),
        symbols.worded(verdict, report),
        None,
        ratio=fmt.ratio(ratio),
        verdict=verdict,
        glyph=charts.GLYPH.mark(ratio),
    )


def uncompared(place: int, report: Report) -> Entry:
    """A runner that is compared with nothing, as the reference is."""
    name = report.runners[place].name
    style, words = ("base", "reference") if name == report.reference else ("un", "not compared")
    return Entry(place, name, style, words, None)


def judged(figure: Figure, cell: Cell) -> Judged:
    """A secondary figure with its ratio to the report's reference and the verdict on that."""
    measure = cell.figures.get(figure.name)
    if measure is None:
        return Judged(figure.name, "unknown")
    text = fmt.figure(measure.value, figure.unit)
    if measure.contrast is None:
        return Judged(figure.name, text)
    verdict = measure.contrast.verdict
    ratio, bounds = fmt.ratio(measure.contrast.ratio)
    return Judged(figure.name, text, verdict, ratio, f"{figure.said(verdict)} {bounds}")


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
    text, words = above_floor(cell.overhead, cell.overhead_verdict)
    return Judged("over", text, cell.overhead_verdict, words=words)


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
    """A group of cases, in report order; `means` are over all of them, of each runner, or none."""

    name: str
    title: str
    cases: list[CaseView]
    means: list[Entry]


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
    means = group_means(report)
    return [
        GroupView(name, sentence(name), cases, mean_entries(name, means, report))
        for name, cases in members.items()
        if cases
    ]


def mean_entries(
    group: str, means: Mapping[tuple[str, str], Standing], report: Report
) -> list[Entry]:
    """A group's geometric mean of each runner; none where no two have one."""
    mine = [means.get((group, runner.name)) for runner in report.runners]
    if not any(mine):
        return []
    return [
        compared_entry(place, mean.contrast, report)
        if mean and mean.contrast
        else uncompared(place, report)
        for place, mean in enumerate(mine)
    ]


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
        parts.in_words(case),
        plan_groups(case.cells),
        [
            (cell.runner, symbols.OUTCOMES[cell.outcome].label, cell.reason or "", cell.log or "")
            for cell in case.cells
            if cell.outcome in {"wrong", "failed"}
        ],
        symbols.phrase(case.canary) if case.canary else "",
        [
            (cell.runner, cell.steadiness, symbols.STEADINESS[cell.steadiness].meaning)
            for cell in case.cells
            if cell.steadiness and symbols.STEADINESS[cell.steadiness].bad
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


def tally(comparisons: list[Contrast]) -> str:
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
