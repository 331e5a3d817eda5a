"""Verifies each cell against the oracle before anything is timed."""

from dataclasses import dataclass

from sqlitmus.catalog.plan import Case, Cells
from sqlitmus.run.context import Context
from sqlitmus.run.judge import OracleAnswer, Verified
from sqlitmus.run.prober import prove_fresh
from sqlitmus.run.processes import launch


@dataclass(frozen=True, slots=True)
class Answers:
    """Verifications by (case id, runner), and the oracle's answers by (case id, operations)."""

    records: dict[tuple[str, str], Verified]
    expected: dict[tuple[str, int], OracleAnswer | None]

    def fit(self, cells: Cells) -> Cells:
        """The cells that may be timed, because their answer was right."""
        return {
            case: [n for n in names if self.records[case, n].outcome == "ok"]
            for case, names in cells.items()
        }


def verify_cells(context: Context, cases: list[Case], cells: Cells) -> Answers:
    """Verify `cells`; cells that were verified before, with nothing changed, come from memory.

    A runner that does not answer from the database is right in no cell. Stops early, with the
    records so far, when the user asks to stop.
    """
    answers = Answers({}, {})
    total = sum(len(names) for names in cells.values())
    for case in cases:
        for name in cells[case.id]:
            if context.stop.requested:
                return answers
            done = len(answers.records)
            context.progress.step(f"verify {done}/{total}  {case.id}  {name}")
            key, answer = context.key(case, name), oracle_answer(context, case, answers)
            record = context.memory.verified(key)
            if record is None:
                record = _verify(context, case, name, answer)
                context.memory.keep_verified(key, record)
            answers.records[case.id, name] = record
    prove_fresh(context, cases, answers.records)
    return answers


def oracle_answer(context: Context, case: Case, answers: Answers) -> OracleAnswer | None:
    """The oracle's answer to `case` with its number of operations; None without steps.

    The oracle is asked only when neither `answers` nor the memory has its answer.
    """
    at = (case.id, case.operations)
    if at not in answers.expected:
        key = context.key(case, context.oracle.spec.name)
        answer = context.memory.expected(key)
        if answer is None and context.catalog.scenarios[case.scenario].steps:
            answer = context.invocations.ask_oracle(case, context.oracle)
            context.memory.keep_expected(key, answer)
        answers.expected[at] = answer
    return answers.expected[at]


def _verify(context: Context, case: Case, name: str, answer: OracleAnswer | None) -> Verified:
    if case.processes and (reason := launch.unsupported()):
        return Verified(case=case.id, runner=name, outcome="unsupported", reason=reason)
    attempt = context.invocations.attempt(case, context.installed[name], "verify", answer)
    record = Verified(
        case=case.id,
        runner=name,
        outcome=attempt.outcome,
        reason=attempt.reason,
        log=attempt.log,
        command=rerun(case, name),
    )
    result = attempt.invocation.result
    if result is None:
        return record
    fields = {
        "rows": result.rows,
        "affected": result.affected,
        "checksum": result.checksum,
        "readback": result.readback,
        "digest": result.digest,
        "plans": result.plans,
        "pragmas": result.effective.pragmas,
        "engine": result.effective.engine,
    }
    return record.model_copy(update=fields)


def rerun(case: Case, runner: str) -> str:
    """The command that measures this one cell again."""
    return f"./just run --case '{case.id}' --runner {runner}"
