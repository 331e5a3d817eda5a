"""Splits a job among several processes: a job, a result and a log for each."""

from dataclasses import dataclass
from pathlib import Path

from sqlitmus.run import resultfile
from sqlitmus.vocabulary.contract.job import Job, Measure, Share
from sqlitmus.vocabulary.errors import NotFit


@dataclass(frozen=True, slots=True)
class Part:
    """The files of a process: the job it reads, the result it writes, its log."""

    job: Path
    output: Path
    log: Path


@dataclass(frozen=True, slots=True)
class Shared:
    """A whole job and its parts; `measure` is that of each process except for its place."""

    job: Job
    measure: Measure
    parts: list[Part]

    def clear(self) -> None:
        """Remove the files of an earlier invocation."""
        resultfile.clear(Path(self.job.output))
        for part in self.parts:
            resultfile.clear(part.output)
            part.log.unlink(missing_ok=True)

    def join_logs(self, log: Path) -> None:
        """Join the logs of all processes in one file, each under its process's number."""
        sections = [
            f"process {number}:\n{text(part.log).strip()}\n"
            for number, part in enumerate(self.parts)
        ]
        log.write_bytes("".join(sections).encode())


def share(job: Job, processes: int, folder: Path) -> Shared:
    """Split `job`, whose workers are those of all processes, into one job per process in `folder`.

    Raises ValueError for a job that cannot be split: its workers do not divide; it warms up by
    time, which could take different numbers of iterations; or it has statements (reset, a writer)
    that one process would run while others are measuring.
    """
    workers, rest = divmod(job.measure.workers, processes)
    if rest:
        raise ValueError(f"{job.measure.workers} workers cannot be shared by {processes} processes")
    if job.mode != "measure" or job.measure.warmup_ns or job.reset or job.writer:
        raise ValueError(
            "several processes measure only, warm up by iterations, have no reset and no writer"
        )
    measure = job.measure.model_copy(update={"workers": workers, "barrier": True})
    made: list[Part] = []
    for number in range(processes):
        first = Share(first=number * workers, of=job.measure.workers)
        name = f"{Path(job.output).stem}.{number}"
        part = Part(*(folder / f"{name}.{kind}" for kind in ("job.json", "json", "log")))
        changes = {
            "measure": measure.model_copy(update={"share": first}),
            "output": str(part.output),
        }
        try:
            part.job.write_bytes(job.model_copy(update=changes).text().encode())
        except OSError as error:
            raise NotFit(f"{part.job}: job cannot be written: {error.strerror}") from error
        made.append(part)
    return Shared(job, measure, made)


def text(log: Path) -> str:
    """A process's output; empty when it was not started."""
    return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
