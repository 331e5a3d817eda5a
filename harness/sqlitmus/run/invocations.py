"""Runs one cell once: prepared, started, judged, its log kept where it went wrong."""

import shutil
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from bootstrap.guarded import marked
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine.leftovers import Leftovers, told
from sqlitmus.run import difference, hyperfine, judge, resultfile
from sqlitmus.run.attempt import Attempt, Begun
from sqlitmus.run.copies import Copies
from sqlitmus.run.finished import Invocation
from sqlitmus.run.fixtures import Fixtures
from sqlitmus.run.judge import Mode, OracleAnswer
from sqlitmus.run.judging import Judging
from sqlitmus.run.preparation import Preparation, Unanswered
from sqlitmus.run.processes.launch import Launcher
from sqlitmus.run.scratch import file_name
from sqlitmus.run.starter import Starter
from sqlitmus.run.syncs import Counter
from sqlitmus.vocabulary.contract.job import Job
from sqlitmus.vocabulary.contract.result import Result
from sqlitmus.vocabulary.detail import Launch
from sqlitmus.vocabulary.nouns import ending


class Invocations:
    """Runs cells of one session, in a scratch folder that is removed and logs that are kept.

    Without `keep_jobs` the jobs of what goes wrong are not: they hold values of a user's database.
    """

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
        keep_jobs: bool = True,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.executor = executor
        self.fixtures = Fixtures(catalog, size, say)
        self._leftovers = leftovers or Leftovers()
        self._keep_jobs = keep_jobs
        self._timeout_s = timeout_s
        self._scratch = scratch
        self.logs = logs
        launcher = launcher or Launcher(scratch)
        self._starter = Starter(executor, launcher, catalog.scenarios, pins or [], timeout_s)
        copies = Copies()
        self._preparation = Preparation(catalog, self.fixtures, copies, size, scratch)
        self.judging = Judging(catalog, self.fixtures, copies)

    def keep_logs(self, folder: Path) -> None:
        """Move the logs to `folder`, and write later ones there."""
        for file in self.logs.iterdir():
            shutil.move(file, folder / file.name)
        self.logs = folder

    def ask_oracle(self, case: PlannedCase, oracle: Installed) -> OracleAnswer:
        """The oracle's answer to `case`; raises Unanswered when it has none."""
        attempt = self._perform(case, oracle, "verify", None, plain=True)
        result = attempt.invocation.result
        if attempt.outcome != "ok" or result is None or result.digest is None:
            raise Unanswered(case.id, attempt.reason, attempt.log, self._log_ending(attempt))
        written = attempt.held and attempt.held.digest
        return judge.answer_of(result).model_copy(update={"written": written})

    def attempt(
        self,
        case: PlannedCase,
        runner: Installed,
        mode: Mode,
        answer: OracleAnswer | None,
        counter: Counter | None = None,
        *,
        digest: bool = False,
    ) -> Attempt:
        """Run the cell of `case` and `runner` once, counted by `counter`, and judge it.

        With `digest`, the first operations come once more, and every value is in their digest.
        """
        return self._perform(case, runner, mode, answer, counter=counter, digest=digest)

    def types(self, case: PlannedCase, runner: Installed, oracle: Installed) -> str | None:
        """How the types of the values in the wrong answer of a cell differ from the oracle's."""
        self._scratch.mkdir(parents=True, exist_ok=True)  # a runner may have removed it
        ready = self._preparation.job(case, runner, "verify")
        job = Job.model_validate_json(ready.file.read_bytes())

        def of(who: Installed) -> Callable[[Job], Result | None]:
            return lambda question: self._answer(question, who)

        return difference.of_types(job, of(runner), of(oracle))

    def _answer(self, job: Job, runner: Installed) -> Result | None:
        """The answer to a job that is no cell's, None for none."""
        file, output = (self._scratch / f"question.{name}" for name in ("job.json", "result.json"))
        changed = job.model_copy(update={"output": str(output)})
        file.write_bytes(changed.text().encode())
        command = [*runner.command, "--job", str(file)]
        log = file.with_suffix(".log")
        environment = marked(runner.environment)
        invocation = hyperfine.invoke(
            self.executor, command, environment, output, log, self._timeout_s
        )
        self.end_leftovers()
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
        counter: Counter | None = None,
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
        if counter and ready.target:
            environment |= counter.preloaded(ready.target)
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
        judged = self.judging.of(
            begun.case, begun.runner, ready, invocation, answer, told(left), log
        )
        if judged.outcome in ("ok", "unsupported"):
            log.unlink(missing_ok=True)
            return Attempt(invocation, judged.outcome, judged.reason, None, launch, judged.held)
        files = ((ready.file, "job.json"), (ready.output, "result.json"))
        for file, suffix in files if self._keep_jobs else ():
            resultfile.keep(file, log.with_suffix(f".{suffix}"))
        return Attempt(invocation, judged.outcome, judged.reason, f"logs/{log.name}")

    def end_leftovers(self) -> dict[int, str]:
        """End what was left running, and return its names by process."""
        return self._leftovers.end()

    def _perform(
        self,
        case: PlannedCase,
        runner: Installed,
        mode: Mode,
        answer: OracleAnswer | None,
        *,
        plain: bool = False,
        counter: Counter | None = None,
        digest: bool = False,
    ) -> Attempt:
        begun = self.begin(case, runner, mode, plain=plain, digest=digest, counter=counter)
        started = self._starter.start(begun)
        left = self.end_leftovers().values()
        attempt = self.judged(begun, started.invocation, answer, left, started.launch)
        return replace(attempt, wal=started.wal)

    def _log_ending(self, attempt: Attempt) -> str:
        """The last lines of a failed attempt's log."""
        log = self.logs / Path(attempt.log).name if attempt.log else None
        return ending(log.read_text("utf-8", "replace"), str(log)) if log and log.exists() else ""
