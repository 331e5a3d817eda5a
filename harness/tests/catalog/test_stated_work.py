"""The work that each scenario states which writes: it fits the pools, the resets and the rounds."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlitmus.catalog import definitions, fixture, jobs
from sqlitmus.catalog.cases import VERIFIED, PlannedCase, make_case
from sqlitmus.catalog.scenario import Scenario
from sqlitmus.run.plan.counts import Observed, Turning, allocate, work

KNOWN = definitions.load()
WRITING = [
    name
    for name, spec in KNOWN.scenarios.items()
    if spec.writes and spec.metric == "steady" and not spec.fixed
]
PILOTED = [mode for mode in KNOWN.modes.values() if mode.pilot]


def planned(spec: Scenario, name: str) -> Iterator[PlannedCase]:
    """Each case of a scenario."""
    for values in itertools.product(*spec.axes.values()):
        axes = dict(zip(spec.axes, map(str, values), strict=True))
        yield make_case(name, axes, KNOWN, KNOWN.modes["quick"])


@pytest.mark.parametrize("name", WRITING)
def test_what_writes_states_its_work(name: str) -> None:
    assert all(case.stated for case in planned(KNOWN.scenarios[name], name))


@pytest.mark.parametrize("name", WRITING)
def test_it_is_done_as_stated_whatever_a_pilot_sees(name: str) -> None:
    for case, mode, ns in itertools.product(
        planned(KNOWN.scenarios[name], name), PILOTED, (1e3, 1e6, 1e9)
    ):
        seen = Observed(seconds=0.1, processes=1, window_ms=0, operation_ns=ns)
        for turning in (None, Turning(mode.rounds, 20, mode.lap_ms)):
            made = work(case, [seen], mode, turning)
            counts = allocate(case, {"a": seen}, mode, {}, made, turning)["a"]
            assert counts.operations * counts.warmup_iterations == case.warmup_operations
            assert counts.operations * counts.iterations == case.timed_operations
            if case.reset_every:
                assert case.reset_every % counts.operations == 0


@pytest.mark.parametrize("name", WRITING)
def test_a_reset_falls_between_two_iterations_without_a_pilot_too(name: str) -> None:
    for case in planned(KNOWN.scenarios[name], name):
        assert not case.reset_every or case.reset_every % case.operations == 0


@pytest.mark.parametrize("size", ["m", "l"])
@pytest.mark.parametrize("name", ["upsert", "delete-pk"])
def test_no_row_is_written_twice_where_that_is_other_work(name: str, size: str) -> None:
    spec = KNOWN.scenarios[name]
    assert spec.fixture
    rows = fixture.rows(KNOWN.fixtures[spec.fixture], size)
    for case in planned(spec, name):
        assert case.warmup_operations
        assert case.timed_operations
        made = jobs.make_job(
            case, KNOWN, mode="measure", cell="a/b", database=Path("x"), size=rows, output=Path("y")
        )
        (step,) = made.steps
        assert step.parameters
        executed = made.reset_every or case.warmup_operations + case.timed_operations
        keys = [row[0] for row in step.parameters.rows[: executed * step.repeat]]
        assert len(set(keys)) == executed * step.repeat


MOST_ROWS = 5_000_000  # the oracle, Python's sqlite3, gives a digest of some 200,000 in a second


@pytest.mark.parametrize("name", KNOWN.scenarios)
def test_the_oracle_can_answer_a_whole_pool(name: str) -> None:
    for step in KNOWN.scenarios[name].steps:
        limit = re.search(r"LIMIT (\d+)", step.sql or "")
        assert min(step.pool, VERIFIED) * int(limit[1] if limit else 1) <= MOST_ROWS
