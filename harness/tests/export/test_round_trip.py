"""What was exported can be read again, to the last digit, whatever the texts are."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.cli.export import text_of
from sqlitmus.export import formats
from sqlitmus.export.model import Row, columns, export_model, row_model
from sqlitmus.export.rows import export_of
from sqlitmus.vocabulary.text import json_text, visible
from tests.export import example
from tests.export.reading import read
from tests.render import synthetic

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
