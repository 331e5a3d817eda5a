"""The command line within this process: on the clone's own catalogue, or at a desk."""

from functools import partial

import pytest

from tests.cli.calling import Call, sqlitmus
from tests.fakes.instant import Desk


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """On the clone's own catalogue, or what a test puts in its place."""
    return partial(sqlitmus, capsys, monkeypatch)


@pytest.fixture
def at_desk(desk: Desk, capsys: pytest.CaptureFixture[str]) -> Call:
    """At the desk of the test's module."""
    return partial(desk.sqlitmus, capsys)
