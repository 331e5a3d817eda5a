"""The file that Node's compare.R reads: its names, its rates, its lines."""

import csv
import io
from dataclasses import replace

import pytest

from sqlitmus.analysis import analyse
from sqlitmus.export import formats
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.errors import UsageError
from tests.analysis.runs import case, make, noisy, plan, samples
from tests.render import synthetic


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


def rows(report: Report) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(formats.render_node_csv(report)))]


def test_it_is_that_of_compare_js(compared: Report) -> None:
    lines = formats.render_node_csv(compared).splitlines()
    assert lines[0] == '"binary","filename","configuration","rate","time"'
    assert lines[1].startswith('"old","get-pk","workers=1 profile=\'shipped\'",')
    assert lines[5].startswith('"old","get-pk","workers=2 profile=""it\'s""",')
    assert [row["binary"] for row in rows(compared)] == ["old", "old", "new", "new"] * 3
    for row, ns in zip(rows(compared), (ns for c in compared.cases for x in c.cells
                       for ns in x.samples), strict=True):  # fmt: skip
        assert ns is not None
        assert float(row["rate"]) == pytest.approx(1e9 / ns)
        assert float(row["time"]) == pytest.approx(ns / 1e9)


def test_a_case_without_a_time_on_one_side_is_left_out(compared: Report) -> None:
    first, *others = compared.cases
    old, new = first.cells
    failed = replace(first, cells=[old, replace(new, outcome="failed", time=None)])
    assert len(rows(compared)) == 12
    assert len(rows(replace(compared, cases=[failed, *others]))) == 8


def test_a_suite_is_refused() -> None:
    with pytest.raises(UsageError, match="no comparison"):
        formats.render_node_csv(synthetic.build(cases=1))


def test_a_name_cannot_drive_a_terminal(compared: Report) -> None:
    text = formats.render_node_csv(
        replace(compared, cases=[replace(compared.cases[0], scenario="a\x1b[31m\nb")])
    )
    assert "\x1b" not in text
    assert len(text.splitlines()) == 1 + 4
