from dataclasses import replace
from math import inf, nan

import pytest

from sqlitmus.export.model import Row
from sqlitmus.export.rows import export_of, rows
from sqlitmus.results.report import Case, Cell, Interval, Report
from sqlitmus.vocabulary.detail import Syncs
from sqlitmus.vocabulary.figures import named
from tests.render import synthetic


@pytest.fixture(scope="module")
def report() -> Report:
    """Fourteen cases, ten runners: every outcome occurs."""
    return synthetic.build(cases=14)


@pytest.fixture(scope="module")
def found(report: Report) -> list[Row]:
    return list(rows("linux-x64", report))


def pairs(report: Report, found: list[Row]) -> list[tuple[Case, Cell, Row]]:
    cells = [(case, cell) for case in report.cases for cell in case.cells]
    return [(*cell, row) for cell, row in zip(cells, found, strict=True)]


def test_a_row_per_cell_in_the_order_of_the_report(report: Report, found: list[Row]) -> None:
    for case, cell, row in pairs(report, found):
        assert (row.case, row.runner, row.axes) == (case.id, cell.runner, case.axes)
        assert (row.outcome, row.reason) == (cell.outcome, cell.reason)
    assert {row.outcome for row in found} == {"ok", "unsupported", "wrong", "failed", "missing"}


def test_only_what_went_well_has_figures(report: Report, found: list[Row]) -> None:
    for _, _, row in pairs(report, found):
        steady, cold = row.steady_ns_per_unit is not None, dict(row)["cold_ns"] is not None
        if row.outcome == "ok":
            assert (steady, cold) == (row.metric == "steady", True)
            assert row.blocks == 12
        else:
            assert {value for name, value in row if name.endswith(FIGURES)} == {None}
            assert row.reason


FIGURES = ("_ns", "_unit", "_bytes", "ratio", "_low", "_high", "verdict", "blocks", "p_adjusted")


def test_figures_are_those_of_the_report(report: Report, found: list[Row]) -> None:
    for case, cell, row in pairs(report, found):
        if cell.time is None:
            continue
        values = dict(row)
        column = "steady_ns_per_unit" if case.metric == "steady" else "cold_ns"
        own = tuple(values[f"{column}{end}"] for end in ("", "_low", "_high"))
        assert own == (cell.time.value, cell.time.low, cell.time.high)
        assert {"cpu", "peak_rss"} <= set(cell.figures)
        assert ("cold" in cell.figures) == (case.metric == "steady")
        for name, measure in cell.figures.items():
            figure = named(name)
            assert values[figure.column] == measure.value
            ratio, verdict = values.get(f"{name}_ratio"), values.get(f"{name}_verdict")
            assert (ratio, verdict) == (measure.ratio and measure.ratio.value, measure.verdict)
        assert row.overhead_ns_per_unit == (cell.overhead and cell.overhead.value)
        assert (row.overhead_verdict is None) == (cell.overhead is None)


def test_syncs_are_those_of_one_transaction(report: Report) -> None:
    syncs = Syncs(transactions=4, fsync=16, fdatasync=0, bytes=1000)
    first, second, *others = report.cases[0].cells
    cells = [replace(first, syncs=syncs), replace(second, uncounted="Linux only"), *others]
    case = replace(report.cases[0], cells=cells)
    found = [dict(row) for row in rows("linux-x64", replace(report, cases=[case]))]
    names = ("fsync_per_transaction", "fdatasync_per_transaction", "bytes_per_transaction")
    assert [tuple(row[name] for name in (*names, "uncounted")) for row in found[:3]] == [
        (4, 0, 250, None),
        (None, None, None, "Linux only"),
        (None, None, None, None),
    ]


def test_ratios_are_against_the_reports_reference(report: Report) -> None:
    other = replace(report, reference="bun")
    for case, cell, row in pairs(other, list(rows("linux-x64", other))):
        compared = case.comparisons.of(cell.runner, "bun")
        assert row.reference == "bun"
        assert (row.ratio, row.verdict) == (
            (compared.ratio.value, compared.verdict) if compared else (None, None)
        )
        if cell.runner == "bun":
            assert row.verdict is None


def test_a_bound_that_is_none_is_left_empty(report: Report) -> None:
    case = report.cases[4]
    cells = [replace(case.cells[0], time=Interval(1.5, nan, inf))]
    (row,) = rows("linux-x64", replace(report, cases=[replace(case, cells=cells)]))
    assert row.steady_ns_per_unit == 1.5
    assert (row.steady_ns_per_unit_low, row.steady_ns_per_unit_high) == (None, None)


def test_each_machine_brings_its_rows_and_its_run(report: Report) -> None:
    small = replace(report, run="other", cases=report.cases[:1], reference="bun")
    found = export_of([("linux-x64", report), ("macos-arm64", small)])
    assert [(one.name, one.run, one.reference) for one in found.machines] == [
        ("linux-x64", report.run, "node"),
        ("macos-arm64", "other", "bun"),
    ]
    assert found.machines[0].facts == report.machine
    assert [row.machine for row in found.rows] == ["linux-x64"] * 140 + ["macos-arm64"] * 10
    assert {row.run for row in found.rows[140:]} == {"other"}
