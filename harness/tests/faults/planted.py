"""The usual ways to plant a fault: a fake of some behaviour, and a runner of changed sources."""

from collections.abc import Callable, Sequence
from functools import partial

from tests.faults.builds import build_dotnet, build_rust
from tests.faults.fault import Seen
from tests.faults.stage import Stage
from tests.faults.verdict import measured, verified

Play = Callable[[Stage], Seen]
Change = tuple[str, str, str]  # file, old, new
BUILDS = {"rust": build_rust, "dotnet": build_dotnet}


def fake_verified(behaviour: str) -> Play:
    """A fake of that behaviour, verified."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        return verified(clone, "planted", "all", size="s")

    return play


def fake_measured(behaviour: str, case: str = "all") -> Play:
    """A fake of that behaviour, measured."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        return measured(clone, "planted", case=case, size="s")

    return play


def changed(
    case: str,
    *changes: Change,
    runner: str = "node",
    timed: bool = True,
    size: str = "s",
    beside: Sequence[str] = (),
) -> Play:
    """A runner with changed sources, built where it is compiled; measured, pilot included, in turns
    with those `beside` it, or where it is not `timed` verified."""

    def play(stage: Stage) -> Seen:
        clone = stage.real()
        for change in changes:
            clone.replace(*change)
        if runner in BUILDS:
            BUILDS[runner](clone)
        if timed:
            return measured(clone, runner, *beside, case=case, size=size)
        return verified(clone, runner, case, size=size)

    return play


node_measured = changed
node_verified = partial(changed, timed=False)
rust_verified = partial(changed, timed=False, runner="rust")
dotnet_verified = partial(changed, timed=False, runner="dotnet")
