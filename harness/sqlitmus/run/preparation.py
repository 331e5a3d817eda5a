"""Prepares the cells of a session: job files, requirements, databases."""

from dataclasses import dataclass
from pathlib import Path

from sqlitmus.catalog import fixture, jobs
from sqlitmus.catalog.cases import as_answered
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.catalog.scenario import Scenario
from sqlitmus.run.copies import Copies
from sqlitmus.run.fixtures import Fixtures
from sqlitmus.run.judge import Mode, Requirements
from sqlitmus.vocabulary.contract.job import Job, Readback
from sqlitmus.vocabulary.errors import NotFit, SqlitmusError


class Unanswered(NotFit):
    """The oracle has no answer to a case: `reason` says why, `log` is the file of what it said."""

    def __init__(self, case: str, reason: str | None, log: str | None, ending: str) -> None:
        self.reason = f"the oracle cannot answer it: {reason}"
        self.log = log
        super().__init__(f"the oracle cannot answer {case}: {reason}\n{ending}".rstrip())


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """The files of a cell's job, and the requirements on its result.

    Jobs stay in files, because those of a large run have hundreds of megabytes of parameters.
    """

    file: Path
    output: Path
    required: Requirements
    source: Path | None  # the fixture
    target: Path | None  # its fresh copy, for a case that writes to a file
    readback: list[Readback]


class Preparation:
    """Job files in `scratch`, each written once, and the database that a job finds."""

    def __init__(
        self, catalog: Catalog, fixtures: Fixtures, copies: Copies, size: str, scratch: Path
    ) -> None:
        self._catalog = catalog
        self._fixtures = fixtures
        self._copies = copies
        self._size = size
        self._scratch = scratch
        self._ready: dict[tuple[object, ...], PreparedJob] = {}
        self._places: list[tuple[str | None, str | None]] = []

    def job(
        self,
        case: PlannedCase,
        runner: Installed,
        mode: Mode,
        *,
        plain: bool = False,
        digest: bool = False,
        seat: str | None = None,
        several: bool = False,
    ) -> PreparedJob:
        """The job of a cell; `plain` asks without the runner's own settings. Raises Unanswered.

        With a `seat` it is that of a process that takes turns, also with those of `several` cases,
        and has files of its own.
        """
        counts = (case.operations, case.iterations, case.warmup_iterations, case.warmup_ms)
        key = (case.id, runner.spec.name, mode, plain, digest, seat, several, *counts)
        if key in self._ready and self._ready[key].file.exists():
            return self._ready[key]
        spec = self._catalog.scenarios[case.scenario]
        if plain:
            case = as_answered(case, spec)
        source = self._fixtures.of(case)
        name = f"{len(self._ready):05d}"
        place = (seat, case.id if several else None)
        copy = self._copy_of(source, place) if source and spec.writes and not spec.memory else None
        target = copy or source
        output = self._scratch / f"{name}.result.json"
        rows = fixture.rows(self._catalog.fixtures[case.fixture], self._size) if case.fixture else 0
        try:
            job = jobs.make_job(
                case,
                self._catalog,
                mode=mode,
                cell=cell(case, runner),
                database=target,
                size=rows,
                output=output,
                warmup_ms=runner.spec.warmup_ms,
                engine=runner.spec.engine,
                digest=case.answered().operations if digest else 0,
            )
        except (SqlitmusError, ValueError, LookupError, AssertionError) as error:
            reason = f"its job cannot be made: {error}"
            raise Unanswered(case.id, reason, None, "") from error
        if plain:
            job = jobs.question(job)
        if seat is not None:
            measure = job.measure.model_copy(update={"barrier": True})
            job = job.model_copy(update={"measure": measure})
        file = self._scratch / f"{name}.job.json"
        try:
            file.write_bytes(job.text().encode())
        except OSError as error:
            raise NotFit(f"{file}: job cannot be written: {error.strerror}") from error
        requirements = Requirements(
            job.mode,
            job.measure.operations_per_iteration,
            job.measure.iterations,
            job.inspect,
            jobs.read_back(job),
            job.connection.engine,
            job.measure.tolerate_busy,
            digest,
            0 if spec.writes else case.walk,
            _left_open(spec, job),
        )
        self._ready[key] = PreparedJob(file, output, requirements, source, copy, job.readback)
        return self._ready[key]

    def supply(self, case: PlannedCase, ready: PreparedJob) -> None:
        """The database that the job opens: the fixture as it was built, or a fresh copy of it."""
        if ready.source and not self._fixtures.whole(ready.source):
            self._fixtures.of(case)
        if ready.source and ready.target:
            self._copies.supply(ready.source, ready.target)

    def _copy_of(self, source: Path, place: tuple[str | None, str | None]) -> Path:
        """Where a process at `place`, a seat and a case, finds a copy of `source`; those that are
        alive at once have one each, and all later ones there the same again."""
        if place not in self._places:
            self._places.append(place)
        return self._scratch / f"{self._places.index(place):02d}-{source.name}"


def _left_open(spec: Scenario, job: Job) -> frozenset[str]:
    """What of the answer to `job` depends on the language, or on which worker comes first."""
    together = spec.mixed and job.mode == "measure" and job.measure.workers > 1
    parts = {"rows", "checksum"} if together else set[str]()
    return frozenset(parts | (set[str]() if spec.ascii_ends else {"checksum"}))


def cell(case: PlannedCase, runner: Installed) -> str:
    """The name of a cell in jobs, results and messages."""
    return f"{case.id}/{runner.spec.name}"
