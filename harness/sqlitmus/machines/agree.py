"""Splits runs by whether they agree on the facts that all must share. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping

from sqlitmus.machines.candidate import Run, age
from sqlitmus.machines.manifest import RefusedRun

Facts = Callable[[Run], Mapping[str, str]]


def agree(runs: list[Run], facts: Facts, among: str) -> tuple[list[Run], list[RefusedRun]]:
    """The runs that agree on all facts they share, and a refusal for each of the others.

    Of two values the one in more runs wins, and between equals that of the earliest run. `among`
    completes the message: it says among which runs the facts must agree.
    """
    agreeing, refused = sorted(runs, key=age), list[RefusedRun]()
    for name in sorted({name for run in agreeing for name in facts(run)}):
        having = [run for run in agreeing if name in facts(run)]
        if not having:
            continue
        holds = Counter(facts(run)[name] for run in having).most_common(1)[0][0]
        first = next(run for run in having if facts(run)[name] == holds)
        odd = [run for run in having if facts(run)[name] != holds]
        refused += [
            RefusedRun(
                path=run.path, reason=f"plan.json: {name} differs from that of {first.path}{among}"
            )
            for run in odd
        ]
        agreeing = [run for run in agreeing if run not in odd]
    return agreeing, refused
