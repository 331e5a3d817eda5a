"""One connection at work: its loop, its laps and what they come to."""

import dataclasses
import sqlite3
import time
from collections.abc import Iterable
from typing import Any

import histogram
import values
from connection import begin_read
from loops import compile_loop
from parts import Part
from recording import Recording


@dataclasses.dataclass(frozen=True)
class Lap:
    """One iteration of a session: nanoseconds of the clock and of Unix time; counts."""

    begin: int
    end: int
    began_unix: int
    counts: tuple[int, int, int, int]


def summed(counts: Iterable[tuple[int, int, int]]) -> tuple[int, int, int]:
    """Rows, affected rows and checksum of several parts or iterations."""
    rows, affected, checksum = (sum(each) for each in zip(*counts, strict=True))
    return rows, affected, checksum & values.MASK


class Session:
    """A worker's connection or the writer's, which does one part."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.laps: list[Lap] = []
        self.recording = Recording()

    def take(self, connection: sqlite3.Connection) -> None:
        """Work on `connection` from now on."""
        self._connection = connection
        self._loop = compile_loop(self.part, connection)

    def prepare(self) -> None:
        """What precedes the clock of an iteration."""
        if self.part.transaction == "read":
            begin_read(self._connection)

    def lap(self) -> None:
        """One iteration, with what follows its clock."""
        began_unix = time.time_ns()
        begin = time.perf_counter_ns()
        first = len(self.laps) * self.part.stride
        counts = self._loop(first + self.part.begin, first + self.part.end, self.recording)
        end = time.perf_counter_ns()
        self.laps.append(Lap(begin, end, began_unix, counts))
        if self.part.transaction == "read":
            self._connection.execute("COMMIT")

    def forget(self) -> None:
        """Discard what was recorded so far."""
        self.recording = Recording()

    def figures(self, iterations: int, *, spans: bool) -> dict[str, Any]:
        """The result's entry for the last `iterations` iterations."""
        laps = self.laps[-iterations:]
        rows, _, checksum = summed(lap.counts[:3] for lap in self.laps)
        manner = self.part.manner
        told: dict[str, Any] = {
            "role": self.part.role,
            "operations": self.part.operations(len(self.laps)),
            "rows": rows,
            "checksum": checksum,
            "iterations_ns": [lap.end - lap.begin for lap in laps],
            "busy": sum(lap.counts[3] for lap in laps),
        }
        if spans:
            told["spans_us"] = [
                (lap.began_unix / 1000, (lap.began_unix + lap.end - lap.begin) / 1000)
                for lap in laps
            ]
        if manner.latencies:
            told["latencies"] = histogram.pairs(self.recording.latencies)
        if manner.paced:
            told["pacing"] = histogram.pairs(self.recording.pacing)
        return told
