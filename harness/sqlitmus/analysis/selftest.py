"""The part of the last self-test on this machine that a report shows: that of its run's scheme."""

from pydantic import BaseModel

from sqlitmus.results.conditions import SelfTest
from sqlitmus.vocabulary.terms import Scheme

# What a self-test says of runs whose scheme it did not measure.
_NOT_OF_THIS: dict[Scheme, str] = {
    "relay": "It did not measure processes that take turns, as those of this run did.",
    "process": "It did not measure processes one after the other, as those of this run were.",
}


class Tested(BaseModel, extra="ignore", frozen=True, defer_build=True):
    """`selftest.json`: `lines` and `passed` of all schemes, then of each, and which is better.

    Before there were several schemes it had only the first three, of processes one after the other.
    """

    created: str
    lines: list[str]
    passed: bool
    schemes: "dict[str, TestedScheme]" = {}
    better: str | None = None


class TestedScheme(BaseModel, extra="ignore", frozen=True, defer_build=True):
    """What was found of one scheme."""

    lines: list[str]
    passed: bool


def of_run(tested: Tested, scheme: Scheme) -> SelfTest:
    """What the self-test says of a run that was measured in `scheme`."""
    schemes = tested.schemes or {"process": tested}
    better = list(filter(None, [tested.better]))
    if scheme not in schemes:
        lines = [*tested.lines, _NOT_OF_THIS[scheme]]
        return SelfTest(tested.created, lines, tested.passed)
    mine = schemes[scheme]
    return SelfTest(tested.created, [*mine.lines, *better], mine.passed)
