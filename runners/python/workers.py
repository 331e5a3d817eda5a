"""Who does an iteration: the main thread alone, or threads with a connection each."""

import contextlib
import sqlite3
import threading

import system
from barrier import await_release
from connection import connect
from job import Job, due
from meeting import Meeting, Stopped
from parts import parts
from session import Session, summed


class Workers:
    """The workers and the writer. A worker without others is the main thread, unless the job says
    otherwise; any other has a thread of its own.

    Each iteration passes the gate four times: begun by the main thread, all ready, released, done.
    """

    def __init__(self, job: Job, connection: sqlite3.Connection) -> None:
        self._job = job
        self._connection = connection
        self._done = 0
        self.sessions = [Session(part) for part in parts(job)]
        self.looks: list[tuple[system.Usage, system.Usage]] = []
        self.working = [own for own in self.sessions if own.part.role == "worker"]
        alone = len(self.working) == 1 and job.measure.thread == "main"
        self._main = self.working[0] if alone else None
        if self._main:
            self._main.take(connection)
        others = [session for session in self.sessions if session is not self._main]
        self._meeting = Meeting(len(others) + 1)
        self._threads: list[threading.Thread] = []
        for session in others:
            thread = threading.Thread(target=self._work, args=(session,), daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                self.close()
                told = f"{len(self._threads)} of {len(others)} threads could be started"
                raise ValueError(f"{told}: {error}; ask for fewer workers") from error
            self._threads.append(thread)

    def iteration(self) -> int:
        """Perform one iteration; its nanoseconds."""
        if due(self._job, self._done * self._job.measure.operations_per_iteration):
            for sql in self._job.reset:
                self._connection.execute(sql)
        self._done += 1
        try:
            self._meeting.gate()
            if self._main:
                self._main.prepare()
            self._meeting.gate()
            if self._job.measure.share:
                await_release()
            before = system.usage()
            self._meeting.gate()
            if self._main:
                self._main.lap()
            self._meeting.gate()
            self.looks.append((before, system.usage()))
        except Stopped:
            raise self._meeting.failure or ValueError("a worker stopped early") from None
        last = [session.laps[-1] for session in self.sessions]
        return max(lap.end for lap in last) - min(lap.begin for lap in last)

    def counts(self) -> tuple[int, int, int]:
        """Rows, affected rows and checksum of the workers' last iteration."""
        return summed(session.laps[-1].counts[:3] for session in self.working)

    def forget(self) -> None:
        """Discard what was recorded while warming up."""
        for session in self.sessions:
            session.forget()

    def _work(self, session: Session) -> None:
        job, part, meeting = self._job, session.part, self._meeting
        try:
            with contextlib.closing(connect(job, part.steps)) as connection:
                session.take(connection)
                while True:
                    meeting.gate()
                    session.prepare()
                    meeting.gate()
                    meeting.gate()
                    session.lap()
                    meeting.gate()
        except Stopped:
            pass
        except Exception as error:  # noqa: BLE001 — told by the main thread
            meeting.end(error)

    def close(self) -> None:
        """Let the threads end and close their connections."""
        self._meeting.end()
        for thread in self._threads:
            thread.join()
