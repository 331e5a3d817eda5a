"""What a command of the harness made of a fault."""

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


def measured(
    clone: Clone, *runners: str, case: str, size: str = "m", blocks: int = 2, scheme: str = ""
) -> Seen:
    """The outcome of the first of `runners` after a run of `case` with all of them, in the usual
    scheme or this one."""
    names = [part for name in runners for part in ("-r", name)]
    given = ["--size", size, "--case", case, "--blocks", str(blocks), *names]
    done = clone.sqlitmus("run", *given, *(["--scheme", scheme] if scheme else []))
    if not (clone.root / "results/latest").exists():
        return Seen("refused", done.err.strip())
    return of_run(clone, runners[0], done.out + done.err)


def of_run(clone: Clone, runner: str, text: str) -> Seen:
    """The outcome of `runner` in the newest run, which printed `text`: the message of one that is
    ok and has a rank."""
    for record in [*clone.latest().verified(), *clone.samples()]:
        if record.runner == runner and record.outcome != "ok":
            return Seen(record.outcome, record.reason or "")
    for case in clone.analysed().cases:
        (cell,) = (each for each in case.cells if each.runner == runner)
        if cell.apart and cell.time and not case.comparisons.against(runner):
            return Seen("apart", cell.reason or "")
    return Seen("ok", text)
