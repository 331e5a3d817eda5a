"""What columns of every kind of row hold: figures that may be None, texts that are never empty."""

from math import isfinite
from typing import Annotated

from pydantic import AfterValidator, Field


def finite(value: float | None) -> float | None:
    """None for an end that is not bounded: neither JSON nor a spreadsheet has infinity."""
    return value if value is not None and isfinite(value) else None


Number = Annotated[float | None, AfterValidator(finite)]
Text = Annotated[str, Field(min_length=1)]
