"""Rows and what each format makes of them."""

import csv
import io
import json
import re
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given, strategies as st
from syrupy.assertion import SnapshotAssertion

from sqlitmus.cli.export import text_of
from sqlitmus.export import formats
from sqlitmus.export.formats import export_of, rows
from sqlitmus.export.model import Row, export_model, row_model
from sqlitmus.vocabulary.text import visible
from tests.analysis.claims import claim_runs
from tests.analysis.runs import analyse, case, make, noisy, plan, samples
from tests.export import example
from tests.export.reading import read
from tests.refusals import refused
from tests.render import synthetic
from tests.render.printing import check_gfm, poisoned
from tests.render.synthetic import Interval, Report

PLAIN = export_of(example.reports()).rows[0]


@pytest.fixture(scope="module")
def report() -> Report:
    """Fourteen cases, ten runners."""
    return synthetic.build(cases=14)


def records(text: str) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(text, newline=""))]


def test_syncs_are_those_of_one_transaction_and_a_bound_that_is_none_is_empty(
    report: Report,
) -> None:
    first, second, third, *_ = report.cases[4].cells
    cells = [synthetic.durable(first, transactions=4, fsync=16, bytes=1000)]
    cells += [replace(second, uncounted="Linux only")]
    cells += [replace(third, outcome="ok", time=Interval(1.5, nan, inf))]
    of = replace(report, cases=[replace(report.cases[4], cells=cells)])
    found = [dict(row) for row in rows("linux-x64", of)]
    names = ("fsync_per_transaction", "fdatasync_per_transaction", "bytes_per_transaction")
    assert [tuple(row[name] for name in (*names, "uncounted")) for row in found] == [
        (4, 0, 250, None),
        (None, None, None, "Linux only"),
        (None, None, None, None),
    ]
    time = [found[2][f"steady_ns_per_unit{end}"] for end in ("", "_low", "_high")]
    assert time == [1.5, None, None]


def test_each_claims_row_has_published_value_band_interval_and_word(
    snapshot: SnapshotAssertion, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = [("here", example.rounded(analyse(claim_runs.make())))]
    text = text_of(reports, "claims-csv")
    assert text == snapshot
    exported = text_of(reports, "json")
    assert export_model().model_validate_json(exported) == export_of(reports)
    assert records(text) == [
        {name: "" if value is None else str(value) for name, value in one.items()}
        for one in json.loads(exported)["claims"]
    ]
    text_of(reports, "csv")
    assert "--format claims-csv has published figures and words" in capsys.readouterr().err
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
def test_csv_comes_back_but_for_what_drives_a_terminal_and_no_text_is_a_formula(
    rows: list[Row],
) -> None:
    text = formats.render_csv(row_model(), rows)
    assert read(text) == [
        row.model_copy(update={k: visible(v) for k, v in dict(row).items() if isinstance(v, str)})
        for row in rows
    ]
    for row, record in zip(rows, records(text), strict=True):
        for name, value in record.items():
            if isinstance(getattr(row, name), str):
                assert not value.startswith(tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"))
            elif name != "axes":
                assert not value.startswith("'")  # a number below 0 stays one


def test_whole_reports_come_back_as_they_were() -> None:
    for build in (synthetic.build, synthetic.build_compare):
        reports = [("linux-x64", build(cases=14)), ("macos-arm64", build(cases=6, seed=2))]
        found = export_of(reports)
        assert read(text_of(reports, "csv")) == found.rows
        assert export_model().model_validate_json(text_of(reports, "json")) == found


# Markdown ----------------------------------------------------------------------------------------


def lines(text: str) -> list[str]:
    """The rows of all tables, without their heads."""
    found = [line for line in text.splitlines() if line.startswith("| `")]
    return [line for line in found if not line.startswith("| case")]


def test_the_reference_comes_first_and_shows_its_time(report: Report) -> None:
    text = formats.render_markdown([("linux-x64", replace(report, reference="bun"))])
    assert text.splitlines()[2].startswith("| case | `bun` | `node` |")
    assert re.match(r"\| `[^`]+` \| [\d.]+\u202fms \| ▼ \*\*1\.", lines(text)[0])
    text = formats.render_markdown([("linux-x64", synthetic.build_compare())])
    assert text.splitlines()[2] == "| case | `node@24.11.0` | `node@26.10.0` |"


def test_tables_keep_their_columns_and_read_no_markup(report: Report) -> None:
    text = formats.render_markdown([("<img> | @team", poisoned(report))])
    check_gfm(text)
    for line in text.splitlines():
        assert not line.startswith("|") or len(re.findall(r"(?<!\\)\|", line)) == 12, line


def test_a_limit_leaves_out_the_last_rows_whole() -> None:
    reports = [(name, synthetic.build(cases=6, runners=3)) for name in ("a", "b")]
    whole = formats.render_markdown(reports)
    rows = lines(whole)
    size = len(whole.encode())
    seen: set[int] = set()
    for limit in (*range(400, size, 97), *range(size - 400, size, 3)):
        text = formats.render_markdown(reports, limit)
        assert len(text.encode()) <= limit
        kept = lines(text)
        assert kept == rows[: len(kept)]
        assert f"Left out for length: {len(rows) - len(kept)} of {len(rows)} rows" in text
        for row in re.findall(r"^### .+\n\n\|.+\n\| --- .+\n(.?)", text, re.MULTILINE):
            assert row == "|", "a table without a row"
        seen.add(len(kept))
    assert seen >= {0, len(rows) - 1}
    # what fits exactly is whole, and nothing is written of what fits in no case
    note = "_Left out for length: 12 of 12 rows; csv and json have all._\n"
    assert formats.render_markdown(reports, len(f"{whole}{note}\n".encode())) == whole
    with refused(r"--limit 20: not even .*; give at least (\d+)") as told:
        formats.render_markdown(reports, 20)
    least = int(str(told.value).split()[-1])
    assert "12 of 12 rows" in formats.render_markdown(reports, least)


# The samples of a comparison as Node has them ----------------------------------------------------


@pytest.fixture(scope="module")
def compared() -> Report:
    """Three cases of two blocks."""
    cases = [
        case("get-pk@a", axes={"workers": "1", "profile": "shipped"}),
        case("get-pk@b", axes={"workers": "2", "profile": "it's"}),
        case("noop"),
    ]
    of = plan(["base", "new"], kind="compare", correction="holm", blocks=2, cases=cases)
    return analyse(make(of, lines=samples(of, noisy({"new": 1.02}))))


def test_it_is_that_of_compare_js(compared: Report) -> None:
    text = formats.render_node_csv(compared)
    head, *lines = text.splitlines()
    assert head == '"binary","filename","configuration","rate","time"'
    assert lines[0].startswith('"old","get-pk","workers=1 profile=\'shipped\'",')
    assert lines[4].startswith('"old","get-pk","workers=2 profile=""it\'s""",')
    found = records(text)
    assert [row["binary"] for row in found] == ["old", "old", "new", "new"] * 3
    times: list[Any] = [ns for c in compared.cases for cell in c.cells for ns in cell.samples]
    assert [float(row["rate"]) for row in found] == pytest.approx([1e9 / ns for ns in times])
    assert [float(row["time"]) for row in found] == pytest.approx([ns / 1e9 for ns in times])


def test_a_case_without_a_time_on_one_side_is_left_out_and_no_name_drives_a_terminal(
    compared: Report,
) -> None:
    first, second, third = compared.cases
    old, new = first.cells
    failed = replace(first, cells=[old, replace(new, outcome="failed", time=None)])
    named = replace(second, scenario="a\x1b[31m\nb")
    text = formats.render_node_csv(replace(compared, cases=[failed, named, third]))
    assert len(text.splitlines()) == len(records(text)) + 1 == 9
    assert "\x1b" not in text


def test_a_suite_is_refused() -> None:
    with refused("no comparison"):
        formats.render_node_csv(synthetic.build(cases=1))
