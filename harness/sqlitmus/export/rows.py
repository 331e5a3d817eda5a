"""Reports become rows: `model` says where each field is read."""

from collections.abc import Iterator, Sequence
from functools import cache, reduce
from pathlib import Path
from typing import TypeVar, cast

from sqlitmus import __version__
from sqlitmus.analysis import analyse, load_file
from sqlitmus.export import model as out
from sqlitmus.machines.merge import merged
from sqlitmus.machines.survey import machine_report, reference_of
from sqlitmus.render.document import decision, sentences
from sqlitmus.results.recommendation import Advice, Choice, Weighed
from sqlitmus.results.recommendation import Recommendation as Decided
from sqlitmus.results.report import Interval, Report
from sqlitmus.store.file import check_file
from sqlitmus.vocabulary.contract import Model

M = TypeVar("M", bound=Model)


def export_of(reports: Sequence[tuple[str, Report]]) -> out.Export:
    """All machines and their rows; `reports` are machines by name."""
    return out.export_model()(
        schema_version=1,
        sqlitmus=__version__,
        machines=[
            _read(
                out.Machine, report, name=name, notices=list(map(sentences.notice, report.notices))
            )
            for name, report in reports
        ],
        rows=[row for name, report in reports for row in rows(name, report)],
        claims=[row for name, report in reports for row in _claims(name, report)],
        recommendations=[row for name, report in reports for row in _decisions(name, report)],
        settings=[row for name, report in reports for row in _settings(name, report)],
    )


def rows(machine: str, report: Report) -> Iterator[out.Row]:
    """One row per cell, cases and runners in the order of the report."""
    identities = {runner.name: runner for runner in report.runners}
    for case in report.cases:
        against = case.comparisons.against(report.reference)
        for cell in case.cells:
            values = {name: Interval(each.value, None, None) for name, each in cell.figures.items()}
            syncs = cell.syncs
            durable = {
                f"{name}_per_transaction": syncs and getattr(syncs, name) / syncs.transactions
                for name in ("fsync", "fdatasync", "bytes")
            }
            yield _read(
                out.row_model(),
                cell,
                machine=machine,
                report=report,
                case=case,
                identity=identities[cell.runner],
                compared=against.get(cell.runner),
                values={**values, case.metric: cell.time},
                blocks=cell.time and sum(value is not None for value in cell.samples),
                overhead_verdict=cell.overhead and cell.overhead_verdict,
                **durable,
            )


def _claims(machine: str, report: Report) -> Iterator[out.ClaimRow]:
    for claim in report.claims:
        for group in claim.groups:
            of = {"machine": machine, "report": report, "claim": claim, "group": group}
            yield from (_read(out.ClaimRow, row, **of) for row in group.rows)


def _settings(machine: str, report: Report) -> Iterator[out.SettingRow]:
    for advice in report.headline:
        if isinstance(advice, Advice):
            for setting in advice.settings:
                of = {"machine": machine, "report": report, "advice": advice, "setting": setting}
                for tried in setting.tried:
                    blocks = tried.contrast.blocks if tried.contrast else 0
                    yield _read(out.SettingRow, tried, blocks=blocks, **of)


def _decisions(machine: str, report: Report) -> Iterator[out.Recommendation]:
    of = {"machine": machine, "report": report}
    for statement in report.headline:
        if isinstance(statement, Weighed):
            for choice in statement.choices:
                text = " ".join(decision.choice_sentences(choice, statement))
                yield _read(out.Recommendation, choice, costs=_costs(choice, 1.0), text=text, **of)
        elif isinstance(statement, Decided):
            yield _read(
                out.Recommendation,
                statement,
                preset=None,
                calls={query: 1000 * share for query, share in statement.shares.items()},
                costs=_costs(statement, 1000.0),
                text=" ".join(decision.workload_sentences(statement)),
                **of,
            )


def _costs(of: Choice | Decided, times: float) -> list[out.Cost]:
    """What 1,000 requests or calls take with each runner; `times` makes them of what is known."""
    return [
        _read(
            out.Cost,
            cost,
            contrast=of.ranking.contrast(cost.runner),
            time_ms=cost.time and cost.time.value * times / 1e6,
            cpu_ms=None if cost.cpu is None else cost.cpu * times / 1e6,
        )
        for cost in of.costs
    ]


def _read(model: type[M], part: object, **given: object) -> M:
    """An object of the model, whose fields are read of what is `given`, or else of a part of the
    results; None where a part of a field's path is."""
    return model.model_validate(
        {
            name: reduce(_step, path, given[start] if start in given else getattr(part, start))
            for name, (start, *path) in _paths(model).items()
        }
    )


@cache
def _paths(model: type[Model]) -> dict[str, list[str]]:
    """Where each field is read."""
    return {
        name: next((text for text in field.metadata if isinstance(text, str)), name).split(".")
        for name, field in model.model_fields.items()
    }


def _step(value: object, name: str) -> object:
    """What an object has by an attribute, a dictionary by a key, or a tuple at a place."""
    if isinstance(value, dict):
        return cast("dict[str, object]", value).get(name)
    if isinstance(value, tuple):
        return cast("tuple[object, ...]", value)[int(name)]
    return None if value is None else getattr(value, name)


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
