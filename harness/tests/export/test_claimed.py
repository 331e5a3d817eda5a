"""Rows of published claims in JSON and as CSV."""

import csv
import io
import json

import pytest

from sqlitmus.analysis import analyse
from sqlitmus.cli.export import text_of
from sqlitmus.export import model
from sqlitmus.export.model import export_model
from sqlitmus.results.report import Report
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError
from tests.analysis.claims.claim_runs import make
from tests.export import example


@pytest.fixture(scope="module")
def report() -> Report:
    return analyse(make())


def test_each_row_has_published_value_band_interval_and_word(report: Report) -> None:
    found = list(model.claim_rows("here", report))
    shown = [row for group in report.claims[0].groups for row in group.rows]
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


def test_csv_has_what_json_has(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    text = text_of([("here", report)], "json")
    assert export_model().model_validate_json(text).claims == list(model.claim_rows("here", report))
    exported = json.loads(text)
    lines = list(csv.DictReader(io.StringIO(text_of([("here", report)], "claims-csv"))))
    assert [list(line) for line in lines] == [list(one) for one in exported["claims"]]
    assert [
        {name: "" if value is None else str(value) for name, value in one.items()}
        for one in exported["claims"]
    ] == lines
    text_of([("here", report)], "csv")
    assert "--format claims-csv has published figures and words" in capsys.readouterr().err


def test_a_run_without_claims_has_none_to_export() -> None:
    assert json.loads(text_of(example.reports(), "json"))["claims"] == []
    with pytest.raises(UsageError, match="the run measured no published claims"):
        text_of(example.reports(), "claims-csv")


def test_the_page_tells_every_column() -> None:
    page = (paths.ROOT / "docs" / "exports.md").read_text("utf-8")
    section = page.partition("## Published claims")[2].partition("\n## ")[0]
    for name in model.claim_columns():
        short = name.removeprefix("ratio") if name.startswith("ratio_") else name
        assert f"`{short}`" in section, name
