"""The numbers behind the page, as compact columns for its script."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import floor, isfinite, log, log10
from typing import Any, TypeVar

from sqlitmus.render.document import format as fmt, symbols
from sqlitmus.render.document.decision import aged, catches_up, choice_sentences, plural
from sqlitmus.render.document.parts import in_words, varying
from sqlitmus.render.document.ranking import APART, LIMITS, again_command
from sqlitmus.render.html import charts
from sqlitmus.render.html.view import looks
from sqlitmus.results.ranking import Comparisons, place
from sqlitmus.results.recommendation import Weighed, Weighing
from sqlitmus.results.report import Case, Cell, Interval, Report
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.text import by_value, counted, modern, with_keys
from sqlitmus.vocabulary.verdicts import Verdict

WHOLE = 1e5
DIGITS = 5
# Half-heights of the drift strips, which hold a case's largest relative deviation of a sample.
DRIFT_FLOOR = 0.02
DRIFT_CEILING = 0.5


def columns(cells: Sequence[Cell]) -> dict[str, Any]:
    """Samples and positions of a case, and the axes on which they are drawn."""
    exponents = [sample_exponent(cell) for cell in cells]
    numbers = [x for cell in cells for x in cell.samples if x]
    axis = charts.sample_axis(min(numbers), max(numbers)) if numbers else None
    return {
        "exponents": exponents,
        "samples": [
            [None if x is None else round(x * 10.0**-exponent) for x in cell.samples]
            for cell, exponent in zip(cells, exponents, strict=True)
        ],
        "positions": [differences(cell.positions) for cell in cells],
        "drift": drift(cells),
        "axis": axis and [short(axis[0]), short(axis[1]), [short(tick) for tick in axis[2]]],
    }


def drift(cells: Iterable[Cell]) -> float:
    """The largest relative deviation of a sample from its runner's estimate, within bounds."""
    widest = DRIFT_FLOOR
    for cell in cells:
        numbers = [x for x in cell.samples if x]
        if cell.time and cell.time.value > 0 and numbers:
            value = cell.time.value
            widest = max(widest, max(numbers) / value - 1, 1 - min(numbers) / value)
    return round(min(widest, DRIFT_CEILING), 4)


def short(value: float | None) -> float | int | None:
    """Six significant digits below 100 µs or 100 KB, whole numbers from there."""
    if value is None or not isfinite(value):
        return None
    return float(f"{value:.6g}") if abs(value) < WHOLE else round(value)


def differences(positions: Sequence[int]) -> list[int]:
    """The first position, then each one minus the one before."""
    return [*positions[:1], *(after - before for before, after in pairwise(positions))]


def sample_exponent(cell: Cell) -> int:
    """The power of ten that leaves five digits before the point of a cell's estimate."""
    if cell.time is None or cell.time.value <= 0:
        return 0
    return floor(log10(cell.time.value)) - DIGITS + 1


# What the page needs to decide by other calls, and the first screen's own decision.


def deciding(report: Report) -> dict[str, Any] | None:
    """The first screen's decision: its sentence, what follows it, the presets to choose from by
    name, title and whether they are ranked, and the operations by case, name and calls; None for a
    report without presets."""
    weighed, weighing = decision(report), report.weighing
    if weighed is None or weighing is None:
        return None
    first = weighed.choices[0]
    answer, *rest = choice_sentences(first, weighed)
    return {
        "answer": answer,
        "rest": rest,
        "presets": [(each.preset, each.title, not each.lacking) for each in weighed.choices],
        "operations": [
            (of.case, plural(of.name), f"{first.calls.get(of.case, 0):g}")
            for of in weighing.operations
        ],
    }


def decision(report: Report) -> Weighed | None:
    """The statement on presets, if there is one."""
    return next((each for each in report.headline if isinstance(each, Weighed)), None)


def weighing_data(report: Report, index: Mapping[str, int]) -> dict[str, Any] | None:
    """The parts of all sums, in the order that `weights.js` reads."""
    weighed, weighing = decision(report), report.weighing
    if weighed is None or weighing is None:
        return None
    versions = {
        runner.name: f"{runner.runtime} {runner.runtime_version} · {runner.driver} "
        f"{runner.driver_version} · SQLite {runner.sqlite_version}"
        for runner in report.runners
    }
    machine = " · ".join(f"{of} {report.machine[of]}" for of in MACHINE if of in report.machine)
    made = f"sqlitmus {report.sqlitmus_version} · run {report.run}"
    return {**packed(weighed, weighing, index), "versions": versions, "origin": [machine, made]}


# Facts of the machine that stand below the picture of the decision.
MACHINE = ("cpu", "cores", "memory", "os", "kernel", "virtualised")


def packed(weighed: Weighed, weighing: Weighing, index: Mapping[str, int]) -> dict[str, Any]:
    """The same of its two parts."""
    places = {name: place for place, name in enumerate(weighing.runners)}
    cases = [of.case for of in weighing.operations]
    return {
        "level": weighing.level,
        "z": weighing.z,
        "least": weighing.least,
        "blocks": weighed.choices[0].blocks,
        "runners": [index[name] for name in weighing.runners],
        "operations": [
            [of.case, of.name, of.start,
             list(map(_brief, of.level)), list(map(_brief, of.cpu)), of.memory,
             [why and APART[why] for why in of.apart]]
            for of in weighing.operations
        ],
        "pairs": [
            [places[pair.runner], places[pair.reference],
             *([list(map(_brief, row)) for row in column]
               for column in (pair.difference, pair.middle, pair.square)),
             pair.left, pair.count, "".join(verdict.letter for verdict in pair.single)]
            for pair in weighing.pairs
        ],
        "start": weighing.start,
        "presets": [
            {
                "name": choice.preset,
                "summary": choice.summary,
                "calls": choice.calls,
                "ranked": not choice.lacking,
                "text": choice_sentences(choice, weighed),
                "out": [each.runner for each in choice.ranking.excluded if each.why in LIMITS],
            }
            for choice in weighed.choices
        ],
        "catching": [
            [places[c.after.runner], places[c.after.reference], cases.index(c.case),
             catches_up(c)]
            for c in weighing.catching
        ],
        "again": [again_command(weighed.again), weighed.again.block_s],
        "old": [[engine.runner, aged(engine)] for engine in weighed.old],
    }  # fmt: skip


def _brief(value: float | None) -> float | None:
    """Nine digits: an interval that is recomputed from them differs in none that is shown."""
    return None if value is None else float(f"{value:.9g}")


# No key is repeated per cell or pair, and a case has columns of the runners that have a time in it.

T = TypeVar("T")
LOG_UNIT = 1e6
CODES: dict[Verdict | None, str] = {None: " ", **{verdict: verdict.letter for verdict in Verdict}}


def page_data(report: Report) -> dict[str, Any]:
    """Everything the page's script may show, ready for JSON."""
    names = [runner.name for runner in report.runners]
    index = {name: place for place, name in enumerate(names)}
    varied = zip(report.cases, varying(report.cases), strict=True)
    look = looks(report.runners)
    return {
        "kind": report.kind,
        "run": report.run,
        "title": report.title,
        "reference": index.get(report.reference, -1),
        "floor": index.get(report.floor, -1) if report.floor else -1,
        "margin": report.margin,
        "groups": report.groups,
        "runners": [
            [r.name, r.title, r.runtime, r.driver, r.role, look[r.name].hue, look[r.name].shape]
            for r in report.runners
        ],
        "figures": [
            [*(of.name, of.column, of.unit, of.title),
             {v.letter: of.said(v) for v in Verdict}, of.heading]
            for of in figures.FIGURES
        ],
        "verdicts": {
            v.letter: [symbols.worded(v, report), v.symbol, v.style, v.opposite.letter]
            for v in Verdict
        },
        "outcomes": {
            w.code: [w.label, w.meaning] for w in (*symbols.OUTCOMES.values(), symbols.ABSENT)
        },
        "steadiness": {
            of: [meaning, of in symbols.DOUBTED] for of, meaning in symbols.STEADINESS.items()
        },
        "levels": symbols.LEVELS,
        "steps": charts.RATIO_STEPS,
        "forest": [charts.FOREST_WIDTH, charts.FOREST_PAD, charts.LABEL_GAP],
        "standings": standings(report, index),
        "cases": [case_data(case, index, list(of)) for case, of in varied],
        "weighing": weighing_data(report, index),
    }  # fmt: skip


def standings(report: Report, index: dict[str, int]) -> list[list[Any]]:
    """Rows of [group, runner, reference, log ratio, log low, log high, verdict], of several cases
    each."""
    groups = {name: place for place, name in enumerate(report.groups)}
    return [
        [
            groups[s.group],
            index[s.runner],
            index[s.reference],
            *map(logarithm, ends(s.contrast and s.contrast.ratio)),
            s.contrast and s.contrast.verdict.letter,
        ]
        for s in report.standings
        if s.cases > 1 and s.group in groups and s.runner in index and s.reference in index
    ]


def case_data(case: Case, index: dict[str, int], varies: list[str]) -> dict[str, Any]:
    """One case; its columns are of the runners with a time, in order."""
    by_name = {cell.runner: cell for cell in case.cells}
    cells = [by_name.get(name) for name in index]
    timed = [cell for cell in cells if cell and cell.outcome == "ok"]
    return {
        "id": case.id,
        "scenario": case.scenario,
        "title": case.title,
        "group": case.group,
        "bound": case.bound_by,
        "axes": case.axes,
        "varies": varies,
        "metric": case.metric,
        "unit": case.unit,
        "outcomes": "".join(
            symbols.OUTCOMES[c.outcome].code if c else symbols.ABSENT.code for c in cells
        ),
        "why": of_each(cells, lambda cell: None if cell.outcome == "ok" else cell.reason),
        "apart": of_each(cells, lambda cell: cell.apart and [cell.apart, cell.reason]),
        "steady": of_each(cells, lambda cell: cell.steadiness),
        "time": intervals(cell.time for cell in timed),
        "overhead": intervals(cell.overhead for cell in timed),
        "over": "".join(CODES[cell.overhead_verdict] for cell in timed),
        "figures": {
            figure.name: [
                short(measure.value) if (measure := cell.figures.get(figure.name)) else None
                for cell in timed
            ]
            for figure in case.measured
        },
        "judged": judged_figures(case, timed),
        "card": card(case, index),
        **columns(timed),
        **pair_columns(case.comparisons, index, timed),
    }


def of_each(cells: Sequence[Cell | None], read: Callable[[Cell], T | None]) -> dict[int, T]:
    """What some runners have, by their place."""
    values = {place: read(cell) for place, cell in enumerate(cells) if cell}
    return {place: value for place, value in values.items() if value}


def card(case: Case, index: Mapping[str, int]) -> dict[str, Any]:
    """What is told of a case when it is opened, in words and as code."""
    scope = f"{'Whole process' if case.metric == 'cold' else 'Steady time'} per {case.unit}"
    if case.metric == "steady":
        scope += f"; {counted(case.operations, 'operation')} per iteration"
    sentences = [work(case)]
    if case.detectable is not None:
        difference = fmt.percent(case.detectable)
        sentences.append(f"This case finds differences of {difference} with 80 % power.")
    if case.canary:
        again = f"{case.canary.reference} a second time took {symbols.phrase(case.canary)}"
        sentences.append(f"A/A control: {again}.")
    syncs, pragmas = in_words(case), with_keys(case.pragmas) if "profile" in case.axes else {}
    return {
        "question": case.question,
        "scope": scope,
        "notes": case.notes,
        "said": [*filter(None, sentences)],
        "sql": case.sql,
        "plans": plan_groups(case.cells),
        "pragmas": "; ".join(map("=".join, pragmas.items())),
        "syncs": syncs and f"{syncs}.",
        "checks": case.checks,
        "work": case.work,
        "commands": {index[cell.runner]: cell.command for cell in case.cells if cell.command},
        "evidence": [
            (cell.runner, symbols.OUTCOMES[cell.outcome].label, cell.reason or "", cell.log or "")
            for cell in case.cells
            if cell.outcome in {"wrong", "failed"}
        ],
    }


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


def judged_figures(case: Case, cells: Sequence[Cell]) -> dict[str, list[Any]]:
    """Of each figure that is judged: log ratios to the report's reference with their bounds, and
    the letters of the verdicts."""
    judged: dict[str, list[Any]] = {}
    for figure in case.measured:
        measures = [cell.figures.get(figure.name) for cell in cells]
        column = [measure and measure.contrast for measure in measures]
        letters = "".join(CODES[contrast and contrast.verdict] for contrast in column)
        if letters.strip():
            ratios = [ends(contrast and contrast.ratio) for contrast in column]
            judged[figure.name] = [*logarithms(*zip(*ratios, strict=True)), letters]
    return judged


def pair_columns(
    pairs: Comparisons, index: Mapping[str, int], timed: Sequence[Cell]
) -> dict[str, Any]:
    """Columns over unordered pairs of the timed runners, in the order of the report's."""
    if list(index) != pairs.runners:
        raise ValueError("a case compares other runners than the report has")
    places = sorted(index[cell.runner] for cell in timed)
    at = [place(low, high) for k, high in enumerate(places) for low in places[:k]]

    def of(column: Sequence[T]) -> list[T]:
        return [column[pair] for pair in at]

    return {
        "pairs": logarithms(of(pairs.ratio), of(pairs.low), of(pairs.high)),
        "verdicts": "".join(CODES[verdict] for verdict in of(pairs.verdict)),
        "blocks": alike(of(pairs.blocks)),
        "needs": {pair: needs for pair, needs in enumerate(pairs.needs_blocks) if needs},
        "next": logarithms(of(pairs.next_low), of(pairs.next_high)) if any(pairs.next_low) else [],
    }


def alike(blocks: list[int]) -> int | list[int]:
    """One number where all pairs that have blocks have the same."""
    same = set(blocks) - {0}
    return same.pop() if len(same) == 1 else blocks


def intervals(values: Iterable[Interval | None]) -> list[list[float | int | None]]:
    """The columns value, low, high."""
    return [list(map(short, column)) for column in zip(*map(ends, values), strict=True)]


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
