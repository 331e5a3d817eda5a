"""Sustained rates of made-up processes: stalls, late machines, rates that nobody holds."""

import dataclasses
import json
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sqlitmus.analysis.sustained import RECORD, of_builds, sustaining
from sqlitmus.catalog import definitions, ladder
from sqlitmus.catalog.ladder import AT_ONCE, Ladder, climbing
from sqlitmus.render.document.sustained import build
from sqlitmus.render.terminal import page as terminal
from sqlitmus.results.estimate import Interval
from sqlitmus.results.report import Runner
from sqlitmus.results.sustained import Build, Sustained, Sustaining
from sqlitmus.run import sustaining as run
from sqlitmus.run.sustaining import Climbed, Probe, probe_of
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.histogram import bucket

MS = 1e6
LIMIT_NS = 10 * MS
RUNGS = ladder.read()


def process(latencies_ns: Any, late_ns: float = 1000.0) -> Any:
    """A result with these latencies, of a machine that was that late."""
    counts = Counter(bucket(int(ns)) for ns in latencies_ns)
    recorded = SimpleNamespace(buckets=sorted(counts.items()))
    pacing = SimpleNamespace(buckets=[(bucket(int(late_ns)), 100)])
    worker = SimpleNamespace(latencies=recorded, pacing=pacing)
    return SimpleNamespace(workers=[worker], cpu_ns=40_000_000)


def open_loop(rate: float, seconds: float, service_ns: float, stall_ns: float = 0.0) -> list[float]:
    """Latencies from planned starts where one thread serves, which stalls once in the middle."""
    planned = np.arange(int(rate * seconds)) / rate * 1e9
    free, latencies = 0.0, list[float]()
    for number, start in enumerate(planned.tolist()):
        free = max(free, start) + service_ns + (stall_ns if number == len(planned) // 2 else 0)
        latencies.append(free - start)
    return latencies


def test_a_stall_shows_in_all_that_had_to_wait_for_it() -> None:
    calm = probe_of(process(open_loop(1000, 2, 20_000)))
    stalled = probe_of(process(open_loop(1000, 2, 20_000, 100 * MS)))
    assert calm.p99 < 0.03 * MS
    # 100 of 2,000 had to wait, from 100 ms down to 1; 20 of them are beyond the 99 %
    assert stalled.p99 == pytest.approx(82 * MS, rel=0.03)
    assert calm.holds(LIMIT_NS) is True
    assert stalled.holds(LIMIT_NS) is False


def test_a_late_machine_tells_nothing() -> None:
    assert Probe(p99=1 * MS, late=0.4 * MS).holds(LIMIT_NS) is True
    assert Probe(p99=1 * MS, late=0.6 * MS).holds(LIMIT_NS) is None
    assert Probe(p99=99 * MS, late=0.6 * MS).holds(LIMIT_NS) is None


def climbed(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[float], Any], blocks: int = 10
) -> Sustaining:
    """What a runner sustains whose processes give `answer` at a rate; None for one that fails."""
    rates = RUNGS.rates
    climber, guess = Climbed("a"), {"a": 20}

    def process_of(_context: Any, _answers: Any, scenario: str, of: Climbed) -> Any:
        rate = 1.0 if scenario == AT_ONCE else rates[int(scenario.removeprefix("rung-"))]
        result = answer(rate)
        if result is None:
            of.outcome, of.reason = "failed", "it crashed"
        return result

    monkeypatch.setattr(run, "_process", process_of)
    nothing: Any = None
    for _ in range(blocks):
        if climber.outcome == "ok":
            run._block(nothing, nothing, RUNGS, climber, guess, LIMIT_NS)  # pyright: ignore[reportPrivateUsage]
    return sustaining([climber], RUNGS, LIMIT_NS)


def test_a_runner_sustains_what_its_service_time_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that takes 100 µs for each cannot do more than 10,000 a second for long."""
    result = climbed(monkeypatch, lambda rate: process(open_loop(rate, 0.5, 100_000)))
    (runner,) = result.runners
    assert runner.rate
    # half a second is too short to build up 10 ms of waiting within 2 % of the capacity
    assert 10_000 / RUNGS.factor < runner.rate.value < 10_000 * 1.021
    assert runner.bound == ""
    assert runner.blocks == 10
    assert runner.cpu_s
    assert runner.cpu_s.value == pytest.approx(40e-3 / RUNGS.at_once * 1e6)


def test_a_rate_that_nobody_sustains_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    result = climbed(monkeypatch, lambda _rate: process([50 * MS] * 100))
    assert result.runners[0].bound == "less than"
    text = " ".join(terminal.render(build(result, "again"), 120, color=False).split())
    assert "less than 500" in text


def test_a_runner_that_sustains_all_rates_is_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    result = climbed(monkeypatch, lambda _rate: process([1000.0] * 100))
    assert result.runners[0].bound == "at least"
    text = " ".join(terminal.render(build(result, "again"), 120, color=False).split())
    assert "at least 24" in text


def test_blocks_of_a_late_machine_are_lost_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    result = climbed(monkeypatch, lambda _rate: process([1000.0] * 100, late_ns=5 * MS), blocks=2)
    (runner,) = result.runners
    assert runner.rate is None
    assert (runner.blocks, runner.lost, runner.void) == (0, 2, 6)
    text = " ".join(terminal.render(build(result, "again"), 120, color=False).split())
    assert "the machine was late in 6 of 6 probes, typically by 5.00 ms; 2 blocks told" in text


def test_a_runner_that_fails_has_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    (runner,) = climbed(
        monkeypatch, lambda rate: None if rate > 3000 else process([1000.0])
    ).runners
    assert (runner.outcome, runner.reason, runner.rate) == ("failed", "it crashed", None)


def test_rungs_differ_in_rate_and_keep_the_mix() -> None:
    catalog = climbing(RUNGS, definitions.load())
    rungs = [spec for name, spec in catalog.scenarios.items() if name != AT_ONCE]
    assert len(rungs) == len(RUNGS.rates)
    for spec, rate in zip(rungs, RUNGS.rates, strict=True):
        assert spec.rate
        assert spec.writer
        assert spec.writer.rate
        assert spec.rate + spec.writer.rate == pytest.approx(rate)
        assert spec.operations / spec.rate == pytest.approx(RUNGS.seconds, rel=0.1)
        assert spec.writer.operations / spec.writer.rate == pytest.approx(RUNGS.seconds, rel=0.1)
    at_once = catalog.scenarios[AT_ONCE]
    assert at_once.rate is None
    assert at_once.writer
    assert at_once.writer.rate is None
    assert at_once.operations + at_once.writer.operations == RUNGS.at_once


def test_a_ladder_needs_a_scenario_with_a_writer() -> None:
    wrong = Ladder.model_validate({**RUNGS.model_dump(), "scenario": "get-pk"})
    with pytest.raises(UsageError, match="get-pk is no scenario with a writer"):
        climbing(wrong, definitions.load())


def test_what_was_sustained_is_told_of_the_same_builds_only() -> None:
    def of(name: str, sqlite: str) -> Sustained:
        rate = Interval(5e4, 4e4, 6e4)
        build_ = Build("1", None, sqlite)
        return Sustained(name, "ok", "", rate, "", None, 10, 0, 60, 0, 1e3, build_)

    record = Sustaining(10e6, 0.95, 1.1, [of("a", "3.54"), of("b", "3.53")], "2026-11-23T10:00:00Z")
    again = RECORD.validate_python(json.loads(json.dumps(dataclasses.asdict(record))))
    assert again == record
    runners = [
        Runner(name, name, name, name, "runner", runtime_version="1", sqlite_version="3.54")
        for name in "abc"
    ]
    same = of_builds(record, runners)
    assert same
    assert [each.runner for each in same.runners] == ["a"]
    assert of_builds(record, runners[1:]) is None
