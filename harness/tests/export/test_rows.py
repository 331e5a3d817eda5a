import csv
import io
import json
from dataclasses import replace
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.analysis import analyse
from sqlitmus.cli.export import text_of
from sqlitmus.export import formats
from sqlitmus.export.formats import export_of, rows
from sqlitmus.export.model import Row, export_model, row_model
from sqlitmus.results.report import Interval, Report
from sqlitmus.vocabulary.detail import Syncs
from sqlitmus.vocabulary.text import visible
from tests.analysis.claims.claim_runs import make
from tests.export import example
from tests.export.reading import read
from tests.refusals import refused
from tests.render import synthetic

PLAIN = export_of(example.reports()).rows[0]


@pytest.fixture(scope="module")
def report() -> Report:
    """Fourteen cases, ten runners."""
    return synthetic.build(cases=14)


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


def test_a_bound_that_is_none_is_left_empty(report: Report) -> None:
    case = report.cases[4]
    cells = [replace(case.cells[0], time=Interval(1.5, nan, inf))]
    (row,) = rows("linux-x64", replace(report, cases=[replace(case, cells=cells)]))
    assert row.steady_ns_per_unit == 1.5
    assert (row.steady_ns_per_unit_low, row.steady_ns_per_unit_high) == (None, None)


@pytest.fixture(scope="module")
def claimed() -> Report:
    return analyse(make())


def test_each_row_has_published_value_band_interval_and_word(claimed: Report) -> None:
    found = export_of([("here", claimed)]).claims
    shown = [row for group in claimed.claims[0].groups for row in group.rows]
    assert [one.row for one in found] == [row.name for row in shown]
    small = found[1]
    assert (small.claim, small.key) == ("modes", True)
    assert (small.published, small.word) == (2.0, "smaller than published")
    assert (small.base, small.new) == ("read/fast", "read@mode=small/fast")
    assert (small.kind, small.published_low, small.published_high) == ("ratio", 1.95, 2.05)
    assert (small.same_low, small.same_high) == pytest.approx((1.95 / 1.02, 2.05 * 1.02))
    assert (small.allowed_low, small.allowed_high) == pytest.approx((1.561, 2.936), rel=1e-3)
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
    assert export_model().model_validate_json(text) == export_of([("here", claimed)])
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
    with refused("the run measured no published claims"):
        text_of(example.reports(), "claims-csv")


def test_what_is_left_out_is_told_by_reason(report: Report) -> None:
    tracked = [*rows("a", report), *rows("b", report)]
    few = list(rows("a", synthetic.build(cases=14, blocks=9)))
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
    assert formats.untracked([row for row in tracked if row.outcome == "ok"]) == ""


def test_a_time_without_bounds_has_no_range() -> None:
    ends = {"cold_ns_low": None, "cold_ns_high": None, "runtime_version": None}
    (entry,) = json.loads(formats.render_gha_benchmark([PLAIN.model_copy(update=ends)]))
    assert "range" not in entry
    assert "node of unknown version" in entry["extra"]


ODD = st.text(max_size=20) | st.text("=+-@'\t\r\n\",;% \0\uff1d\u00e9\U0001f600", max_size=8)
NUMBER = st.none() | st.floats(allow_nan=False, allow_infinity=False)
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
    assert read(formats.render_csv(row_model(), rows)) == shown


@pytest.mark.parametrize("kind", ["suite", "compare"])
def test_whole_reports_come_back_as_they_were(kind: str) -> None:
    build = synthetic.build if kind == "suite" else synthetic.build_compare
    reports = [("linux-x64", build(cases=14)), ("macos-arm64", build(cases=6, seed=2))]
    found = export_of(reports)
    assert read(text_of(reports, "csv")) == found.rows
    assert export_model().model_validate_json(text_of(reports, "json")) == found


@given(odd_rows())
def test_no_text_is_a_formula_to_a_spreadsheet(row: Row) -> None:
    (record,) = csv.DictReader(io.StringIO(formats.render_csv(row_model(), [row]), newline=""))
    for name, value in record.items():
        if isinstance(getattr(row, name), str):
            assert not value.startswith(tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"))


def test_a_number_below_0_stays_one() -> None:
    row = PLAIN.model_copy(update={"overhead_ns_per_unit": -1.5e-07})
    assert ",-1.5e-07," in formats.render_csv(row_model(), [row])
