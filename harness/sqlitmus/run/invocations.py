"""Runs one cell once: database file, job file, log, judgement."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import psutil

from sqlitmus.catalog import fixture, jobs
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Case
from sqlitmus.catalog.runners import Installed
from sqlitmus.run import hyperfine, judge
from sqlitmus.run.judge import Mode, OracleAnswer, Requirements
from sqlitmus.run.processes.launch import Launcher
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Job
from sqlitmus.vocabulary.detail import Launch
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.nouns import ending
from sqlitmus.vocabulary.terms import Outcome


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of one cell, judged; `log` is kept only when the cell went wrong."""

    invocation: hyperfine.Invocation
    outcome: Outcome
    reason: str | None
    log: str | None
    launch: Launch | None = None


@dataclass(frozen=True, slots=True)
class _PreparedJob:
    """The files of a cell's job, and the requirements on its result.

    Jobs stay in files, because those of a large run have hundreds of megabytes of parameters.
    """

    file: Path
    output: Path
    required: Requirements
    copy: tuple[Path, Path] | None  # source and target of the fresh database of a writing case


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
        pins: list[int] | None = None,
    ) -> None:
        self._catalog = catalog
        self.executor = executor
        self._launcher = launcher or Launcher(scratch)
        self._pins = pins or []
        self._size = size
        self._timeout_s = timeout_s
        self._scratch = scratch
        self.logs = logs
        self._ready: dict[tuple[object, ...], _PreparedJob] = {}

    def database(self, case: Case) -> Path | None:
        """The fixture file of `case` in its profile's journal mode, built if absent."""
        name = case.fixture
        if name is None:
            return None
        return fixture.ensure(
            name,
            self._catalog.fixtures[name],
            self._size,
            case.journal_mode,
            paths.cache("fixtures"),
            case.variant.encoding,
        )

    def keep_logs(self, folder: Path) -> None:
        """Move the logs to `folder`, and write later ones there."""
        for file in self.logs.iterdir():
            shutil.move(file, folder / file.name)
        self.logs = folder

    def ask_oracle(self, case: Case, oracle: Installed) -> OracleAnswer:
        """The oracle's answer to `case`; raises NotFit when it has none."""
        attempt = self._perform(case, oracle, "verify", None, plain=True)
        result = attempt.invocation.result
        if attempt.outcome != "ok" or result is None or result.digest is None:
            raise NotFit(
                f"the oracle cannot answer {case.id}, and nothing can be verified without it: "
                f"{attempt.reason}\n{self._log_ending(attempt)}".rstrip()
            )
        return judge.answer_of(result)

    def attempt(
        self,
        case: Case,
        runner: Installed,
        mode: Mode,
        answer: OracleAnswer | None,
        *,
        digest: bool = False,
    ) -> Attempt:
        """Run the cell of `case` and `runner` once and judge it.

        With `digest`, one more iteration after the measured ones has every value in its digest.
        """
        return self._perform(case, runner, mode, answer, plain=False, digest=digest)

    def _perform(
        self,
        case: Case,
        runner: Installed,
        mode: Mode,
        answer: OracleAnswer | None,
        *,
        plain: bool,
        digest: bool = False,
    ) -> Attempt:
        ready = self._prepare(case, runner, mode, plain=plain, digest=digest)
        if ready.copy:
            fixture.fresh_copy(*ready.copy)
        log = self.logs / f"{file_name(case.id)}.{file_name(runner.spec.name)}.{mode}.log"
        steady = mode == "measure" and case.metric == "steady"
        extra = runner.spec.steady_environment if steady else {}
        env = {**runner.environment, **extra}
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
        if invocation.result is None:
            outcome: Outcome = "failed"
            reason = invocation.problem
        else:
            outcome, reason = judge.judge(invocation.result, answer, ready.required)
        if outcome in ("ok", "unsupported"):
            log.unlink(missing_ok=True)
            return Attempt(invocation, outcome, reason, None, launch)
        self._keep_evidence(ready, log)
        return Attempt(invocation, outcome, reason, f"logs/{log.name}")

    def _prepare(
        self, case: Case, runner: Installed, mode: Mode, *, plain: bool, digest: bool
    ) -> _PreparedJob:
        counts = (case.operations, case.iterations, case.warmup_iterations, case.warmup_ms)
        key = (case.id, runner.spec.name, mode, plain, digest, *counts)
        if key in self._ready:
            return self._ready[key]
        spec = self._catalog.scenarios[case.scenario]
        source = self.database(case)
        name = f"{len(self._ready):05d}"
        target = self._scratch / f"{name}.db" if spec.writes else source
        output = self._scratch / f"{name}.result.json"
        rows = fixture.rows(self._catalog.fixtures[case.fixture], self._size) if case.fixture else 0
        job = jobs.make_job(
            case,
            self._catalog,
            mode=mode,
            cell=f"{case.id}/{runner.spec.name}",
            database=target,
            size=rows,
            output=output,
            warmup_ms=runner.spec.warmup_ms,
            engine=runner.spec.engine,
            digest=digest,
        )
        if plain:
            job = jobs.question(job)
        file = self._scratch / f"{name}.job.json"
        try:
            file.write_bytes(job.text().encode())
        except OSError as error:
            raise NotFit(f"{file}: job cannot be written: {error.strerror}") from error
        copy = (source, target) if spec.writes and source and target else None
        requirements = Requirements(
            job.mode,
            job.measure.iterations,
            job.inspect,
            jobs.read_back(job),
            job.connection.engine,
            job.measure.tolerate_busy,
            digest,
        )
        self._ready[key] = _PreparedJob(file, output, requirements, copy)
        return self._ready[key]

    def _log_ending(self, attempt: Attempt) -> str:
        """The last lines of a failed attempt's log."""
        log = self.logs / Path(attempt.log).name if attempt.log else None
        return ending(log.read_text("utf-8", "replace"), str(log)) if log and log.exists() else ""

    def _keep_evidence(self, ready: _PreparedJob, log: Path) -> None:
        """Copy job and result beside the log of a cell that went wrong."""
        for file, suffix in ((ready.file, "job.json"), (ready.output, "result.json")):
            if file.exists():
                shutil.copyfile(file, log.with_suffix(f".{suffix}"))


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


def file_name(text: str) -> str:
    """`text` as part of a file's name."""
    return "".join(c if c.isalnum() or c in "-_=," else "_" for c in text)
