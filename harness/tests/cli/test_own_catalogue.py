"""A catalogue of one's own: what it lacks is the clone's."""

import pytest

from tests.fakes.clone import Clone

BARE = """
[mine]
title = "Mine"
question = "How long does a row of mine take?"
group = "mine"
bound_by = "driver"
unit = "read"
fixture = "tiny"
operations = 4
axes.workers = [1, 2]

[[mine.steps]]
operation = "get"
sql = "SELECT id FROM tiny WHERE id = ?"
columns = { id = "integer" }
parameters = [{ type = "integer", generator = "integer", min = 1, max = "size" }]
"""
CASE = ("--case", "mine@workers=2", "--size", "s")


@pytest.fixture
def bare(clone: Clone) -> Clone:
    """A catalogue with a scenario, a fixture and a runner, and nothing else."""
    for name in ("profiles", "modes", "suites", "tiny"):
        (clone.root / f"scenarios/{name}.toml").unlink()
    clone.write("scenarios/mine.toml", BARE)
    clone.runner("a")
    return clone


def test_modes_profiles_and_suites_are_inherited(bare: Clone) -> None:
    done = bare.sqlitmus("run", *CASE, "--mode", "smoke")
    assert done.code == 0, done.err
    (case,) = bare.latest().plan().cases
    assert case.workers == 2
    assert case.journal_mode == "wal"
    assert case.notes == [
        "It chooses no profile, so every connection gets the pragmas of `normalised`."
    ]


def test_an_inherited_suite_has_the_scenarios_that_are_there(bare: Clone) -> None:
    done = bare.sqlitmus("verify", "--suite", "smoke", "--size", "s")
    assert done.out.splitlines() == ["ok           mine/a", "ok           mine/python"]
