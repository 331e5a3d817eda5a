"""A trace as it was recorded: its order, its connections, its times."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Scenario
from tests.refusals import refused
from tests.workload.making import workload

pytestmark = pytest.mark.usefixtures("database")

GET = "SELECT title FROM document WHERE id = ?"
ADD = "INSERT INTO word VALUES (?, 1)"
FORGET = "DELETE FROM word WHERE word = ?"
Line = dict[str, object]
Replayed = Callable[..., dict[str, Scenario]]


def at(sql: str, *parameters: object, **more: object) -> Line:
    return {"sql": sql, "parameters": [*parameters], **more}


def many(count: int, *, connections: int = 1, times: bool = False) -> Iterator[Line]:
    """So many requests: a word is added in a transaction, looked for a document, and forgotten."""
    for n in range(count):
        more: Line = {"connection": n % connections}
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


@pytest.fixture
def replayed(write: Callable[[str], Path], catalog: Catalog, heard: list[str]) -> Replayed:
    """The scenarios of a trace with these lines."""

    def of(*lines: Line, workers: int = 1, strict: bool = False) -> dict[str, Scenario]:
        file = write(f'trace = "app.jsonl"\nworkers = {workers}\n')
        text = "\n".join(map(json.dumps, lines))
        (file.parent / "app.jsonl").write_text(text, encoding="utf-8")
        return workload(file, catalog, None if strict else heard.append).scenarios

    return of


def bound(scenario: Scenario) -> list[object]:
    """What each operation of a sequence binds, in order."""
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


def test_requests_come_in_their_order_with_what_they_bound(replayed: Replayed) -> None:
    """Words that the trace itself added can be forgotten, and no query is done too often."""
    lines = [*many(200)]
    made = replayed(*lines)["replay"]
    assert made.sequence
    assert made.sequence.workers == []
    assert len(made.sequence.order) == 128
    rows = [cast("list[object]", line["parameters"]) for line in lines]
    assert bound(made) == [row[0] for row in rows if row][:128]
    whole = ["BEGIN DEFERRED", ADD, "COMMIT"]
    writing = [step.sql for step in made.steps if step.operation in ("execute", "run")]
    assert writing == [*whole, FORGET]
    done = (made.operations, made.warmup_operations, made.timed_operations)
    assert done == (8, 32, 96)


def test_each_connection_is_a_worker_as_far_as_there_are_some(replayed: Replayed) -> None:
    made = replayed(*many(150, connections=3), workers=2)["replay"]
    assert made.sequence
    assert made.sequence.workers == [n % 3 % 2 for n in range(128)]
    assert made.axes["workers"] == ["2"]
    assert made.tolerate_busy


def test_what_only_reads_is_replayed_again_and_again(replayed: Replayed) -> None:
    made = replayed(*(at(GET, n % 50 + 1) for n in range(300)))["replay"]
    assert (made.operations, made.timed_operations, made.writes) == (256, None, False)
    assert bound(made) == [n % 50 + 1 for n in range(256)]


def test_times_are_the_traces_but_for_long_pauses(replayed: Replayed) -> None:
    assert "replay-at-times" not in replayed(*many(150))
    made = replayed(*many(150, times=True))["replay-at-times"]
    assert made.sequence
    gaps = [
        b - a for a, b in zip(made.sequence.planned_us, made.sequence.planned_us[1:], strict=False)
    ]
    assert made.sequence.planned_us[0] == 0
    assert {*gaps[:99], *gaps[100:]} == {1000}
    assert gaps[99] == 20_000
    assert (made.metric, made.latencies, made.fixed) == ("p99", True, True)
    assert (made.operations, made.warmup_iterations, made.iterations) == (64, 1, 1)


def test_requests_that_fail_are_left_out_and_told(replayed: Replayed, heard: list[str]) -> None:
    lines = [*many(150)]
    lines.insert(9, at(ADD, "word 2", connection=0))
    lines.insert(10, at(ADD, "word 2", connection=0))
    made = replayed(*lines)["replay"]
    # it is added, forgotten, and added once more in its transaction
    assert bound(made).count("word 2") == 3
    words = "2 of 152 requests that fail: UNIQUE constraint failed: word.word"
    assert f"replayed without {words}" in heard
    added = [at(ADD, f"new {n or 1}") for n in range(80)]
    with refused("not replayed as recorded: 1 of 160 requests that fail"):
        replayed(*[at(GET, 1)] * 80, *added, strict=True)


def test_few_requests_are_no_replay(replayed: Replayed, heard: list[str]) -> None:
    assert "replay" not in replayed(*many(127))
    assert not [words for words in heard if "replay" in words]
