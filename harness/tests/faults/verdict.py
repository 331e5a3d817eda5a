"""What a command of the harness made of a fault."""

from sqlitmus.store.folder import RunDirectory
from tests.fakes.clone import Clone, Done
from tests.faults.fault import Seen


def verified(clone: Clone, runner: str, case: str, *, size: str = "m") -> Seen:
    """The outcome of `runner` in `case` after `verify`."""
    return cell(
        clone.sqlitmus("verify", "--size", size, "--case", case, "-r", runner), case, runner
    )


def cell(done: Done, case: str, runner: str) -> Seen:
    """What `verify` printed of a cell; what it told instead when it printed none."""
    for line in done.out.splitlines():
        outcome, _, rest = line.partition(" ")
        name, _, reason = rest.strip().partition(": ")
        if name == f"{case}/{runner}":
            return Seen(outcome, reason)  # pyright: ignore[reportArgumentType]
    return Seen("refused", done.err.strip())


def measured(clone: Clone, *runners: str, case: str, size: str = "m", blocks: int = 2) -> Seen:
    """The outcome of the first of `runners` after a run of `case` with all of them."""
    names = [part for name in runners for part in ("-r", name)]
    given = ("--size", size, "--case", case, "--blocks", str(blocks), *names)
    done = clone.sqlitmus("run", *given)
    if not (clone.root / "results/latest").exists():
        return Seen("refused", done.err.strip())
    return of_run(clone.latest(), runners[0], done.out + done.err)


def of_run(run: RunDirectory, runner: str, text: str) -> Seen:
    """The outcome of `runner` in a run that printed `text`, which is the message of one ok."""
    for record in [*run.verified(), *run.samples()]:
        if record.runner == runner and record.outcome != "ok":
            return Seen(record.outcome, record.reason or "")
    return Seen("ok", text)
