"""A worker or the writer: its loop, its laps and what they come to."""

import dataclasses
import sqlite3
import time
from typing import Any

import histogram
from connection import begin_read
from job import Step
from loops import Manner, compile_loop


@dataclasses.dataclass(frozen=True)
class Lap:
    """One iteration of a member: nanoseconds of the clock and of Unix time; counts."""

    begin: int
    end: int
    began_unix: int
    counts: tuple[int, int, int, int]


@dataclasses.dataclass(frozen=True)
class Task:
    """What a member does in each iteration."""

    steps: list[Step]
    transaction: str
    part: tuple[int, int]
    manner: Manner


class Member:
    """A worker or the writer, with a connection of its own."""

    def __init__(self, task: Task, role: str) -> None:
        self.task = task
        self.role = role
        self.laps: list[Lap] = []
        self.recording = histogram.Recording()

    @property
    def operations(self) -> int:
        """Operations of one iteration."""
        begin, end = self.task.part
        return end - begin

    def take(self, connection: sqlite3.Connection) -> None:
        """Work on `connection` from now on."""
        task = self.task
        self._connection = connection
        self._loop = compile_loop(task.steps, task.transaction, connection, task.manner)

    def prepare(self) -> None:
        """What precedes the clock of an iteration."""
        if self.task.transaction == "read":
            begin_read(self._connection)

    def lap(self) -> None:
        """One iteration, with what follows its clock."""
        began_unix = time.time_ns()
        begin = time.perf_counter_ns()
        counts = self._loop(*self.task.part, self.recording)
        end = time.perf_counter_ns()
        self.laps.append(Lap(begin, end, began_unix, counts))
        if self.task.transaction == "read":
            self._connection.execute("COMMIT")

    def forget(self) -> None:
        """Discard what was recorded so far."""
        self.recording = histogram.Recording()

    def figures(self, iterations: int, *, spans: bool) -> dict[str, Any]:
        """The result's entry for the last `iterations` iterations."""
        laps = self.laps[-iterations:]
        rows, _, checksum, _ = laps[-1].counts
        manner = self.task.manner
        told: dict[str, Any] = {
            "role": self.role,
            "operations": self.operations,
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
        if manner.rate is not None:
            told["pacing"] = histogram.pairs(self.recording.pacing)
        return told
