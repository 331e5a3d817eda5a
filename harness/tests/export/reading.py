"""CSV back to rows, as `docs/exports.md` tells a user to read it."""

import csv
import io
from urllib.parse import parse_qsl

from sqlitmus.export.model import Row, row_model

TEXTS = {name for name, field in Row.model_fields.items() if field.annotation is str}


def read(text: str) -> list[Row]:
    """The rows of a file."""
    return [row(record) for record in csv.DictReader(io.StringIO(text, newline=""))]


def row(record: dict[str, str]) -> Row:
    """One row: nothing is None, except in a column that always has a text."""
    found: dict[str, object] = {
        name: None if value == "" and name not in TEXTS else value.removeprefix("'")
        for name, value in record.items()
    }
    axes = parse_qsl(record["axes"].removeprefix("'"), keep_blank_values=True, separator=";")
    return row_model().model_validate({**found, "axes": dict(axes)})
