"""What is known of the answers to a run's cells: their verifications, and what the oracle says."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlitmus.catalog.planned import Cells, PlannedCase
from sqlitmus.run.attempt import Attempt
from sqlitmus.run.context import Context
from sqlitmus.run.judge import OracleAnswer, Verified
from sqlitmus.run.preparation import Unanswered


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

    def of(self, case: PlannedCase) -> OracleAnswer | None:
        """The oracle's answer for a process with the counts of `case`, which it was asked."""
        return self.expected[asked(case.answered())]

    def give_up(self, case: PlannedCase, names: Sequence[str], silence: Unanswered) -> None:
        """Record the cells of a case that the oracle cannot answer as failed."""
        for name in names:
            self.records[case.id, name] = Verified(
                case=case.id,
                runner=name,
                outcome="failed",
                reason=silence.reason,
                log=silence.log,
                command=rerun(case, name),
            )

    def went_wrong(self, case: PlannedCase, name: str, attempt: Attempt, where: str) -> None:
        """Record that a cell whose answer was right went wrong later; `where` says when."""
        changes = {
            "outcome": attempt.outcome,
            "reason": f"{where}: {attempt.reason}",
            "log": attempt.log,
        }
        record = self.records[case.id, name]
        self.records[case.id, name] = record.model_copy(update=changes)

    def fit(self, cells: Cells) -> Cells:
        """The cells that may be timed, because their answer was right."""
        return {
            case: [n for n in names if self.records[case, n].outcome == "ok"]
            for case, names in cells.items()
        }


def oracle_answer(context: Context, case: PlannedCase, answers: Answers) -> OracleAnswer | None:
    """The oracle's answer to `case` with its number of operations; None without steps.

    The oracle is asked only when neither `answers` nor the memory has its answer. Raises
    Unanswered, and says so, when it gives none.
    """
    at = asked(case)
    if at in answers.silences:
        raise answers.silences[at]
    if at not in answers.expected:
        key = f"{context.key(case, context.oracle.spec.name)} {at[-1]}"
        answer = context.memory.expected(key)
        if answer is None and context.catalog.scenarios[case.scenario].steps:
            try:
                answer = context.invocations.ask_oracle(case, context.oracle)
            except Unanswered as silence:
                answers.silences[at] = silence
                if not context.stop.requested:
                    context.progress.say(str(silence))
                raise
            context.memory.keep_expected(key, answer)
        answers.expected[at] = answer
    return answers.expected[at]


def rerun(case: PlannedCase, runner: str) -> str:
    """The command that measures this one cell again."""
    return f"./just run --case '{case.id}' --runner {runner}"
