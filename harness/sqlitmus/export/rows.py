"""Reports become rows. Pure."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlitmus import __version__
from sqlitmus.analysis import analyse, load_file
from sqlitmus.export.model import (
    Cost,
    Export,
    Machine,
    Recommendation,
    Row,
    bounded,
    claim_rows,
    export_model,
    row_model,
    setting_rows,
)
from sqlitmus.machines.merge import merged
from sqlitmus.machines.survey import machine_report, reference_of
from sqlitmus.render.document import decision, sentences
from sqlitmus.results.ranking import Comparison
from sqlitmus.results.recommendation import Choice, Weighed
from sqlitmus.results.recommendation import Recommendation as Decided
from sqlitmus.results.report import Case, Cell, Interval, Measure, Report, Runner
from sqlitmus.store.file import check_file
from sqlitmus.vocabulary import figures

VERSION = 1
OF_RUN = (
    *("run", "kind", "suite", "created", "seed", "blocks_planned", "blocks_complete", "sessions"),
    *("margin", "correction", "reference", "floor"),
)
OF_RUNNER = (*("role", "runtime", "runtime_version", "driver", "driver_version", "sqlite_version"),)
COUNTS = ("operations", "iterations", "warmup_iterations", "warmup_ms")


def export_of(reports: Sequence[tuple[str, Report]]) -> Export:
    """All machines and their rows; `reports` are machines by name."""
    return export_model()(
        schema_version=VERSION,
        sqlitmus=__version__,
        machines=[machine(name, report) for name, report in reports],
        rows=[row for name, report in reports for row in rows(name, report)],
        claims=[row for name, report in reports for row in claim_rows(name, report)],
        recommendations=[row for name, report in reports for row in recommended(name, report)],
        settings=[row for name, report in reports for row in setting_rows(name, report)],
    )


def machine(name: str, report: Report) -> Machine:
    """A machine with what its run was asked to do."""
    middle, least, most = report.detectable or (None, None, None)
    return Machine(
        **{field: getattr(report, field) for field in OF_RUN},
        name=name,
        sqlitmus=report.sqlitmus_version,
        detectable=middle,
        detectable_least=least,
        detectable_most=most,
        notices=list(map(sentences.notice, report.notices)),
        facts=report.machine,
    )


def recommended(machine: str, report: Report) -> Iterator[Recommendation]:
    """A row per decision of a report."""
    for statement in report.headline:
        if isinstance(statement, Weighed):
            for choice in statement.choices:
                yield Recommendation(
                    machine=machine,
                    run=report.run,
                    preset=choice.preset,
                    calls=choice.calls,
                    front=choice.ranking.front,
                    costs=list(_costs(choice, 1.0)),
                    text=" ".join(decision.choice_sentences(choice, statement)),
                )
        elif isinstance(statement, Decided):
            yield Recommendation(
                machine=machine,
                run=report.run,
                preset=None,
                calls={query: 1000 * share for query, share in statement.shares.items()},
                front=statement.ranking.front,
                costs=list(_costs(statement, 1000.0)),
                text=" ".join(decision.workload_sentences(statement)),
            )


def _costs(of: Choice | Decided, times: float) -> Iterator[Cost]:
    """What 1,000 requests or calls take with each runner; `times` makes them of what is known."""
    for each in of.costs:
        other = of.ranking.contrast(each.runner)
        yield Cost.model_validate(
            {
                "runner": each.runner,
                "time_ms": each.time and each.time.value * times / 1e6,
                "parts": each.parts,
                "reference": other and other.reference,
                **bounded("ratio", other and other.ratio),
                "verdict": other and other.verdict,
                "cpu_ms": None if each.cpu is None else each.cpu * times / 1e6,
            }
        )


def rows(machine: str, report: Report) -> Iterator[Row]:
    """One row per cell, cases and runners in the order of the report."""
    model = row_model()
    runners = {runner.name: runner for runner in report.runners}
    for case in report.cases:
        against = case.comparisons.against(report.reference)
        for cell in case.cells:
            yield model.model_validate(
                {
                    "machine": machine,
                    "run": report.run,
                    "suite": report.suite,
                    **of_case(case),
                    **of_runner(runners[cell.runner]),
                    **of_cell(cell, case),
                    "reference": report.reference,
                    **of_comparison(against.get(cell.runner)),
                    **of_syncs(cell),
                    **of_figures(cell, case),
                }
            )


def of_case(case: Case) -> dict[str, object]:
    """What was asked, and which differences it finds."""
    names = ("scenario", "group", "axes", "metric", "unit", "detectable")
    return {"case": case.id, **{name: getattr(case, name) for name in names}}


def of_runner(runner: Runner) -> dict[str, object]:
    """Who answered, with versions."""
    return {
        "runner": runner.name,
        **{field: getattr(runner, field) or None for field in OF_RUNNER},
    }


def of_cell(cell: Cell, case: Case) -> dict[str, object]:
    """What became of it, and its times."""
    steady = cell.time if case.metric == "steady" else None
    return {
        "outcome": cell.outcome,
        "reason": cell.reason or None,
        "blocks": sum(value is not None for value in cell.samples) if cell.time else None,
        "steadiness": cell.steadiness,
        **{name: getattr(cell, name) for name in COUNTS},
        **bounded("steady_ns_per_unit", steady),
        **bounded("overhead_ns_per_unit", cell.overhead),
        "overhead_verdict": cell.overhead_verdict if cell.overhead else None,
    }


def of_comparison(comparison: Comparison | None) -> dict[str, object]:
    """How the primary time compares with the reference's."""
    return {
        **bounded("ratio", comparison and comparison.ratio),
        "p": comparison and comparison.p,
        "p_adjusted": comparison and comparison.adjusted,
        "verdict": comparison and comparison.verdict,
        "needs_blocks": comparison and comparison.needs_blocks,
    }


def of_syncs(cell: Cell) -> dict[str, object]:
    """What a transaction made durable."""
    counted = cell.syncs
    return {
        **{
            f"{name}_per_transaction": counted and getattr(counted, name) / counted.transactions
            for name in ("fsync", "fdatasync", "bytes")
        },
        "uncounted": cell.uncounted,
    }


def of_figures(cell: Cell, case: Case) -> dict[str, object]:
    """What was measured beside the primary time; that too, where a figure is the primary time."""
    columns: dict[str, object] = {}
    for figure in figures.FIGURES:
        measure = cell.figures.get(figure.name)
        value = Interval(measure.value, None, None) if measure else None
        if figure.name == case.metric:
            value = cell.time
        if figure.primary:
            columns |= bounded(figure.column, value)
        else:
            columns[figure.column] = value and value.value
        if figure.judged:
            columns |= judged(figure.name, measure)
    return columns


def judged(name: str, measure: Measure | None) -> dict[str, object]:
    """How a figure compares with the reference's."""
    return {
        **bounded(f"{name}_ratio", measure and measure.ratio),
        f"{name}_verdict": measure and measure.verdict,
    }


# The reports that a directory holds, by machine.


UNNAMED = "unnamed"


def reports_of(directory: Path, reference: str | None) -> list[tuple[str, Report]]:
    """Each machine's name with its report; runs from before machines had names are `unnamed`.

    Raises UsageError when the directory is no run, cannot be read, or lacks the reference.
    """
    file = check_file(directory)
    several = merged(file)
    if several is None:
        run = load_file(file)
        return [(run.plan.machine or UNNAMED, analyse(run, reference))]
    against = reference_of(several, reference)
    return [
        (machine.name, machine_report(several.file, machine, against)[1])
        for machine in several.machines
    ]
