"""Finds the highest rung of a ladder that holds, one probe at a time."""

from dataclasses import dataclass, replace
from typing import Self

MOST_VOID = 3


@dataclass(frozen=True, slots=True)
class Search:
    """What is known of `rungs` rungs, of which the lower ones hold and the higher ones do not.

    Rung `holds` does, -1 if none was seen to; rung `breaks` does not, `rungs` if none was seen not
    to. From `start` it strides up or down, twice as far each time, until it has seen both; then it
    halves what lies between them. `void` counts probes in a row that tell nothing.
    """

    rungs: int
    start: int
    holds: int
    breaks: int
    stride: int = 1
    void: int = 0

    @classmethod
    def begin(cls, rungs: int, start: int) -> Self:
        """A search that first asks for rung `start`, or the nearest that there is."""
        if rungs < 1:
            raise ValueError(f"a ladder needs at least one rung, got {rungs}")
        return cls(rungs, min(max(start, 0), rungs - 1), -1, rungs)

    @property
    def next(self) -> int | None:
        """The rung to try; None when the answer is known, or when too many probes were void."""
        if self.breaks - self.holds == 1 or self.void >= MOST_VOID:
            return None
        if self.holds < 0 and self.breaks == self.rungs:
            return self.start
        if self.breaks == self.rungs:
            return min(self.holds + self.stride, self.rungs - 1)
        if self.holds < 0:
            return max(self.breaks - self.stride, 0)
        return (self.holds + self.breaks) // 2

    def saw(self, rung: int, *, holds: bool | None) -> Self:
        """With what a probe of `rung` showed; None for one that was void."""
        if holds is None:
            return replace(self, void=self.void + 1)
        stride = self.stride if self.holds < 0 and self.breaks == self.rungs else 2 * self.stride
        if holds:
            return replace(self, holds=max(self.holds, rung), stride=stride, void=0)
        return replace(self, breaks=min(self.breaks, rung), stride=stride, void=0)

    @property
    def found(self) -> int | None:
        """The highest rung that holds, -1 if not even the lowest does; None while not known."""
        return self.holds if self.breaks - self.holds == 1 else None

    @property
    def open_above(self) -> bool:
        """Whether all rungs hold, so that the limit lies above them."""
        return self.holds == self.rungs - 1
