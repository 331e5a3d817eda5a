"""Warm-up and measured iterations, with what the process used meanwhile."""

import contextlib
import sqlite3
from typing import Any

import system
from job import Job
from verify import verify
from workers import Workers


def measure(job: Job, connection: sqlite3.Connection) -> dict[str, Any]:
    """Counts of one iteration, times of all; raises ValueError where iterations differ."""
    with contextlib.closing(Workers(job, connection)) as workers:
        warmup, measured, answers = _iterate(job, workers)
    figures: dict[str, Any] = {
        "operations": sum(session.operations for session in workers.working),
        **_told(workers.counts()),
        "warmup_ns": warmup,
        "iterations_ns": measured,
        **system.figures(workers.looks[-len(measured) :]),
        "workers": _workers(job, workers, len(measured)),
        "answers": [_told(answer) for answer in answers],
    }
    if job.measure.digest:
        figures["digest"] = verify(job, connection)["digest"]
    return figures


def _told(counts: tuple[int, int, int]) -> dict[str, int]:
    return dict(zip(("rows", "affected", "checksum"), counts, strict=True))


def _iterate(
    job: Job, workers: Workers
) -> tuple[list[int], list[int], list[tuple[int, int, int]]]:
    plan = job.measure
    warmup: list[int] = []
    measured: list[int] = []
    answers: list[tuple[int, int, int]] = []
    first = None
    while len(measured) < plan.iterations:
        warm = len(warmup) >= plan.warmup_iterations and sum(warmup) >= plan.warmup_ns
        if warm and not measured:
            workers.forget()
        (measured if warm else warmup).append(workers.iteration())
        got = workers.counts()
        first = first or got
        if plan.changing:
            answers += [got] if warm else []
            continue
        same = got[1] == first[1] if plan.mixed else got == first
        if not same and not workers.busy():
            number = len(warmup) + len(measured)
            raise ValueError(f"iteration {number} returned {got}, iteration 1 returned {first}")
    return warmup, measured, answers


def _workers(job: Job, workers: Workers, iterations: int) -> list[dict[str, Any]]:
    asked = job.measure
    more = asked.latencies or asked.rate is not None or asked.barrier or job.writer is not None
    if asked.workers == 1 and not more:
        return []
    return [session.figures(iterations, spans=asked.barrier) for session in workers.sessions]
