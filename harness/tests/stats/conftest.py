"""What several tests of statistics need."""

import pytest

from sqlitmus.stats import estimate


@pytest.fixture
def plain_yuen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Yuen's error as published, which scipy has, without our factor."""
    monkeypatch.setattr(estimate, "widened", lambda _left: 1.0)
