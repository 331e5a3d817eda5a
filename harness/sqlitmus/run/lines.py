"""What a run writes line by line: samples, blocks, iterations."""

from typing import Any

from sqlitmus.machine.conditions import Conditions
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.terms import Outcome


class Sample(Model):
    """One invocation. `steady_ns` is the mean of its timed iterations; `figures` are those of
    `vocabulary.figures` by name, of an iteration or of the process."""

    block: int
    take: int = 0
    position: int
    case: str
    runner: str
    label: str
    outcome: Outcome
    reason: str | None = None
    log: str | None = None
    steady_ns: float | None = None
    figures: dict[str, int | float | None] = {}

    def row(self) -> list[Any]:
        """The sample as a line of `samples.jsonl`, in the order of `columns`."""
        fixed = self.model_dump(mode="json", include=set(_FIXED))
        return [*fixed.values(), *(self.figures.get(figure.name) for figure in figures.FIGURES)]

    @classmethod
    def from_row(cls, row: list[Any]) -> "Sample":
        """The sample of such a line; raises ValueError for one of another length."""
        values = dict(zip(columns(), row, strict=True))
        measured = {figure.name: values.pop(figure.sampled) for figure in figures.FIGURES}
        return cls.model_validate({**values, "figures": measured})


_FIXED = [name for name in Sample.model_fields if name != "figures"]


def columns() -> list[str]:
    """The columns of `samples.jsonl`: what every invocation has, then the figures."""
    return [*_FIXED, *(figure.sampled for figure in figures.FIGURES)]


def rows(line: list[Any]) -> list[list[Any]]:
    """The rows of a line: those of a set, or the one that it is."""
    return line if line and all(isinstance(row, list) for row in line) else [line]


class Block(Model):
    """One pass over all cells: the machine before and after it.

    A `disturbed` block that is `repeated` is done again as the next `take`; samples of a take that
    was repeated are not used. `idle` is by runner the CPU time that its processes took while they
    waited for their turns, as a share of that wait: the median of those that waited.
    """

    block: int
    take: int
    before: Conditions
    after: Conditions
    disturbed: bool
    repeated: bool
    idle: dict[str, float] = {}


class Iterations(Model):
    """The iterations of one invocation, warm-up first; kept for whoever doubts its mean.

    Of one that took turns, `lost_ns` is what others took from each lap, and `counted` says which
    rounds count.
    """

    position: int
    take: int = 0
    warmup_ns: list[int]
    iterations_ns: list[int]
    lost_ns: list[int] = []
    counted: list[bool] = []
