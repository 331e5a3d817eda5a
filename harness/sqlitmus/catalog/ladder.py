"""Planned rates as scenarios: `scenarios/sustain.toml`, and a scenario for each of its rungs."""

from math import floor, log
from pathlib import Path

from pydantic import Field

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Scenario
from sqlitmus.catalog.tomlfile import whole
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.errors import UsageError

FILE = "sustain.toml"
AT_ONCE = "at-once"


class Ladder(Model):
    """Rates of operations a second, from `least` to at most `most`, each `factor` times the one
    below it. `reads` is the share of operations that read; a probe lasts `seconds`, and `at_once`
    operations are done without a plan.
    """

    scenario: str
    reads: float = Field(gt=0, lt=1)
    least: float = Field(gt=0)
    most: float = Field(gt=0)
    factor: float = Field(gt=1)
    seconds: float = Field(gt=0)
    at_once: int = Field(ge=100)

    @property
    def rates(self) -> list[float]:
        """The rungs, the slowest first."""
        steps = floor(log(self.most / self.least) / log(self.factor) + 1e-9)
        return [self.least * self.factor**step for step in range(steps + 1)]


def read(folder: Path | None = None) -> Ladder:
    """The ladder in `folder`; raises UsageError with file and place."""
    return whole(Ladder, paths.or_clones((folder or paths.SCENARIOS) / FILE))


def rung_name(number: int) -> str:
    """The scenario of the rung of that number, from 0."""
    return f"rung-{number}"


def climbing(ladder: Ladder, catalog: Catalog) -> Catalog:
    """`catalog` with a scenario for each rung, and one that does its operations at once.

    Raises UsageError for a scenario without a writer.
    """
    spec = catalog.scenarios.get(ladder.scenario)
    if spec is None or spec.writer is None:
        raise UsageError(f"{FILE}: scenario: {ladder.scenario} is no scenario with a writer")
    scenarios = {
        rung_name(number): _paced(spec, ladder, rate) for number, rate in enumerate(ladder.rates)
    }
    scenarios[AT_ONCE] = _shaped(spec, ladder, ladder.at_once, None)
    return catalog.model_copy(update={"scenarios": scenarios})


def _paced(spec: Scenario, ladder: Ladder, rate: float) -> Scenario:
    return _shaped(spec, ladder, max(round(rate * ladder.seconds), 20), rate)


def _shaped(spec: Scenario, ladder: Ladder, operations: int, rate: float | None) -> Scenario:
    """The scenario with one reader, and so many operations of both at that rate of both."""
    assert spec.writer
    reads = round(operations * ladder.reads)
    writer = {
        "operations": operations - reads,
        "rate": rate and rate * (1 - ladder.reads),
    }
    return spec.model_copy(
        update={
            "operations": reads,
            "rate": rate and rate * ladder.reads,
            "latencies": rate is not None,
            "writer": spec.writer.model_copy(update=writer),
            "axes": {axis: ["1"] if axis == "workers" else v[:1] for axis, v in spec.axes.items()},
            "overrides": [],
        }
    )
