"""Two subjects against each other: measured in one interleaved run, or taken from two runs."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlitmus import paths, session
from sqlitmus.catalog import Catalog
from sqlitmus.choose import mode_of
from sqlitmus.errors import Exit
from sqlitmus.measure import Ended
from sqlitmus.progress import Progress
from sqlitmus.report.model import Report
from sqlitmus.resolve import resolve
from sqlitmus.session import Options


@dataclass(frozen=True, slots=True)
class Request:
    """What is compared, how it is measured, and the gate as a share of the time."""

    base: str
    new: str
    options: Options
    gate: float | None


@dataclass(frozen=True, slots=True)
class Compared:
    """How it ended; `report` is None where nothing was measured to the end."""

    exit: Exit
    directory: Path | None
    report: Report | None
    said: list[str] = field(default_factory=list[str])


def measure(request: Request, catalog: Catalog, tools: paths.Tools, progress: Progress) -> Compared:
    """Measure both, and where a gate is asked for and raises an alarm, measure again."""
    from sqlitmus.analysis import analyse, load

    found = resolve([request.base, request.new], catalog, tools)
    base, new = found.labels
    subjects = [request.base, request.new]
    options = replace(request.options, runners=[base, new], reference=base, subjects=subjects)
    _, mode = mode_of(catalog, options.suite, options.mode)
    looks = mode.looks if request.gate else 1
    ended = _run(options, found.catalog, found.tools, progress, request.gate, looks)
    if ended.directory is None or ended.exit == Exit.INTERRUPTED:
        return Compared(ended.exit, ended.directory, None)
    report = analyse(load(ended.directory), None)
    if request.gate is None:
        return Compared(ended.exit, ended.directory, report)
    return _confirm(request, options, found.catalog, found.tools, progress, ended, report, looks)


def _run(
    options: Options,
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    share: float | None,
    looks: int,
) -> Ended:
    """One interleaved run; with a gate it may end at a planned look."""

    def settled(directory: Path) -> bool:
        from sqlitmus.analysis import load
        from sqlitmus.analysis.gate import gate

        assert share is not None
        return not gate(load(directory), options.runners[1], share, looks).open

    return session.run(options, catalog, tools, progress, settled if share else None)


def _confirm(
    request: Request,
    options: Options,
    catalog: Catalog,
    tools: paths.Tools,
    progress: Progress,
    first: Ended,
    report: Report,
    looks: int,
) -> Compared:
    """The gate's answer; an alarm counts only if a second measurement of those cases agrees."""
    from sqlitmus.analysis import load
    from sqlitmus.analysis.gate import gate

    assert request.gate is not None
    assert first.directory is not None
    new = options.runners[1]
    percent = f"{100 * request.gate:g} %"
    found = gate(load(first.directory), new, request.gate, looks)
    if not found.alarmed:
        left = f"; {len(found.open)} of {len(report.cases)} are not resolved" if found.open else ""
        answer = f"gate {percent}: no case is slower by more{left}"
        return Compared(first.exit, first.directory, report, [answer])
    progress.say(
        f"gate {percent}: {', '.join(found.alarmed)} slower by more; measuring again to confirm"
    )
    again = replace(
        options, cases=found.alarmed, filters=[], seed=None, label=f"{options.label}-confirm"
    )
    second = _run(again, catalog, tools, progress, request.gate, looks)
    if second.directory is None or second.exit == Exit.INTERRUPTED:
        return Compared(Exit.INTERRUPTED, second.directory, None)
    confirmed = gate(load(second.directory), new, request.gate, looks).alarmed
    withdrawn = [case for case in found.alarmed if case not in confirmed]
    said: list[str] = []
    if withdrawn:
        said.append(f"gate {percent}: not confirmed by the second run: {', '.join(withdrawn)}")
    if confirmed:
        said.append(f"gate {percent}: slower by more in both runs: {', '.join(confirmed)}")
    said.append(f"second run: {second.directory}")
    worst = max(first.exit, second.exit)
    failed = Exit.GATE_FAILED if confirmed else Exit.DONE
    return Compared(worst if worst != Exit.DONE else failed, first.directory, report, said)


def of_runs(base: Path, new: Path, runner: str | None) -> Report:
    """Two finished runs of the same machine; raises UsageError for what cannot be compared."""
    from sqlitmus.analysis import load
    from sqlitmus.analysis.two_runs import compare_runs

    return compare_runs(load(base), load(new), runner)
