"""Throughput over numbers of workers."""

from dataclasses import dataclass

from sqlitmus.results.estimate import Interval


@dataclass(frozen=True, slots=True)
class Point:
    """Throughput at a number of workers, operations per second."""

    workers: int
    rate: Interval


@dataclass(frozen=True, slots=True)
class Curve:
    """One runner's throughput over numbers of workers in one parallel scenario."""

    runner: str
    points: list[Point]


@dataclass(frozen=True, slots=True)
class Scaling:
    """Curves of one parallel scenario with its other axes fixed."""

    scenario: str
    title: str
    axes: dict[str, str]
    cores: int
    curves: list[Curve]
