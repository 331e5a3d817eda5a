"""Rows as CSV (RFC 4180, lines ending in a line feed): one header, one line per row.

Numbers are written in full, None as nothing. `axes` is one column, `profile=shipped;rows=10` with
names and values percent-encoded: a column per axis would give each run another header, and files
could not be joined. A text that a spreadsheet could take for a formula gets an apostrophe before
it; so does one that begins with an apostrophe, which makes it possible to undo. A character that
drives a terminal is "?".
"""

import csv
import io
from collections.abc import Iterable
from urllib.parse import quote

from sqlitmus.export import claimed
from sqlitmus.export.model import Row, columns
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.plain import visible

# Full-width forms are formulas in some locales.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20'")


def render(rows: Iterable[Row]) -> str:
    """The whole file."""
    return _file(columns(), (cells(row) for row in rows))


def of_claims(rows: Iterable[claimed.ClaimRow]) -> str:
    """The whole file of the rows of claims."""
    return _file(claimed.columns(), (cells(row) for row in rows))


def _file(header: list[str], rows: Iterable[list[str | float | None]]) -> str:
    return "".join(f"{line(values)}\n" for values in (header, *rows))


def cells(row: Model) -> list[str | float | None]:
    """One row's values, in the order of the columns."""
    values = dict(row)
    if isinstance(row, Row):
        values["axes"] = axes(row.axes)
    return [text(value) if isinstance(value, str) else value for value in values.values()]


def axes(values: dict[str, str]) -> str:
    """Axes in one column."""
    return ";".join(f"{quote(name)}={quote(value)}" for name, value in values.items())


def text(value: str) -> str:
    """A text that no spreadsheet takes for a formula, and that no terminal obeys."""
    value = visible(value)
    return f"'{value}" if value.startswith(FORMULA) else value


def line(values: Iterable[str | float | None]) -> str:
    """One line without its end."""
    buffer = io.StringIO(newline="")
    # its default line end makes the module quote both a line feed and a carriage return
    csv.writer(buffer).writerow(values)
    return buffer.getvalue().removesuffix("\r\n")
