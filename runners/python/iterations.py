"""Warm-up and measured iterations, with what the process used meanwhile."""

import contextlib
import sqlite3
from typing import Any

import system
from job import Job
from session import summed
from verify import verify
from workers import Workers


def measure(job: Job, connection: sqlite3.Connection) -> dict[str, Any]:
    """What the iterations returned, and their times."""
    with contextlib.closing(Workers(job, connection)) as workers:
        warmup, measured, answers = _iterate(job, workers)
    rows, affected, checksum = summed(answers)
    figures: dict[str, Any] = {
        "operations": sum(own.part.operations(len(answers)) for own in workers.working),
        "rows": rows,
        "affected": affected,
        "checksum": checksum,
        "warmup_ns": warmup,
        "iterations_ns": measured,
        **system.figures(workers.looks[-len(measured) :]),
        "workers": _workers(job, workers, len(measured)),
        "answers": answers,
    }
    if job.measure.digest:
        figures["digest"] = verify(job, connection, job.measure.digest)["digest"]
    return figures


def _iterate(job: Job, workers: Workers) -> tuple[list[int], list[int], list[tuple[int, int, int]]]:
    plan = job.measure
    warmup: list[int] = []
    measured: list[int] = []
    answers: list[tuple[int, int, int]] = []
    while len(measured) < plan.iterations:
        warm = len(warmup) >= plan.warmup_iterations and sum(warmup) >= plan.warmup_ns
        if warm and not measured:
            workers.forget()
        (measured if warm else warmup).append(workers.iteration())
        answers.append(workers.counts())
    return warmup, measured, answers


def _workers(job: Job, workers: Workers, iterations: int) -> list[dict[str, Any]]:
    asked = job.measure
    more = asked.latencies or asked.rate is not None or asked.share or job.writer
    more = more or (asked.sequence and asked.sequence.planned_us)
    if asked.workers == 1 and not more:
        return []
    spans = asked.share is not None
    return [session.figures(iterations, spans=spans) for session in workers.sessions]
