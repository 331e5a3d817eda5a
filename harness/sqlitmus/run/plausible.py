"""Whether a result's times and use can be, by what hyperfine saw of the same process. Pure.

The bounds are wider than the most extreme honest cell under load, so that none fails that is merely
slow: `./just bench-plausible` prints how near cells come, `docs/trust.md` what they do not see.
"""

from collections.abc import Iterator

from sqlitmus.machine.limits import Limits
from sqlitmus.run.bounds import times, use
from sqlitmus.run.bounds.terms import Arrangement, Held
from sqlitmus.run.finished import Timing
from sqlitmus.vocabulary.contract.result import Result

CHECKS = (
    times.fits,
    times.of_workers,
    times.clock,
    times.rest,
    use.cpu,
    use.busy,
    use.log,
    use.memory,
    use.events,
)


def contradiction(timing: Timing, result: Result, how: Arrangement, limits: Limits) -> str | None:
    """Why the figures of an `ok` result in measure mode cannot be, with both numbers, or None."""
    bounds = held(timing, result, how, limits)
    return next((bound.problem for bound in bounds if bound.value > bound.most), None)


def held(timing: Timing, result: Result, how: Arrangement, limits: Limits) -> Iterator[Held]:
    """Each bound that the figures of a result must keep."""
    for check in CHECKS:
        yield from check(timing, result, how, limits)
