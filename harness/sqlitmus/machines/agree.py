"""Which runs agree in what all of them must agree in. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping

from sqlitmus.machines.candidate import Run, age
from sqlitmus.machines.manifest import RefusedRun

Facts = Callable[[Run], Mapping[str, str]]


def agree(runs: list[Run], facts: Facts, among: str) -> tuple[list[Run], list[RefusedRun]]:
    """Runs whose facts are those of the others, as far as they have the same; the others refused.

    Of two values the one in more runs holds, then that of the earliest. `among` says in the message
    whose facts these are.
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
