"""Judges an invocation: its answer, whose it is, its figures, what it left behind and wrote."""

from dataclasses import dataclass
from pathlib import Path

from sqlitmus.catalog import runners
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.machine.limits import limits
from sqlitmus.run import judge, plausible, proof
from sqlitmus.run.belonging import stranger
from sqlitmus.run.bounds.terms import Arrangement
from sqlitmus.run.copies import Copies
from sqlitmus.run.finished import Invocation
from sqlitmus.run.fixtures import Fixtures
from sqlitmus.run.judge import Mode, OracleAnswer
from sqlitmus.run.preparation import PreparedJob, cell
from sqlitmus.run.processes import parts
from sqlitmus.run.proof import Held
from sqlitmus.vocabulary.contract.result import Result
from sqlitmus.vocabulary.plain import shortened
from sqlitmus.vocabulary.terms import Outcome

CANNOT_READ = 2  # the contract's exit code of a job that a runner cannot read
LEAVES_NONE = "A runner ends what it starts: its times and memory lack what others do for it"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome, the reason unless it is ok, and what the file of a writing cell held."""

    outcome: Outcome
    reason: str | None
    held: Held | None = None


class Judging:
    """Judges the invocations of one session."""

    def __init__(self, catalog: Catalog, fixtures: Fixtures, copies: Copies) -> None:
        self._catalog = catalog
        self._fixtures = fixtures
        self._limits = limits()
        self.files = proof.Files(copies)

    def of(
        self,
        case: PlannedCase,
        runner: Installed,
        ready: PreparedJob,
        invocation: Invocation,
        answer: OracleAnswer | None,
        left: str,
        log: Path,
    ) -> Judgement:
        """The judgement of `invocation`, whose messages are in `log`; `left` says what it left
        running, "" for nothing."""
        result = invocation.result
        if result is None and not left and _not_read(ready, invocation):
            # the first line, since hyperfine adds some of its own
            message = next(iter(parts.text(log).strip().splitlines()), "no message")
            judgement = Judgement("unsupported", f"it cannot read the job: {message}")
        elif result is None:
            judgement = Judgement("failed", _broken(ready, invocation, left))
        else:
            judgement = Judgement(*judge.judge(result, answer, ready.required))
            amiss = self._amiss(case, runner, ready.required.mode, invocation, left)
            if amiss and judgement.outcome in ("ok", "unsupported"):
                judgement = Judgement("failed", amiss)
            elif judgement.outcome == "ok" and ready.target:
                judgement = self._prove(ready, result, answer)
        if harm := self._fixtures.harm():
            judgement = Judgement("wrong", harm)
        reason = judgement.reason and shortened(judgement.reason)
        return Judgement(judgement.outcome, reason, judgement.held)

    def _amiss(
        self, case: PlannedCase, runner: Installed, mode: Mode, invocation: Invocation, left: str
    ) -> str | None:
        """Why a result is not the one that was asked for, or its figures cannot be."""
        if left:
            return f"{left}. {LEAVES_NONE}"
        timing, result = invocation.timing, invocation.result
        if result is None or timing is None:
            return None
        if problem := stranger(result, cell(case, runner), runner.description):
            runners.forget(runner)
            return problem
        if mode == "verify" or result.status == "failed":
            return None
        if result.status == "unsupported":
            # the oracle answers questions that it cannot time
            late = f"it was verified, and says unsupported only now: {result.reason}"
            return None if runner.spec.role == "oracle" else late
        return plausible.contradiction(timing, result, self.how(case), self._limits)

    def how(self, case: PlannedCase) -> Arrangement:
        """How a job of `case` is done."""
        return Arrangement.of(case, self._catalog.scenarios[case.scenario])

    def _prove(self, ready: PreparedJob, result: Result, answer: OracleAnswer | None) -> Judgement:
        """Whether the file holds what the runner says that it wrote, and what it holds."""
        assert ready.target is not None
        try:
            held = self.files.held(ready.target, ready.readback, ready.source)
        except proof.Unproven as error:
            return Judgement(error.outcome, str(error))
        short = judge.is_short(result, ready.required)
        outcome, reason = proof.problem(held, result, answer, short=short) or ("ok", None)
        return Judgement(outcome, reason, held)


def _not_read(ready: PreparedJob, invocation: Invocation) -> bool:
    """Whether a runner that is verified said that it cannot read the job."""
    code = invocation.timing and invocation.timing.exit_code
    verified = ready.required.mode == "verify" and ready.file.exists()
    return code == CANNOT_READ and verified and not ready.output.exists()


def _broken(ready: PreparedJob, invocation: Invocation, left: str) -> str:
    """Why there is no result."""
    reason = invocation.problem
    if not ready.file.parent.exists():
        reason = "its process removed the folder of the harness's jobs and databases"
    return "; ".join(filter(None, [reason, left]))
