"""Who does an iteration: the main thread alone, or threads with a connection each."""

import contextlib
import dataclasses
import sqlite3
import sys
import threading

import values
from connection import connect
from job import Job
from loops import Manner
from member import Member, Task
from parts import parts, place


class Team:
    """All members. A worker without others is the main thread, any other has a thread of its own.

    Each iteration passes the gate four times: begun by the main thread, all ready, released, done.
    """

    def __init__(self, job: Job, connection: sqlite3.Connection) -> None:
        self._job = job
        self._connection = connection
        self._stopping = False
        self._failure: Exception | None = None
        self.workers = [Member(task, "worker") for task in _working(job)]
        self.members = [*self.workers, *(Member(task, "writer") for task in _writing(job))]
        self._own = self.workers[0] if len(self.workers) == 1 else None
        if self._own:
            self._own.take(connection)
        others = [member for member in self.members if member is not self._own]
        self._gate = threading.Barrier(len(others) + 1)
        self._threads: list[threading.Thread] = []
        for member in others:
            thread = threading.Thread(target=self._work, args=(member,), daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                self.close()
                told = f"{len(self._threads)} of {len(others)} threads could be started"
                raise ValueError(f"{told}: {error}; ask for fewer workers") from error
            self._threads.append(thread)

    def iteration(self) -> int:
        """Perform one iteration; its nanoseconds."""
        for sql in self._job.reset:
            self._connection.execute(sql)
        try:
            self._gate.wait()
            if self._own:
                self._own.prepare()
            self._gate.wait()
            if self._job.measure.barrier:
                _await_release()
            self._gate.wait()
            if self._own:
                self._own.lap()
            self._gate.wait()
        except threading.BrokenBarrierError:
            raise self._failure or ValueError("a worker stopped early") from None
        last = [member.laps[-1] for member in self.members]
        return max(lap.end for lap in last) - min(lap.begin for lap in last)

    def counts(self) -> tuple[int, int, int]:
        """Rows, affected rows and checksum of the workers' last iteration."""
        last = [member.laps[-1].counts for member in self.workers]
        rows, affected, checksum = (sum(counts[k] for counts in last) for k in range(3))
        return rows, affected, checksum & values.MASK

    def busy(self) -> int:
        """Operations that ended with SQLITE_BUSY in all iterations so far."""
        return sum(lap.counts[3] for member in self.members for lap in member.laps)

    def forget(self) -> None:
        """Discard what was recorded while warming up."""
        for member in self.members:
            member.forget()

    def _work(self, member: Member) -> None:
        job = self._job
        try:
            worker = member.role == "worker"
            with contextlib.closing(connect(job, member.task.steps, worker=worker)) as connection:
                member.take(connection)
                while True:
                    self._gate.wait()
                    member.prepare()
                    self._gate.wait()
                    self._gate.wait()
                    member.lap()
                    self._gate.wait()
        except threading.BrokenBarrierError:
            pass
        except Exception as error:  # noqa: BLE001 — told by the main thread
            self._failure = error
            self._gate.abort()

    def close(self) -> None:
        """Let the threads end and close their connections."""
        self._gate.abort()
        for thread in self._threads:
            thread.join()


def _working(job: Job) -> list[Task]:
    asked, (first, of) = job.measure, place(job.measure)
    manner = Manner(asked.latencies, asked.tolerate_busy, asked.rate)
    return [
        Task(job.steps, job.transaction, part, dataclasses.replace(manner, offset=number / of))
        for number, part in enumerate(parts(asked), first)
    ]


def _writing(job: Job) -> list[Task]:
    if job.writer is None:
        return []
    asked, writer = job.measure, job.writer
    manner = Manner(asked.latencies, asked.tolerate_busy, writer.rate)
    return [Task(writer.steps, writer.transaction, (0, writer.operations), manner)]


def _await_release() -> None:
    print("ready", flush=True)
    if not sys.stdin.readline():
        raise ValueError("stdin ended before the iteration was released")
