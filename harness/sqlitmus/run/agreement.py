"""Runners that agree with each other against the oracle. Pure."""

from collections.abc import Mapping, Sequence

from sqlitmus.run.judge import COMPARED, OracleAnswer, Verified


def suspicion(
    records: Sequence[Verified], answer: OracleAnswer, runtimes: Mapping[str, str]
) -> str | None:
    """What is to be said of the `records` of a case in which runners side against the oracle.

    None unless all that answered (at least two, in different runtimes) gave the same other answer.
    `runtimes` are those of the runners, without the oracle's.
    """
    of_runners = [record for record in records if record.runner in runtimes]
    answers = {_answer(r) for r in of_runners if r.outcome in ("ok", "wrong")}
    sides = [r for r in of_runners if r.outcome == "wrong"]
    several = len({runtimes[record.runner] for record in sides}) > 1
    if len(answers) != 1 or not several or _answer(answer) in answers:
        return None
    many = "both" if len(sides) == 2 else f"all {len(sides)}"
    return (
        f"{many} runners agree with each other against the oracle: suspect the oracle, or a "
        "scenario whose answer is not the same everywhere"
    )


def _answer(given: Verified | OracleAnswer) -> tuple[object, ...]:
    """What is compared, but for the number of operations, which a record lacks."""
    return tuple(str(getattr(given, name)) for name in COMPARED if name != "operations")
