"""What several tests of statistics need."""

import pytest

from sqlitmus.stats import estimate


@pytest.fixture
def plain_yuen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Yuen's degrees of freedom as published, which scipy has, without our share of them."""
    monkeypatch.setattr(estimate, "FREEDOM", 1.0)
