"""Fixtures for all of the harness's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from sqlitmus.vocabulary import paths
from tests.fakes.clone import Clone

# A busy machine is slow, and a test that drew other values than yesterday is no news.
settings.register_profile("sqlitmus", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("sqlitmus")


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Clone]:
    """A temporary catalogue; skipped with the reason where hyperfine is not set up."""
    tools = paths.tools()
    if "hyperfine" not in tools.paths:
        pytest.skip(f"hyperfine: {tools.missing.get('hyperfine', 'not set up; run ./just setup')}")
    made = Clone.make(tmp_path)
    yield made
    left = made.alive()
    assert not left, f"fakes left behind: {left}"
