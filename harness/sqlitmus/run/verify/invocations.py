"""One run of one cell: prepared, started, judged, its log kept where it went wrong."""

import shutil
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path

from bootstrap.guarded import marked
from sqlitmus.catalog import fixture, jobs
from sqlitmus.catalog.cases import Cells, PlannedCase, as_answered, steps_of
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.fixture import Copies, Fixtures
from sqlitmus.catalog.runners import Installed
from sqlitmus.catalog.scenario import Scenario
from sqlitmus.machine.process_tree import Leftovers, told
from sqlitmus.machine.system import limits
from sqlitmus.run.processes import process
from sqlitmus.run.processes.launch import Launcher
from sqlitmus.run.processes.process import Invocation
from sqlitmus.run.verify import judge
from sqlitmus.run.verify.bounds import Arrangement
from sqlitmus.run.verify.judge import Evidence, Mode, OracleAnswer, PreparedJob, Requirements
from sqlitmus.run.verify.proof import Counter, Files, Held, Unproven
from sqlitmus.store.file import Verified
from sqlitmus.vocabulary import contract
from sqlitmus.vocabulary.contract import Job, Level, Result, Share
from sqlitmus.vocabulary.errors import NotFit, SqlitmusError
from sqlitmus.vocabulary.figures import Launch
from sqlitmus.vocabulary.text import ending, file_name
from sqlitmus.vocabulary.verdicts import Outcome


class Unanswered(NotFit):
    """The oracle has no answer to a case: `reason` says why, `log` is the file of what it said."""

    def __init__(self, case: str, reason: str | None, log: str | None, ending: str) -> None:
        self.reason = f"the oracle cannot answer it: {reason}"
        self.log = log
        super().__init__(f"the oracle cannot answer {case}: {reason}\n{ending}".rstrip())


IDLE_S = 45.0  # some systems take out of the page cache what nobody read for a minute


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
        self._read_at: dict[Path, float] = {}

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
                cell=f"{case.id}/{runner.spec.name}",
                database=target,
                size=rows,
                output=output,
                warmup_ms=runner.spec.least_warmup_ms(steps_of(spec, case.axes)),
                engine=runner.spec.engine,
                digest=case.witnessed().operations if digest else 0,
                features=runner.description.features if runner.description else None,
            )
        except (SqlitmusError, ValueError, LookupError, AssertionError) as error:
            reason = f"its job cannot be made: {error}"
            raise Unanswered(case.id, reason, None, "") from error
        if plain:
            job = jobs.question(job)
        if seat is not None:
            measure = job.measure.model_copy(update={"share": Share(of=job.measure.workers)})
            job = job.model_copy(update={"measure": measure})
        readback = job.readback
        # A timed process reads nothing back that the harness can hold against the oracle's: its
        # rows would be most of its memory. What it leaves out at SQLITE_BUSY it alone knows.
        unasked = copy and mode == "measure" and not (digest or job.measure.tolerate_busy)
        if unasked:
            job = job.model_copy(update={"readback": []})
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
            [*dict(job.connection.pragmas).items()],  # the last value of each
            job.connection.engine,
            job.measure.tolerate_busy,
            digest,
            0 if spec.writes else case.walk,
            _left_open(spec, job) | ({"readback"} if unasked else set[str]()),
        )
        launched: list[Level] = ["workers"] if case.processes else []
        levels: frozenset[Level] = frozenset([*contract.levels(job), *launched])
        content = source.name if source else ""
        if case.fixture and not spec.writes:
            content = self._catalog.fixtures[case.fixture].model_dump_json() + self._size
        content += repr(spec.checks) if spec.checks else ""
        question = jobs.question_key(job, content, writes=spec.writes) if plain else ""
        how = Arrangement.of(case, spec, runner.spec)
        self._ready[key] = PreparedJob(
            *(job.cell, file, output, requirements, how),
            *(source, copy, readback, levels, question),
            checks=spec.checks if copy and (mode == "verify" or case.threads > 1) else {},
        )
        return self._ready[key]

    def supply(self, case: PlannedCase, ready: PreparedJob) -> None:
        """The database that the job opens: the fixture as it was built, or a fresh copy of it; in
        the page cache, for else the first process of a set would wait for the disk."""
        if ready.source and not self._fixtures.whole(ready.source):
            self._fixtures.of(case)
        if ready.source and ready.target:
            self._copies.supply(ready.source, ready.target)
        file, now = ready.target or ready.source, time.monotonic()
        if file and now - self._read_at.get(file, -inf) > IDLE_S:
            fixture.into_page_cache(file, fixture.folder_of(file))
            self._read_at[file] = now

    def _copy_of(self, source: Path, place: tuple[str | None, str | None]) -> Path:
        """Where a process at `place`, a seat and a case, finds a copy of `source`; those that are
        alive at once have one each, and all later ones there the same again."""
        if place not in self._places:
            self._places.append(place)
        return self._scratch / f"{self._places.index(place):02d}-{source.name}"


def _left_open(spec: Scenario, job: Job) -> frozenset[str]:
    """What of the answer to `job` depends on the language, or on which worker comes first."""
    together = job.mode == "measure" and job.measure.workers > 1
    parts: set[str] = {*spec.order_decides} if together else set()
    if job.mode == "measure" and any(step.reals != "exact" for step in spec.steps):
        return frozenset(parts | {"checksum", "digest"})
    return frozenset(parts | (set[str]() if spec.ascii_ends else {"checksum"}))


Wal = Sequence[tuple[float, int]]  # ms and bytes


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of one cell, judged; `log` is kept only when the cell went wrong.

    `held` is what the database file of a writing cell held afterwards; `wal` the sizes of its
    write-ahead log meanwhile, (ms, bytes), where they were asked for.
    """

    invocation: Invocation
    outcome: Outcome
    reason: str | None
    log: str | None
    launch: Launch | None = None
    held: Held | None = None
    wal: Wal = ()


Asked = tuple[str, int, int]


def asked(case: PlannedCase) -> Asked:
    """What the oracle is asked by `case`."""
    return case.id, case.operations, case.warmup_iterations + case.iterations


@dataclass(frozen=True, slots=True)
class Answers:
    """Verifications by (case id, runner), and the oracle's answers by case id, operations, and how
    many iterations a writer beside them has; `silences` are those that it could not give.
    """

    records: dict[tuple[str, str], Verified]
    expected: dict[Asked, OracleAnswer | None]
    silences: dict[Asked, Unanswered]

    def of(self, case: PlannedCase, *, digest: bool = False) -> OracleAnswer | None:
        """The oracle's answer for a process with the counts of `case`, which it was asked; with
        `digest` for one that gives a digest, too."""
        answer = self.expected[asked(case.answered())]
        witness = self.expected[asked(case.witnessed())] if digest else None
        if answer is None or witness is None:
            return answer
        return answer.model_copy(update={"digest": witness.digest})

    def result_of(
        self,
        case: PlannedCase,
        name: str,
        attempt: Attempt,
        where: str,
        say: Callable[[str], None] = lambda _: None,
    ) -> Result | None:
        """The result of a later process of a cell whose answer was right; None if that one went
        wrong, which is recorded and told, with `where`."""
        if attempt.outcome == "ok":
            return attempt.invocation.result
        say(f"{case.id}/{name}: {attempt.outcome} {where}: {attempt.reason}")
        self.change(case, name, attempt.outcome, f"{where}: {attempt.reason}", attempt.log)
        return None

    def change(
        self, case: PlannedCase, name: str, outcome: Outcome, reason: str | None, log: str | None
    ) -> None:
        """What has become of a cell whose answer was right."""
        changes = {"outcome": outcome, "reason": reason, "log": log}
        self.records[case.id, name] = self.records[case.id, name].model_copy(update=changes)

    def fit(self, cells: Cells) -> Cells:
        """The cells that may be timed, because their answer was right."""
        return {
            case: [n for n in names if self.records[case, n].outcome == "ok"]
            for case, names in cells.items()
        }


@dataclass(frozen=True, slots=True)
class Begun:
    """A run of a cell that is about to start: the files of its job, its log, its environment."""

    case: PlannedCase
    runner: Installed
    ready: PreparedJob
    log: Path
    environment: dict[str, str]

    @property
    def command(self) -> list[str]:
        return [*self.runner.command, "--job", str(self.ready.file)]


class Invocations:
    """Runs cells of one session, in a scratch folder that is removed and logs that are kept.

    Without `keep_jobs` the jobs of what goes wrong are not: they hold values of a user's database.
    """

    def __init__(
        self,
        catalog: Catalog,
        executor: process.Hyperfine,
        launcher: Launcher,
        leftovers: Leftovers,
        counter: Counter,
        *,
        size: str,
        timeout_s: float,
        scratch: Path,
        pins: list[int],
        keep_jobs: bool,
        say: Callable[[str], None],
    ) -> None:
        self.counter = counter
        self.executor = executor
        self.fixtures = Fixtures(catalog, size, say)
        self.leftovers = leftovers
        self._keep_jobs = keep_jobs
        self._timeout_s = timeout_s
        self._scratch = scratch
        self.logs = scratch / "logs"
        self.logs.mkdir()
        self._launcher = launcher
        self._scenarios = catalog.scenarios
        self._pins = pins
        copies = Copies()
        self._preparation = Preparation(catalog, self.fixtures, copies, size, scratch)
        self._limits = limits()
        self.files = Files(copies)

    def keep_logs(self, folder: Path) -> None:
        """Move the logs to `folder`, and write later ones there."""
        for file in self.logs.iterdir():
            shutil.move(file, folder / file.name)
        self.logs = folder

    def question_of(self, case: PlannedCase, oracle: Installed) -> str:
        """What the oracle is asked by `case`, as a hash: equal ones have one answer. Raises
        Unanswered where its job cannot be made."""
        return self._preparation.job(case, oracle, "verify", plain=True).question

    def ask_oracle(self, case: PlannedCase, oracle: Installed) -> OracleAnswer:
        """The oracle's answer to `case`; raises Unanswered when it has none."""
        attempt = self.attempt(case, oracle, "verify", None, plain=True)
        result = attempt.invocation.result
        if attempt.outcome != "ok" or result is None or result.digest is None:
            log = self.logs / Path(attempt.log).name if attempt.log else None
            words = ending(process.output(log), str(log)) if log else ""
            raise Unanswered(case.id, attempt.reason, attempt.log, words)
        held = attempt.held
        return OracleAnswer(
            **{name: getattr(result, name) for name in ("answers", *judge.COMPARED)},
            written=held and held.digest,
            failing={name: of.rows for name, of in held.failing.items()} if held else {},
        )

    def attempt(
        self,
        case: PlannedCase,
        runner: Installed,
        mode: Mode,
        answer: OracleAnswer | None,
        *,
        plain: bool = False,
        digest: bool = False,
        counted: bool = False,
    ) -> Attempt:
        """Run the cell of `case` and `runner` once, its syncs `counted` or not, and judge it.

        `plain` asks without the runner's own settings. With `digest`, the first operations come
        once more, and every value is in their digest.
        """
        begun = self.begin(case, runner, mode, plain=plain, digest=digest, counted=counted)
        cut = not plain and any(step.nul for step in self._scenarios[case.scenario].steps)
        if reason := runner.beyond(begun.ready.levels) or (cut and runner.ends_at_nul()) or None:
            return Attempt(Invocation(None, None, reason), "unsupported", reason, None)
        invocation, launch, wal = self._start(begun)
        left = self.leftovers.end().values()
        return replace(self.judged(begun, invocation, answer, left, launch), wal=wal)

    def types(self, case: PlannedCase, runner: Installed, oracle: Installed) -> str | None:
        """How the types of the values in the wrong answer of a cell differ from the oracle's."""
        self._scratch.mkdir(parents=True, exist_ok=True)  # a runner may have removed it
        ready = self._preparation.job(case, runner, "verify")
        job = Job.model_validate_json(ready.file.read_bytes())

        return judge.of_types(job, *(partial(self._answer, runner=who) for who in (runner, oracle)))

    def _answer(self, job: Job, runner: Installed) -> Result | None:
        """The answer to a job that is no cell's, None for none."""
        file, output = (self._scratch / f"question.{name}" for name in ("job.json", "result.json"))
        changed = job.model_copy(update={"output": str(output)})
        file.write_bytes(changed.text().encode())
        command = [*runner.command, "--job", str(file)]
        log = file.with_suffix(".log")
        invocation = self._invoke(command, marked(runner.environment), output, log)
        self.leftovers.end()
        result = invocation.result
        return result if result and result.status == "ok" else None

    def begin(
        self,
        case: PlannedCase,
        runner: Installed,
        mode: Mode,
        *,
        plain: bool = False,
        digest: bool = False,
        seat: str | None = None,
        several: bool = False,
        counted: bool = False,
    ) -> Begun:
        """Prepare a run of the cell: files in place, its database supplied.

        With a `seat` it takes turns with others, also with those of `several` cases, and has files
        of its own.
        """
        for folder in (self._scratch, self.logs):  # a runner may have removed them
            folder.mkdir(parents=True, exist_ok=True)
        ready = self._preparation.job(
            case, runner, mode, plain=plain, digest=digest, seat=seat, several=several
        )
        self._preparation.supply(case, ready)
        names = [case.id, runner.spec.name, *([] if seat in (None, runner.spec.name) else [seat])]
        log = self.logs / ".".join([*map(file_name, names), mode, "log"])
        steady = mode == "measure" and case.metric != "cold"
        extra = runner.spec.steady_environment if steady else {}
        environment = marked({**runner.environment, **extra})
        if counted and ready.target:
            environment |= self.counter.preloaded(ready.target)
        return Begun(case, runner, ready, log, environment)

    def judged(
        self,
        begun: Begun,
        invocation: Invocation,
        answer: OracleAnswer | None,
        left: Collection[str],
        launch: Launch | None = None,
    ) -> Attempt:
        """Judge what was begun; `left` are the names of what it left running."""
        ready, log = begun.ready, begun.log
        evidence = Evidence(
            *(begun.runner, ready, invocation, answer, log, self.files, self._limits),
            *(told(left), self.fixtures.harm(), self._keep_jobs),
        )
        outcome, reason = judge.judge(evidence)
        if outcome in ("ok", "unsupported"):
            log.unlink(missing_ok=True)
            held = evidence.held if outcome == "ok" else None
            assert not isinstance(held, Unproven)
            return Attempt(invocation, outcome, reason, None, launch, held)
        files = ((ready.file, "job.json"), (ready.output, "result.json"))
        for file, suffix in files if self._keep_jobs else ():
            process.keep(file, log.with_suffix(f".{suffix}"))
        return Attempt(invocation, outcome, reason, f"logs/{log.name}")

    def _start(self, begun: Begun) -> tuple[Invocation, Launch | None, Wal]:
        """Start what is prepared, which may be looked at meanwhile, and wait until it has ended."""
        case, ready, scenario = begun.case, begun.ready, self._scenarios[begun.case.scenario]
        measured = ready.required.mode == "measure"
        how = begun.command, begun.environment, ready.output, begun.log
        if measured and ready.target and scenario.watch_wal:
            with process.of_log(ready.target, self.executor.kill) as looks:
                invocation = self._invoke(*how)
            return looks.bounded(invocation), None, looks.sizes
        if measured and scenario.memory_limit_mib:
            most = scenario.memory_limit_mib * process.MIB
            kill = self.executor.kill
            with process.of_memory(self.executor.resident, kill, most=most) as looks:
                invocation = self._invoke(*how)
            return replace(looks.bounded(invocation), resident=looks.sizes), None, ()
        if not measured or not case.processes:
            return self._invoke(*how), None, ()
        invocation, launch = self._launcher.launch(
            begun.runner.command,
            Job.model_validate_json(ready.file.read_bytes()),
            processes=case.processes,
            pins=self._pins,
            environment=begun.environment,
            log=begun.log,
            timeout_s=self._timeout_s,
        )
        return invocation, launch, ()

    def _invoke(
        self, command: list[str], environment: dict[str, str], output: Path, log: Path
    ) -> Invocation:
        return process.invoke(self.executor, command, environment, output, log, self._timeout_s)
