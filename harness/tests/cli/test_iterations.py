"""What a process does in its iterations: other operations are wrong, and all their time counts."""

import re

import pytest

from sqlitmus.machine import system
from tests.cli.calling import data, together
from tests.fakes.clone import Clone

ITERATION_NS = 1_000_000  # of the fakes
RUN = ("run", "--size", "s", "--seed", "5", "--blocks", "1", "--reference", "honest")
FIRST = "; that is the answer to the first iteration"


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("starts-again", f"iteration 1 (operations 4 to 7): checksum N; the oracle has N{FIRST}"),
        ("skips-a-row", "iteration 0 (operations 0 to 3): checksum N; the oracle has N"),
        (
            "repeats-its-answer",
            f"iteration 1 (operations 4 to 7): checksum N; the oracle has N{FIRST}",
        ),
    ],
)
@pytest.mark.parametrize("scheme", ["process", pytest.param("relay", marks=together)])
def test_other_operations_are_wrong(clone: Clone, behaviour: str, reason: str, scheme: str) -> None:
    clone.runner("honest")
    clone.runner("other", behaviour)
    done = clone.sqlitmus(*RUN, "--mode", "relayed", "--scheme", scheme, "--case", "get")
    assert done.code == 5
    assert clone.outcomes() == {"honest": "ok", "other": "wrong"}
    (told,) = (each.reason or "" for each in clone.samples() if each.runner == "other")
    assert re.sub(r"(checksum|has) \d+", r"\1 N", told) == reason
    (verified,) = (each for each in clone.latest().verified() if each.runner == "other")
    assert verified.outcome == "ok"  # which alone would not have shown it


@pytest.mark.parametrize("behaviour", ["starts-again", "skips-a-row"])
def test_other_operations_are_wrong_in_the_pilot(clone: Clone, behaviour: str) -> None:
    clone.runner("honest")
    clone.runner("other", behaviour)
    done = clone.sqlitmus(*RUN, "--mode", "piloted", "--case", "get")
    assert done.code == 5
    assert "get/other: wrong in the pilot: iteration " in done.err


LOGGED = data("logged.toml")


@together
def test_a_runner_that_makes_no_checkpoints_fails_and_others_show_theirs(clone: Clone) -> None:
    clone.write("scenarios/logged.toml", LOGGED)
    clone.runner("honest")
    clone.runner("other", "stops-checkpointing")
    done = clone.sqlitmus(*RUN, "--mode", "relayed", "--case", "logged")
    assert done.code == 4
    assert clone.outcomes() == {"honest": "ok", "other": "failed"}
    of = {each.runner: each for each in clone.samples()}
    reason = re.sub(r"\d{3,}", "N", of["other"].reason or "")
    assert reason == (
        "its write-ahead log has N pages and was never begun anew, though its wal_autocheckpoint "
        "is 20: it makes no checkpoints"
    )
    at = of["honest"].position
    written, checkpoints = (clone.values(name)[at] for name in ("written", "checkpoints"))
    # an insert is a page in the log with its 24 bytes, and now and then a page in the database
    assert 4120 < written / 100 < 6000, written
    # 700 inserts are seen, and a checkpoint comes at the 20th or 21st page
    assert 33 <= checkpoints <= 36, checkpoints


SEVENS = """
[sevens]
title = "Sevens"
summary = "28 laps of an iteration, or as many iterations"
blocks = 2
pilot = 0
iterations = [28, 28]
warmup_iterations = 1
warmup_ms = [0, 0]
rounds = 28
"""


@pytest.mark.parametrize("scheme", ["process", pytest.param("relay", marks=together)])
def test_a_cost_that_comes_in_every_seventh_iteration_is_in_the_result(
    clone: Clone, scheme: str
) -> None:
    """A collection, a checkpoint: it is part of what an operation costs."""
    clone.runner("honest", "steady")
    clone.runner("collects", "collects=7")
    file = clone.root / "scenarios/modes.toml"
    clone.write("scenarios/modes.toml", file.read_text("utf-8") + SEVENS)
    options = ("--mode", "sevens", "--scheme", scheme, "--case", "get", "--blocks", "2")
    # with one processor nothing is bound, and what others took of it is not taken off
    with system.pinned(system.allowed()[0] if system.allowed() else None):
        done = clone.finish(clone.start(*RUN, *options))
    assert done.code == 0, done.err
    steady_ns = clone.values("steady")
    of = [steady_ns[s.position] for s in clone.samples() if s.runner == "collects"]
    assert of == [pytest.approx(ITERATION_NS * 11 / 7)] * 2
    report = clone.analysed()
    times = {cell.runner: cell.time.value for cell in report.cases[0].cells if cell.time}
    assert times["collects"] / times["honest"] == pytest.approx(11 / 7, rel=0.005)


POOLS = """
[{name}]
title = "T"
question = "Q?"
group = "reads"
bound_by = "driver"
unit = "read"
fixture = "tiny"
operations = {operations}
axes.profile = ["normalised"]

[[{name}.steps]]
operation = "{operation}"
repeat = {repeat}
sql = "{sql}"
columns = {{ id = "integer" }}
parameters = [{{ type = "integer", generator = "integer", min = 1, max = "size" }}]
pool = {pool}
"""
GET = "SELECT id FROM tiny WHERE id = ?"
NONE = "SELECT id FROM sink WHERE id >= ?"


def test_a_pool_may_be_as_short_as_it_likes_and_a_table_empty(clone: Clone) -> None:
    kinds = [
        (1, 4, 1, "get", GET),
        (2, 5, 1, "get", GET),
        (2, 5, 3, "get", GET),
        (8, 3, 6, "get", GET),
        (8, 4, 1, "get", NONE),  # there are no rows in it
        (8, 4, 1, "all", NONE),
    ]
    text, asked = "", list[str]()
    for number, (pool, operations, repeat, operation, sql) in enumerate(kinds):
        given = {"operations": operations, "repeat": repeat, "operation": operation, "sql": sql}
        text += POOLS.format(name=f"pools{number}", pool=pool, **given)
        asked += ["--case", f"pools{number}"]
    clone.write("scenarios/pools.toml", text)
    clone.runner("honest")
    for mode in ("quick", "piloted", "relayed"):
        done = clone.sqlitmus(*RUN, "--mode", mode, "--label", mode, *asked)
        assert done.code == 0, done.err
        assert clone.outcomes() == {"honest": "ok"}
        assert len({sample.case for sample in clone.samples()}) == len(kinds)


def test_a_pool_without_a_row_is_told_with_its_place(catalogue: Clone) -> None:
    catalogue.runner("honest")
    text = POOLS.format(name="pools", pool=0, operations=1, repeat=1, operation="get", sql=GET)
    catalogue.write("scenarios/pools.toml", text)
    done = catalogue.sqlitmus(*RUN, "--case", "pools")
    assert done.code == 2
    place = "CLONE/scenarios/pools.toml: pools.steps[0].pool: Value error, 0 is no power of two"
    assert place in done.err.replace("\n", " ")
