"""The command line within this process: on the clone's own catalogue, or at a desk."""

from functools import partial
from typing import Any, cast

import pytest

from tests.cli.calling import Call, sqlitmus
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """On the clone's own catalogue, or what a test puts in its place."""
    return partial(sqlitmus, capsys, monkeypatch)


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Desk:
    """A desk with the fakes that the module names in RUNNERS."""
    module = cast("Any", request.module)  # pyright: ignore[reportUnknownMemberType]
    for name in module.RUNNERS:
        catalogue.runner(name)
    return Desk.make(catalogue, monkeypatch)


@pytest.fixture
def at_desk(desk: Desk, capsys: pytest.CaptureFixture[str]) -> Call:
    """At the desk of the test's module."""
    return partial(desk.sqlitmus, capsys)
