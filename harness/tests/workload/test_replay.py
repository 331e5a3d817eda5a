"""A trace as it was recorded: its order, its connections, its times."""

from collections.abc import Iterator
from itertools import pairwise
from typing import cast

import pytest

from tests.refusals import refused
from tests.workload.making import Line, Service, Workload, at

pytestmark = pytest.mark.usefixtures("database")

GET = "SELECT title FROM document WHERE id = ?"
ADD = "INSERT INTO word VALUES (?, 1)"
FORGET = "DELETE FROM word WHERE word = ?"


def many(count: int, *, connections: int = 1, times: bool = False) -> Iterator[dict[str, object]]:
    """So many requests: a word is added in a transaction, looked for a document, and forgotten."""
    for n in range(count):
        more: dict[str, object] = {"connection": n % connections}
        more |= {"at": 50 + n * 0.001 + (n > 99)} if times else {}
        word = f"word {n // 3 % 40}"
        if n % 3 == 0:
            yield at("BEGIN", **more)
            yield at(ADD, word, connection=n % connections)
            yield at("COMMIT", connection=n % connections)
        elif n % 3 == 1:
            yield at(GET, n % 50 + 1, **more)
        else:
            yield at(FORGET, word, **more)


def bound(made: Workload) -> list[object]:
    """What each operation of a sequence binds, in order."""
    scenario = made.scenarios["replay"]
    sequence = scenario.sequence
    assert sequence
    ends = [sum(sequence.groups[: n + 1]) for n in range(len(sequence.groups))]
    turns = [0] * len(ends)
    values: list[object] = []
    for group in sequence.order:
        steps = scenario.steps[ends[group] - sequence.groups[group] : ends[group]]
        values += [step.given.rows[turns[group]][0] for step in steps if step.given]
        turns[group] += 1
    return values


def test_requests_come_in_their_order_with_what_they_bound(service: Service) -> None:
    """Words that the trace itself added can be forgotten, and no query is done too often."""
    lines = [*many(200)]
    whole = service.made("", *lines)
    made = whole.scenarios["replay"]
    assert "replay-at-times" not in whole.scenarios
    assert made.sequence
    assert made.sequence.workers == []
    assert len(made.sequence.order) == 128
    rows = [cast("list[object]", line["parameters"]) for line in lines]
    assert bound(whole) == [row[0] for row in rows if row][:128]
    writing = [step.sql for step in made.steps if step.operation in ("execute", "run")]
    assert writing == ["BEGIN DEFERRED", ADD, "COMMIT", FORGET]
    done = (made.operations, made.warmup_operations, made.timed_operations)
    assert done == (8, 32, 96)


def test_each_connection_is_a_worker_as_far_as_there_are_some(service: Service) -> None:
    made = service.made("workers = 2\n", *many(150, connections=3)).scenarios["replay"]
    assert made.sequence
    assert made.sequence.workers == [n % 3 % 2 for n in range(128)]
    assert made.axes["workers"] == ["2"]
    assert made.tolerate_busy


def test_what_only_reads_is_replayed_again_and_again(service: Service) -> None:
    whole = service.made("", *(at(GET, n % 50 + 1) for n in range(300)))
    made = whole.scenarios["replay"]
    assert (made.operations, made.timed_operations, made.writes) == (256, None, False)
    assert bound(whole) == [n % 50 + 1 for n in range(256)]


def test_times_are_the_traces_but_for_long_pauses(service: Service) -> None:
    made = service.made("", *many(150, times=True)).scenarios["replay-at-times"]
    assert made.sequence
    times = made.sequence.planned_us
    gaps = [later - sooner for sooner, later in pairwise(times)]
    assert times[0] == 0
    assert {*gaps[:99], *gaps[100:]} == {1000}
    assert gaps[99] == 20_000
    assert (made.metric, made.latencies, made.fixed) == ("p99", True, True)
    assert (made.operations, made.warmup_iterations, made.iterations) == (64, 1, 1)


def test_requests_that_fail_are_left_out_and_told(service: Service) -> None:
    lines: list[Line] = [*many(150)]
    lines[9:9] = [at(ADD, "word 2", connection=0)] * 2
    # it is added, forgotten, and added once more in its transaction
    assert bound(service.made("", *lines)).count("word 2") == 3
    words = "2 of 152 requests that fail: UNIQUE constraint failed: word.word"
    assert f"replayed without {words}" in service.heard
    added = [at(ADD, f"new {n or 1}") for n in range(80)]
    with refused("not replayed as recorded: 1 of 160 requests that fail"):
        service.made("", *[at(GET, 1)] * 80, *added, strict=True)


def test_few_requests_are_no_replay(service: Service) -> None:
    assert "replay" not in service.made("", *many(127)).scenarios
    assert not [words for words in service.heard if "replay" in words]
