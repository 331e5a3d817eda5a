"""A synthetic report for the tests of this folder."""

import pytest

from sqlitmus.report.model import Report
from tests.report import synthetic


@pytest.fixture(scope="session")
def small() -> Report:
    """Fourteen cases, ten runners: every outcome occurs."""
    return synthetic.build(cases=14, blocks=12)
