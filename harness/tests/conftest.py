"""Fixtures for all of the harness's tests."""

import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import settings

from bootstrap.context import make_context
from bootstrap.paths import just_environ, paths_file
from sqlitmus.vocabulary import paths
from tests import left_out
from tests.fakes.clone import Clone
from tests.fakes.instant import Desk

# A busy machine is slow, and a test that drew other values than yesterday is no news.
settings.register_profile("sqlitmus", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("fast", settings.get_profile("sqlitmus"), max_examples=10)
settings.load_profile("sqlitmus")

# Linux's file system in memory, where a sync costs nothing.
MEMORY = Path("/dev/shm")  # noqa: S108 — pytest makes a folder of the user's own in it


def pytest_configure() -> None:
    """Outside `./just`, as an editor starts pytest: the environment that `./just` would give.

    Temporary folders are in memory, where there is room: else the tests wait for syncs mostly.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a worker has one processor
    if sys.platform == "linux" and MEMORY.is_dir():
        here = os.statvfs(MEMORY)
        if here.f_bavail * here.f_frsize > 4 * 2**30 and not here.f_flag & os.ST_NOEXEC:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    if "SQLITMUS_PATHS" in os.environ:
        return
    context = make_context(paths.ROOT)
    file = paths_file(context)
    environ = just_environ(context, file, Path(sys.executable).parent)
    if not file.exists():
        del environ["SQLITMUS_PATHS"]
    os.environ.update(environ)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by the tools that it needs."""
    for item in items:
        if isinstance(item, pytest.Function):
            for mark in left_out.marks(item.fixturenames, vars(item.module)):
                item.add_marker(mark)


def pytest_collection_finish() -> None:
    """Let no garbage collection look at modules and tests: that was a tenth of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Hide the tools from a test that is not marked as needing one."""
    with pytest.MonkeyPatch.context() as patch:
        if not any(item.iter_markers("runner")):
            patch.delenv("SQLITMUS_PATHS", raising=False)
        return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end how many tests were left out, and what sets up the tools that they need."""
    skipped = terminalreporter.stats.get("skipped", [])
    for line in left_out.summary(report.longrepr[2] for report in skipped):
        terminalreporter.write_line(line, yellow=True, bold=True)


@pytest.fixture
def hyperfine_program() -> str:
    """The path of hyperfine."""
    return left_out.tool("hyperfine")


@pytest.fixture
def node() -> str:
    """The path of Node, which runs the page's modules."""
    return left_out.tool("node")


@pytest.fixture
def sync_counter() -> str:
    """The path of the library that counts syncs."""
    return left_out.tool("sync-counter")


@pytest.fixture
def clone(tmp_path: Path, hyperfine_program: str) -> Iterator[Clone]:
    """A temporary catalogue whose runs hyperfine measures."""
    made = Clone.make(tmp_path, hyperfine_program)
    yield made
    left = made.alive()
    assert not left, f"fakes left behind: {left}"


@pytest.fixture
def catalogue(tmp_path: Path) -> Clone:
    """A temporary catalogue without hyperfine: for what is decided, not measured."""
    return Clone.make(tmp_path)


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Desk:
    """A desk with the fakes that the module names in RUNNERS."""
    module = cast("Any", request.module)  # pyright: ignore[reportUnknownMemberType]
    for name in module.RUNNERS:
        catalogue.runner(name)
    return Desk.make(catalogue, monkeypatch)
