"""What several tests of statistics need."""

import pytest

from sqlitmus.stats import estimate


def _as_published(_left: int) -> float:
    return 1.0


@pytest.fixture
def plain_yuen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Yuen's error as published, which scipy has, without our factor."""
    monkeypatch.setattr(estimate, "widened", _as_published)
