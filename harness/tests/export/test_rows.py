import csv
import io
import json
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.analysis import analyse
from sqlitmus.cli.export import text_of
from sqlitmus.export import formats, model
from sqlitmus.export.model import Row, columns, export_model, row_model
from sqlitmus.export.rows import export_of, rows
from sqlitmus.results.report import Case, Cell, Interval, Report
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.detail import Syncs
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.figures import named
from sqlitmus.vocabulary.text import json_text, visible
from tests.analysis.claims.claim_runs import make
from tests.export import example
from tests.export.reading import read
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


@pytest.fixture(scope="module")
def claimed() -> Report:
    return analyse(make())


def test_each_row_has_published_value_band_interval_and_word(claimed: Report) -> None:
    found = list(model.claim_rows("here", claimed))
    shown = [row for group in claimed.claims[0].groups for row in group.rows]
    assert [one.row for one in found] == [row.name for row in shown]
    small = found[1]
    assert (small.claim, small.claim_word, small.key) == ("modes", "mixed", True)
    assert (small.published, small.word) == (2.0, "smaller than published")
    assert (small.base, small.new) == ("read/fast", "read@mode=small/fast")
    assert (small.same_low, small.same_high) == pytest.approx((1.587, 2.828), rel=1e-3)
    assert small.ratio == pytest.approx(1.1, rel=0.02)
    assert small.ratio_low is not None
    assert small.judged_low is not None
    assert small.judged_low == pytest.approx(small.ratio_low)  # every row says something
    assert small.reason == "at most 12 % of the published effect"
    elsewhere = next(one for one in found if one.row == "elsewhere")
    assert (elsewhere.word, elsewhere.ratio, elsewhere.judged_low, elsewhere.blocks) == (
        "not testable here", None, None, 0
    )  # fmt: skip
    assert next(one for one in found if one.row == "not published").word is None


def test_csv_has_what_json_has(claimed: Report, capsys: pytest.CaptureFixture[str]) -> None:
    text = text_of([("here", claimed)], "json")
    assert export_model().model_validate_json(text).claims == list(
        model.claim_rows("here", claimed)
    )
    exported = json.loads(text)
    lines = list(csv.DictReader(io.StringIO(text_of([("here", claimed)], "claims-csv"))))
    assert [list(line) for line in lines] == [list(one) for one in exported["claims"]]
    assert [
        {name: "" if value is None else str(value) for name, value in one.items()}
        for one in exported["claims"]
    ] == lines
    text_of([("here", claimed)], "csv")
    assert "--format claims-csv has published figures and words" in capsys.readouterr().err


def test_a_run_without_claims_has_none_to_export() -> None:
    assert json.loads(text_of(example.reports(), "json"))["claims"] == []
    with pytest.raises(UsageError, match="the run measured no published claims"):
        text_of(example.reports(), "claims-csv")


def test_the_page_tells_every_column() -> None:
    page = (paths.ROOT / "docs" / "exports.md").read_text("utf-8")
    section = page.partition("## Published claims")[2].partition("\n## ")[0]
    for name in model.ClaimRow.model_fields:
        short = name.removeprefix("ratio") if name.startswith("ratio_") else name
        assert f"`{short}`" in section, name


Json = dict[str, Any]


@pytest.fixture(scope="module")
def tracked() -> list[Row]:
    return export_of([(name, synthetic.build(cases=14)) for name in ("a", "b")]).rows


@pytest.fixture(scope="module")
def few() -> list[Row]:
    """Nine blocks: no verdict."""
    return export_of([("a", synthetic.build(cases=14, blocks=9))]).rows


def by_name(tracked: list[Row]) -> dict[str, Row]:
    return {formats.tracked_name(row): row for row in tracked if row.outcome == "ok"}


def test_bmf_has_every_timed_cell_of_every_machine(tracked: list[Row]) -> None:
    found: dict[str, Json] = json.loads(formats.render_bmf(tracked))
    timed = by_name(tracked)
    assert list(found) == list(timed)
    assert {name.split("/")[0] for name in found} == {"a", "b"}
    for name, measures in found.items():
        row = timed[name]
        time = formats.tracked_time(row)
        assert time
        assert measures["latency"] == {
            "value": time.value,
            "lower_value": time.low,
            "upper_value": time.high,
        }
        values = dict(row)
        assert measures["cpu-ns"] == {"value": values["cpu_ns_per_unit"]}
        assert measures["peak-rss-bytes"] == {"value": values["peak_rss_bytes"]}
        assert ("cold-ns" in measures) == (row.metric == "steady")
        assert ("overhead-ns" in measures) == (row.overhead_ns_per_unit is not None)


def test_gha_benchmark_has_the_primary_time_of_every_timed_cell(tracked: list[Row]) -> None:
    found: list[Json] = json.loads(formats.render_gha_benchmark(tracked))
    timed = by_name(tracked)
    assert [one["name"] for one in found] == list(timed)
    for one in found:
        row = timed[one["name"]]
        time = formats.tracked_time(row)
        assert time
        assert one["value"] == time.value
        assert one["unit"] == f"ns/{row.unit}"
        assert set(one) == {"name", "unit", "value", "range", "extra"}
        compared, *others = one["extra"].split("\n")
        assert (f"the time of node: {row.verdict}" in compared) == (row.runner != "node")
        assert f"SQLite {row.sqlite_version}" in others[-1]


def test_what_is_left_out_is_told_by_reason(tracked: list[Row], few: list[Row]) -> None:
    there = len(json.loads(formats.render_bmf(tracked)))
    assert 0 < there < len(tracked)
    told = formats.untracked(tracked)
    assert told.startswith(f"{len(tracked) - there} of {len(tracked)} cells left out: ")
    for outcome in ("unsupported", "wrong", "failed", "missing"):
        assert f"{sum(row.outcome == outcome for row in tracked)} {outcome}" in told
    assert "fewer" not in told
    assert "from fewer than 10 blocks" in formats.untracked(few)
    assert json.loads(formats.render_bmf(few)) == {}
    assert json.loads(formats.render_gha_benchmark(few)) == []
    assert formats.untracked(list(by_name(tracked).values())) == ""


def test_a_time_without_bounds_has_no_range(tracked: list[Row]) -> None:
    ends = {"cold_ns_low": None, "cold_ns_high": None, "runtime_version": None}
    (entry,) = json.loads(formats.render_gha_benchmark([tracked[0].model_copy(update=ends)]))
    assert "range" not in entry
    assert "node of unknown version" in entry["extra"]


ODD = st.text(max_size=20) | st.text("=+-@'\t\r\n\",;% \0\uff1d\u00e9\U0001f600", max_size=8)
NUMBER = st.none() | st.floats(allow_nan=False, allow_infinity=False)
EXAMPLE = export_of(example.reports())
PLAIN = EXAMPLE.rows[0]
OPTIONAL = st.none() | ODD.filter(bool)


@st.composite
def odd_rows(draw: st.DrawFn) -> Row:
    """A row with odd texts, axes and numbers."""
    texts = {name: draw(ODD) for name in ("machine", "run", "case", "group", "unit", "runner")}
    optional = {name: draw(OPTIONAL) for name in ("reason", "driver_version", "sqlite_version")}
    figures = {name: draw(NUMBER) for name in ("ratio", "overhead_ns_per_unit", "cold_ns")}
    axes = draw(st.dictionaries(ODD, ODD, max_size=3))
    return row_model().model_validate({**dict(PLAIN), **texts, **optional, **figures, "axes": axes})


@given(st.lists(odd_rows(), max_size=4))
def test_csv_comes_back_as_it_was_but_for_what_drives_a_terminal(rows: list[Row]) -> None:
    shown = [
        row.model_copy(update={k: visible(v) for k, v in dict(row).items() if isinstance(v, str)})
        for row in rows
    ]
    assert read(formats.render_csv(rows)) == shown


@given(st.lists(odd_rows(), max_size=4))
def test_json_comes_back_as_it_was(rows: list[Row]) -> None:
    found = EXAMPLE.model_copy(update={"rows": rows})
    text = json_text(found.model_dump_json(indent=1))
    assert export_model().model_validate_json(text) == found


@pytest.mark.parametrize("kind", ["suite", "compare"])
def test_whole_reports_come_back_as_they_were(kind: str) -> None:
    build = synthetic.build if kind == "suite" else synthetic.build_compare
    reports = [("linux-x64", build(cases=14)), ("macos-arm64", build(cases=6, seed=2))]
    found = export_of(reports)
    assert read(text_of(reports, "csv")) == found.rows
    assert export_model().model_validate_json(text_of(reports, "json")) == found


@given(odd_rows())
def test_no_text_is_a_formula_to_a_spreadsheet(row: Row) -> None:
    (record,) = csv.DictReader(io.StringIO(formats.render_csv([row]), newline=""))
    for name, value in record.items():
        if isinstance(getattr(row, name), str):
            assert not value.startswith(tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"))


def test_a_number_below_0_stays_one() -> None:
    row = PLAIN.model_copy(update={"overhead_ns_per_unit": -1.5e-07})
    assert ",-1.5e-07," in formats.render_csv([row])


def test_a_line_per_row_and_none_is_nothing() -> None:
    text = formats.render_csv([PLAIN])
    header, line, end = text.split("\n")
    assert header == ",".join(columns())
    assert end == ""
    empty = [name for name, value in dict(PLAIN).items() if value is None]
    assert empty
    for name, value in zip(header.split(","), next(csv.reader([line])), strict=True):
        assert (value == "") == (name in empty), name
