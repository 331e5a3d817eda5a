"""Warm-up and measured iterations, with what the process used meanwhile."""

import contextlib
import sqlite3
from typing import Any

import system
from job import Job
from team import Team


def measure(job: Job, connection: sqlite3.Connection) -> dict[str, Any]:
    """Counts of one iteration, times of all; raises ValueError where iterations differ."""
    with contextlib.closing(Team(job, connection)) as team:
        warmup, measured, before = _iterate(job, team)
        after = system.usage()
    rows, affected, checksum = team.counts()
    return {
        "operations": sum(member.operations for member in team.workers),
        "rows": rows,
        "affected": affected,
        "checksum": checksum,
        "warmup_ns": warmup,
        "iterations_ns": measured,
        **system.figures(before, after),
        "workers": _workers(job, team, len(measured)),
    }


def _iterate(job: Job, team: Team) -> tuple[list[int], list[int], system.Usage]:
    plan = job.measure
    warmup: list[int] = []
    measured: list[int] = []
    first = None
    before = system.usage()
    while len(measured) < plan.iterations:
        warm = len(warmup) >= plan.warmup_iterations and sum(warmup) >= plan.warmup_ns
        if warm and not measured:
            team.forget()
            before = system.usage()
        (measured if warm else warmup).append(team.iteration())
        got = team.counts()
        first = first or got
        if got != first and not team.busy():
            number = len(warmup) + len(measured)
            raise ValueError(f"iteration {number} returned {got}, iteration 1 returned {first}")
    return warmup, measured, before


def _workers(job: Job, team: Team, iterations: int) -> list[dict[str, Any]]:
    asked = job.measure
    more = asked.latencies or asked.rate is not None or asked.barrier or job.writer is not None
    if asked.workers == 1 and not more:
        return []
    return [member.figures(iterations, spans=asked.barrier) for member in team.members]
