"""A synthetic report for the tests of this folder."""

import pytest

from sqlitmus.results.report import Report
from tests.render import synthetic


@pytest.fixture(scope="session")
def small() -> Report:
    """Fourteen cases, ten runners: every outcome occurs."""
    return synthetic.build(cases=14, blocks=12)


@pytest.fixture(scope="session")
def ab() -> Report:
    """An A/B comparison in twenty-four cases; every verdict occurs."""
    return synthetic.build_compare(cases=24, blocks=12)
