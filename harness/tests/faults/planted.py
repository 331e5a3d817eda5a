"""The usual ways to plant a fault: a fake of some behaviour, and a runner of changed sources."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from tests.fakes.clone import Clone
from tests.faults.builds import build_dotnet, build_rust
from tests.faults.fault import Fate, Fault, Seen, Where
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
    figure: str | None = None,
    scheme: str = "",
) -> Play:
    """A runner with changed sources, built where it is compiled; measured, pilot included, in turns
    with those `beside` it, or where it is not `timed` verified. `figure` is what the change is to
    make look better."""

    def build(clone: Clone) -> None:
        if runner in BUILDS:
            BUILDS[runner](clone)

    def play(stage: Stage) -> Seen:
        clone, honest, cell = stage.real(), stage.honest, (runner, case, figure or "")
        if honest is not None and figure and cell not in honest:
            build(clone)
            honest[cell] = _figure(clone, *cell)
        for change in changes:
            clone.replace(*change)
        build(clone)
        looks = _figure(clone, *cell) / honest[cell] if honest is not None and figure else None
        if not timed:
            return verified(clone, runner, case, size=size)
        seen = measured(clone, runner, *beside, case=case, size=size, scheme=scheme)
        return replace(seen, looks=looks)

    return play


def _figure(clone: Clone, runner: str, case: str, figure: str) -> float:
    command = [sys.executable, "-m", "tests.faults.look", runner, case, figure]
    done = subprocess.run(
        command, env=clone.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return float(done.stdout.split()[-1])


def in_both(
    title: str,
    case: str,
    *changes: Change,
    message: str,
    fate: Fate = "failed",
    runner: str = "node",
    figure: str = "time",
) -> Iterator[Fault]:
    """A change of a runner that is played in turns and alone, with what is said of it in both."""
    language: dict[str, Where] = {"node": "javascript", "rust": "rust", "dotnet": "dotnet"}
    needs = runner if runner in BUILDS else "hyperfine"
    for word, scheme, beside in (("turns", "", ["python"]), ("alone", "process", [])):
        play = changed(case, *changes, runner=runner, beside=beside, figure=figure, scheme=scheme)
        name, where = f"{title}, {word}", language[runner]
        yield Fault(name, where, play, fate, message, slow=True, needs=needs, scheme=word)


node_measured = changed
node_verified = partial(changed, timed=False)
rust_verified = partial(changed, timed=False, runner="rust")
dotnet_verified = partial(changed, timed=False, runner="dotnet")
