"""A catalogue of one's own: what it lacks is the clone's."""

import shutil

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
ONE = ("--case", "mine", "--size", "s")


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


def test_its_runners_are_added_to_the_clones(bare: Clone) -> None:
    (bare.root / "runners/python/runner.toml").unlink()
    done = bare.sqlitmus("verify", *ONE, "-r", "a", "-r", "python", "-r", "node")
    assert done.out.splitlines() == ["ok           mine/python", "ok           mine/a"]
    assert done.err.startswith("node: missing: ")


def test_runners_alone_answer_the_clones_scenarios(bare: Clone) -> None:
    for name in ("scenarios", "fixtures", "runners/python"):
        shutil.rmtree(bare.root / name)
    done = bare.sqlitmus("list")
    assert (done.code, done.err) == (0, "")
    assert "get-pk" in done.out


def test_a_list_of_nothing_says_so(bare: Clone) -> None:
    (bare.root / "scenarios/mine.toml").unlink()
    done = bare.sqlitmus("list")
    assert (done.code, done.out, done.err) == (0, "there are none\n", "")


PRESET = '[mine]\ntitle = "mine"\nsummary = "all of it"\ncalls = { %s = 10 }\n'


def test_its_own_presets_decide_its_runs(bare: Clone) -> None:
    bare.runner("b")
    bare.write("scenarios/presets.toml", PRESET % "mine")
    done = bare.sqlitmus("run", *ONE, "--mode", "smoke")
    assert done.code == 0, done.err
    assert (
        "For mine (10 calls of mine per 1,000 requests): nobody is ranked; the run has 1"
        in done.out
    )


def test_a_preset_of_a_case_that_is_not_there_is_refused(bare: Clone) -> None:
    bare.write("scenarios/presets.toml", PRESET % "yours")
    done = bare.sqlitmus("run", *ONE, "--mode", "smoke")
    assert done.code == 2
    assert "presets.toml:4: mine.calls.yours: there is no scenario 'yours'" in done.err


def test_calls_on_the_command_line_stand_in_front(bare: Clone) -> None:
    bare.runner("b")
    done = bare.sqlitmus("run", *ONE, "--mode", "smoke", "--weights", "mine=2")
    assert done.code == 0, done.err
    assert "For your calls (2 calls of mine per 1,000 requests): nobody is ranked" in done.out
    done = bare.sqlitmus("report", "--format", "md", "--out", "-")
    # no preset calls the only case that this catalogue has
    assert "nobody is ranked" not in done.out
    done = bare.sqlitmus("report", "--weights", "yours=1")
    assert (done.code, "there is no case 'yours'" in done.err) == (2, True)
