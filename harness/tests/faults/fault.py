"""A planted fault: where it is planted, and what must become of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.faults.stage import Stage

Where = Literal["fake", "javascript", "python", "rust", "dotnet", "folder", "harness"]
# What may become of a fault: an outcome of the cell, or what the harness does about it.
Fate = Literal[
    "ok", "wrong", "failed", "unsupported", "missing", "refused", "noticed", "apart", "none left"
]


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of a fault, and in which words."""

    fate: Fate
    message: str
    looks: float | None = None  # the planted runner's figure by the honest one's, unchecked


@dataclass(frozen=True, slots=True)
class Fault:
    """A row of the table: `play` plants the fault in a stage and tells what became of it.

    `scheme` says how it is played: "turns" beside another runner, or "alone". `message` must be in
    what is told. One that is `slow` builds a runner or takes more than a few
    seconds: only `./just bench-faults` plays it. `needs` is a tool without which it cannot be seen.
    """

    title: str
    planted_in: Where
    play: Callable[[Stage], Seen]
    fate: Fate
    message: str
    slow: bool = False
    needs: str = "hyperfine"
    scheme: str = "-"

    def problem(self, seen: Seen) -> str | None:
        """How `seen` differs from what must become of it; None when it does not."""
        if seen.fate != self.fate:
            return f"{seen.fate} instead of {self.fate}: {seen.message}"
        return None if self.message in seen.message else f"it says: {seen.message}"
