"""Runs one cell once: database file, job file, log, judgement."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from sqlitmus.catalog import fixture, jobs, runners
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Case
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine.leftovers import Leftovers, marked, told
from sqlitmus.machine.limits import limits
from sqlitmus.run import hyperfine, judge, plausible, proof, resultfile
from sqlitmus.run.belonging import stranger
from sqlitmus.run.bounds.terms import Arrangement
from sqlitmus.run.fixtures import Fixtures
from sqlitmus.run.judge import Mode, OracleAnswer, Requirements
from sqlitmus.run.processes.launch import Launcher
from sqlitmus.run.proof import Held
from sqlitmus.run.syncs import Counter
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Job, Readback, Result
from sqlitmus.vocabulary.detail import Launch
from sqlitmus.vocabulary.errors import NotFit, SqlitmusError
from sqlitmus.vocabulary.nouns import ending
from sqlitmus.vocabulary.plain import shortened
from sqlitmus.vocabulary.terms import Outcome

LEAVES_NONE = "A runner ends what it starts: its times and memory lack what others do for it"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of one cell, judged; `log` is kept only when the cell went wrong.

    `held` is what the database file of a writing cell held afterwards.
    """

    invocation: hyperfine.Invocation
    outcome: Outcome
    reason: str | None
    log: str | None
    launch: Launch | None = None
    held: Held | None = None


class Unanswered(NotFit):
    """The oracle has no answer to a case: `reason` says why, `log` is the file of what it said."""

    def __init__(self, case: str, reason: str | None, log: str | None, ending: str) -> None:
        self.reason = f"the oracle cannot answer it: {reason}"
        self.log = log
        super().__init__(f"the oracle cannot answer {case}: {reason}\n{ending}".rstrip())


@dataclass(frozen=True, slots=True)
class _PreparedJob:
    """The files of a cell's job, and the requirements on its result.

    Jobs stay in files, because those of a large run have hundreds of megabytes of parameters.
    """

    file: Path
    output: Path
    required: Requirements
    source: Path | None  # the fixture
    target: Path | None  # its fresh copy, for a case that writes
    readback: list[Readback]


class Invocations:
    """Runs cells of one session, in a scratch folder that is removed and logs that are kept."""

    def __init__(
        self,
        catalog: Catalog,
        executor: hyperfine.Executor,
        *,
        size: str,
        timeout_s: float,
        scratch: Path,
        logs: Path,
        launcher: Launcher | None = None,
        leftovers: Leftovers | None = None,
        pins: list[int] | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._catalog = catalog
        self.executor = executor
        self.fixtures = Fixtures(catalog, size, say)
        self._launcher = launcher or Launcher(scratch)
        self._leftovers = leftovers or Leftovers()
        self._pins = pins or []
        self._size = size
        self._timeout_s = timeout_s
        self._scratch = scratch
        self.logs = logs
        self._ready: dict[tuple[object, ...], _PreparedJob] = {}
        self._limits = limits()
        self.files = proof.Files()

    def keep_logs(self, folder: Path) -> None:
        """Move the logs to `folder`, and write later ones there."""
        for file in self.logs.iterdir():
            shutil.move(file, folder / file.name)
        self.logs = folder

    def ask_oracle(self, case: Case, oracle: Installed) -> OracleAnswer:
        """The oracle's answer to `case`; raises Unanswered when it has none."""
        attempt = self._perform(case, oracle, "verify", None, plain=True)
        result = attempt.invocation.result
        if attempt.outcome != "ok" or result is None or result.digest is None:
            raise Unanswered(case.id, attempt.reason, attempt.log, self._log_ending(attempt))
        written = attempt.held and attempt.held.digest
        return judge.answer_of(result).model_copy(update={"written": written})

    def attempt(
        self,
        case: Case,
        runner: Installed,
        mode: Mode,
        answer: OracleAnswer | None,
        counter: Counter | None = None,
        *,
        digest: bool = False,
    ) -> Attempt:
        """Run the cell of `case` and `runner` once, counted by `counter`, and judge it.

        With `digest`, one more iteration after the measured ones has every value in its digest.
        """
        return self._perform(
            case, runner, mode, answer, plain=False, counter=counter, digest=digest
        )

    def _perform(
        self,
        case: Case,
        runner: Installed,
        mode: Mode,
        answer: OracleAnswer | None,
        *,
        plain: bool,
        counter: Counter | None = None,
        digest: bool = False,
    ) -> Attempt:
        for folder in (self._scratch, self.logs):  # a runner may have removed them
            folder.mkdir(parents=True, exist_ok=True)
        ready = self._prepare(case, runner, mode, plain=plain, digest=digest)
        self._supply(case, ready)
        log = self.logs / f"{_file_name(case.id)}.{_file_name(runner.spec.name)}.{mode}.log"
        steady = mode == "measure" and case.metric == "steady"
        extra = runner.spec.steady_environment if steady else {}
        env = marked({**runner.environment, **extra})
        if counter and ready.target:
            env |= counter.preloaded(ready.target)
        launch = None
        if case.processes and mode == "measure":
            invocation, launch = self._launcher.launch(
                runner.command,
                Job.model_validate_json(ready.file.read_bytes()),
                processes=case.processes,
                pins=self._pins,
                environment=env,
                log=log,
                timeout_s=self._timeout_s,
            )
        else:
            command = [*runner.command, "--job", str(ready.file)]
            invocation = hyperfine.invoke(
                self.executor, command, env, ready.output, log, self._timeout_s
            )
        left, held = told(self._leftovers.end()), None
        if invocation.result is None:
            outcome: Outcome = "failed"
            reason = invocation.problem
            if not self._scratch.exists():
                reason = "its process removed the folder of the harness's jobs and databases"
            reason = "; ".join(filter(None, [reason, left]))
        else:
            outcome, reason = judge.judge(invocation.result, answer, ready.required)
            amiss = self._amiss(case, runner, mode, invocation, left)
            if amiss and outcome in ("ok", "unsupported"):
                outcome, reason = "failed", amiss
            if outcome == "ok" and ready.target:
                outcome, reason, held = self._prove(ready, ready.target, invocation.result, answer)
        if harm := self.fixtures.harm():
            outcome, reason = "wrong", harm
        reason = reason and shortened(reason)
        if outcome in ("ok", "unsupported"):
            log.unlink(missing_ok=True)
            return Attempt(invocation, outcome, reason, None, launch, held)
        self._keep_evidence(ready, log)
        return Attempt(invocation, outcome, reason, f"logs/{log.name}")

    def _supply(self, case: Case, ready: _PreparedJob) -> None:
        """The database that the job opens: the fixture as it was built, or a fresh copy of it."""
        if ready.source and not self.fixtures.whole(ready.source):
            self.fixtures.of(case)
        if ready.source and ready.target:
            fixture.fresh_copy(ready.source, ready.target)

    def _amiss(
        self, case: Case, runner: Installed, mode: Mode, invocation: hyperfine.Invocation, left: str
    ) -> str | None:
        """Why a result is not the one that was asked for, or its figures cannot be."""
        if left:
            return f"{left}. {LEAVES_NONE}"
        timing, result = invocation.timing, invocation.result
        if result is None or timing is None:
            return None
        if problem := stranger(result, _cell(case, runner), runner.description):
            runners.forget(runner)
            return problem
        if mode == "verify" or result.status == "failed":
            return None
        if result.status == "unsupported":
            # the oracle answers questions that it cannot time
            late = f"it was verified, and says unsupported only now: {result.reason}"
            return None if runner.spec.role == "oracle" else late
        how = Arrangement.of(case, self._catalog.scenarios[case.scenario])
        return plausible.contradiction(timing, result, how, self._limits)

    def _prove(
        self, ready: _PreparedJob, file: Path, result: Result, answer: OracleAnswer | None
    ) -> tuple[Outcome, str | None, Held | None]:
        """Whether `file` holds what the runner says that it wrote, and what it holds."""
        try:
            held = self.files.held(file, ready.readback)
        except proof.Unproven as error:
            return error.outcome, str(error), None
        short = judge.is_short(result, ready.required)
        outcome, reason = proof.problem(held, result, answer, short=short) or ("ok", None)
        return outcome, reason, held

    def _prepare(
        self, case: Case, runner: Installed, mode: Mode, *, plain: bool, digest: bool
    ) -> _PreparedJob:
        counts = (case.operations, case.iterations, case.warmup_iterations, case.warmup_ms)
        key = (case.id, runner.spec.name, mode, plain, digest, *counts)
        if key in self._ready and self._ready[key].file.exists():
            return self._ready[key]
        spec = self._catalog.scenarios[case.scenario]
        source = self.fixtures.of(case)
        name = f"{len(self._ready):05d}"
        target = self._scratch / f"{name}.db" if spec.writes else source
        output = self._scratch / f"{name}.result.json"
        rows = fixture.rows(self._catalog.fixtures[case.fixture], self._size) if case.fixture else 0
        try:
            job = jobs.make_job(
                case,
                self._catalog,
                mode=mode,
                cell=_cell(case, runner),
                database=target,
                size=rows,
                output=output,
                warmup_ms=runner.spec.warmup_ms,
                engine=runner.spec.engine,
                digest=digest,
            )
        except (SqlitmusError, ValueError, LookupError, AssertionError) as error:
            reason = f"its job cannot be made: {error}"
            raise Unanswered(case.id, reason, None, "") from error
        if plain:
            job = jobs.question(job)
        file = self._scratch / f"{name}.job.json"
        try:
            file.write_bytes(job.text().encode())
        except OSError as error:
            raise NotFit(f"{file}: job cannot be written: {error.strerror}") from error
        copy = target if spec.writes else None
        requirements = Requirements(
            job.mode,
            job.measure.iterations,
            job.inspect,
            jobs.read_back(job),
            job.connection.engine,
            job.measure.tolerate_busy,
            digest,
        )
        self._ready[key] = _PreparedJob(file, output, requirements, source, copy, job.readback)
        return self._ready[key]

    def _log_ending(self, attempt: Attempt) -> str:
        """The last lines of a failed attempt's log."""
        log = self.logs / Path(attempt.log).name if attempt.log else None
        return ending(log.read_text("utf-8", "replace"), str(log)) if log and log.exists() else ""

    def _keep_evidence(self, ready: _PreparedJob, log: Path) -> None:
        """Copy job and result beside the log of a cell that went wrong."""
        for file, suffix in ((ready.file, "job.json"), (ready.output, "result.json")):
            resultfile.keep(file, log.with_suffix(f".{suffix}"))


def make_scratch() -> Path:
    """This process's folder for jobs and copies, on the fixtures' file system.

    Folders of processes that were killed, so that they could not clean up, are removed.
    """
    for folder in paths.cache("work").iterdir():
        if folder.name.isdigit() and not psutil.pid_exists(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
    scratch = paths.cache("work") / str(os.getpid())
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    return scratch


def _cell(case: Case, runner: Installed) -> str:
    return f"{case.id}/{runner.spec.name}"


def _file_name(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_=," else "_" for c in text)
