"""From blocks of climbs to the rate that a runner sustains."""

import statistics
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from pydantic import TypeAdapter

from sqlitmus.analysis.claims.series import median
from sqlitmus.catalog.ladder import Ladder
from sqlitmus.results.estimate import Interval
from sqlitmus.results.report import Runner
from sqlitmus.results.sustained import Bound, Build, Sustained, Sustaining
from sqlitmus.run.sustaining import Climbed, rates
from sqlitmus.vocabulary.contract.description import Description

MILLION = 1e6
_NS = 1e9


def sustaining(
    climbed: Sequence[Climbed], ladder: Ladder, limit_ns: float, created: str = ""
) -> Sustaining:
    """All runners, in their order."""
    runners = [_sustained(climber, ladder) for climber in climbed]
    return Sustaining(limit_ns, ladder.reads, ladder.factor, runners, created)


RECORD = TypeAdapter(Sustaining)
"""`sustained.json`."""


def of_builds(record: Sustaining, runners: Sequence[Runner]) -> Sustaining | None:
    """What of `record` is of the very builds of `runners`; None where nothing is."""
    builds = {
        each.name: Build(each.runtime_version, each.driver_version, each.sqlite_version)
        for each in runners
    }
    same = [each for each in record.runners if each.build and builds.get(each.runner) == each.build]
    return replace(record, runners=same) if any(each.rate for each in same) else None


def _build(described: Description) -> Build:
    of = described.identity
    return Build(of.runtime.version, of.driver.version, described.sqlite.version)


def _sustained(climber: Climbed, ladder: Ladder) -> Sustained:
    values = np.array([*rates(climber, ladder)])
    fine = climber.outcome == "ok"
    rate = median(values) if fine and len(values) else None
    bound: Bound = ""
    if rate and rate.value >= ladder.rates[-1]:
        bound = "at least"
    elif rate and rate.value < ladder.rates[0]:
        bound, rate = "less than", Interval(ladder.rates[0], None, None)
    cpu = median(np.array(climber.cpu_ns) * MILLION / _NS) if fine and climber.cpu_ns else None
    return Sustained(
        runner=climber.runner,
        outcome=climber.outcome,
        reason=climber.reason,
        rate=rate,
        bound=bound,
        cpu_s=cpu,
        blocks=len(values),
        lost=len(climber.rungs) - len(values),
        probes=len(climber.late_ns),
        void=climber.void,
        late_ns=statistics.median(climber.late_ns) if climber.late_ns else None,
        build=climber.description and _build(climber.description),
    )
