"""What a process does in its iterations: other operations are wrong, and all their time counts."""

import re

import pytest

from sqlitmus.machine import system
from tests.cli.calling import data, together
from tests.fakes.clone import Clone

ITERATION_NS = 1_000_000  # of the fakes
RUN = ("run", "--size", "s", "--seed", "5", "--blocks", "1")
SCHEMES = pytest.mark.parametrize("scheme", ["process", pytest.param("relay", marks=together)])
FIRST = "; that is the answer to the first iteration"
REPEATED = f"iteration 1 (operations 4 to 7): checksum N; the oracle has N{FIRST}"
OTHERS = {
    "starts-again": REPEATED,
    "skips-a-row": "iteration 0 (operations 0 to 3): checksum N; the oracle has N",
    "repeats-its-answer": REPEATED,
}


def with_others(clone: Clone) -> None:
    """A runner that does what it should, and each of the others."""
    clone.runner("honest")
    for behaviour in OTHERS:
        clone.runner(behaviour, behaviour)


@SCHEMES
def test_other_operations_are_wrong(clone: Clone, scheme: str) -> None:
    with_others(clone)
    done = clone.sqlitmus(*RUN, "--mode", "relayed", "--scheme", scheme, "--reference", "honest")
    assert done.code == 5
    assert clone.outcomes() == {"honest": "ok", **dict.fromkeys(OTHERS, "wrong")}
    reasons = {s.runner: s.reason for s in clone.samples() if s.outcome != "ok"}
    told = {
        name: re.sub(r"(checksum|has) \d+", r"\1 N", text or "") for name, text in reasons.items()
    }
    assert told == OTHERS
    # verification alone would not have shown it
    assert {verified.outcome for verified in clone.latest().verified()} == {"ok"}


def test_other_operations_are_wrong_in_the_pilot(clone: Clone) -> None:
    with_others(clone)
    done = clone.sqlitmus(*RUN, "--mode", "piloted", "--reference", "honest")
    assert done.code == 5
    wrong = re.findall(r"get/(\S+): wrong in the pilot: iteration ", done.err)
    assert {"starts-again", "skips-a-row"} <= {*wrong}


@together
def test_a_runner_that_makes_no_checkpoints_fails_and_others_show_theirs(clone: Clone) -> None:
    clone.write("scenarios/logged.toml", data("logged.toml"))
    clone.runner("honest")
    clone.runner("other", "stops-checkpointing")
    done = clone.sqlitmus(*RUN, "--mode", "relayed", "--case", "logged", "--reference", "honest")
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


@SCHEMES
def test_a_cost_that_comes_in_every_seventh_iteration_is_in_the_result(
    clone: Clone, scheme: str
) -> None:
    """A collection, a checkpoint: it is part of what an operation costs."""
    clone.runner("honest", "steady")
    clone.runner("collects", "collects=7")
    file = clone.root / "scenarios/modes.toml"
    clone.write("scenarios/modes.toml", file.read_text("utf-8") + SEVENS)
    options = ("--mode", "sevens", "--scheme", scheme, "--blocks", "2", "--reference", "honest")
    # with one processor nothing is bound, and what others took of it is not taken off
    with system.pinned(system.allowed()[0] if system.allowed() else None):
        done = clone.finish(clone.start(*RUN, *options))
    assert done.code == 0, done.err
    steady_ns = clone.values("steady")
    of = [steady_ns[s.position] for s in clone.samples() if s.runner == "collects"]
    assert of == [pytest.approx(ITERATION_NS * 11 / 7)] * 2
    (case,) = clone.analysed().cases
    times = {cell.runner: cell.time.value for cell in case.cells if cell.time}
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
sql = "SELECT id FROM {table} WHERE id >= ? LIMIT 1"
columns = {{ id = "integer" }}
parameters = [{{ type = "integer", generator = "integer", min = 1, max = "size" }}]
pool = {pool}
"""
KINDS = [
    {"pool": 1, "operations": 4, "repeat": 1, "operation": "get", "table": "tiny"},
    {"pool": 2, "operations": 5, "repeat": 1, "operation": "get", "table": "tiny"},
    {"pool": 2, "operations": 5, "repeat": 3, "operation": "get", "table": "tiny"},
    {"pool": 8, "operations": 3, "repeat": 6, "operation": "get", "table": "tiny"},
    {"pool": 8, "operations": 4, "repeat": 1, "operation": "get", "table": "sink"},  # has no rows
    {"pool": 8, "operations": 4, "repeat": 1, "operation": "all", "table": "sink"},
]


def test_a_pool_may_be_as_short_as_it_likes_and_a_table_empty(clone: Clone) -> None:
    text, asked = "", list[str]()
    for number, kind in enumerate(KINDS):
        text += POOLS.format(name=f"pools{number}", **kind)
        asked += ["--case", f"pools{number}"]
    clone.write("scenarios/pools.toml", text)
    clone.runner("honest")
    for mode in ("piloted", "relayed"):
        done = clone.sqlitmus(*RUN, "--mode", mode, "--label", mode, *asked)
        assert done.code == 0, done.err
        assert clone.outcomes() == {"honest": "ok"}
        assert len({sample.case for sample in clone.samples()}) == len(KINDS)


def test_a_pool_without_a_row_is_told_with_its_place(catalogue: Clone) -> None:
    catalogue.runner("honest")
    kind: dict[str, object] = {**KINDS[0], "pool": 0}
    catalogue.write("scenarios/pools.toml", POOLS.format(name="pools", **kind))
    done = catalogue.sqlitmus(*RUN, "--case", "pools")
    assert done.code == 2
    place = "CLONE/scenarios/pools.toml: pools.steps[0].pool: Value error, 0 is no power of two"
    assert place in done.err.replace("\n", " ")
