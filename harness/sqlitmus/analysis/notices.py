"""What a reader should know before believing a number."""

from collections.abc import Iterable, Mapping, Sequence

from sqlitmus.analysis import provenance
from sqlitmus.analysis.cells import Exclusions, warmth
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.provenance import SHIPPED
from sqlitmus.machine.host import UNKNOWN, named
from sqlitmus.results.report import CanarySummary, Case, Fact, Notice, NoticeKind
from sqlitmus.stats.verdict import MIN_BLOCKS, pocock
from sqlitmus.store.file import restless
from sqlitmus.vocabulary.text import some


def emulated(run: RunData) -> dict[str, str]:
    """The runners whose process is of another architecture, and of which."""
    runners = ((runner.name, runner.description) for runner in run.plan.runners)
    return foreign(run, {name: each.identity.architecture for name, each in runners if each})


def foreign(run: RunData, programs: Mapping[str, str]) -> dict[str, str]:
    """Of programs and what they are built for, those of another architecture than the machine's.

    None is foreign where it, or the machine, does not tell.
    """
    machine = named(run.machine.get("architecture", UNKNOWN))
    architectures = {name: named(built) for name, built in programs.items()}
    return {
        name: built
        for name, built in architectures.items()
        if UNKNOWN not in (machine, built) and built != machine
    }


_SYNCHRONOUS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}


def notices(
    run: RunData,
    cases: Sequence[Case],
    facts: Sequence[Fact],
    control: CanarySummary | None,
    disagreeing: Sequence[str],
    complete: int,
    flat: int,
    excluded: Exclusions,
) -> list[Notice]:
    """What may mislead.

    `control` is what the canary showed, `disagreeing` are cases whose recorded answers differ,
    `complete` is the number of complete blocks, `flat` that of comparisons whose values did not
    vary at all; `excluded` are the cells that are compared with nothing.
    """
    warm_up, refused = excluded.by["still warming up"], excluded.by["did less work"]
    other = excluded.by["did other work"]
    plans = [
        case.id for case in cases if any(n.startswith("Query plans differ") for n in case.notes)
    ]
    return [
        *_integrity(run, complete),
        *([Notice("control", control.alarms, control.tested)] if control and control.many else []),
        *([Notice("few blocks", complete, MIN_BLOCKS)] if complete < MIN_BLOCKS else []),
        *([Notice("flat", flat)] if flat else []),
        *_unequal(facts),
        *provenance.notices(cases, run.plan.floor),
        *([Notice("plans", names=plans)] if plans else []),
        *([Notice("answers", names=list(disagreeing))] if disagreeing else []),
        *_against_oracle(run),
        *_oversubscribed(run),
        *warmth(run),
        *_restless(run),
        *_per_cell(run, "warming up", {at: f"{100 * (1 - r):.1f} %" for at, r in warm_up.items()}),
        *_per_cell(run, "refused", {at: f"{100 * each:.1f} %" for at, each in refused.items()}),
        *_per_cell(run, "other work", {at: excluded.detail(at) for at in other}),
        *_below_floor(run, cases),
        *_frequency(run.machine),
        *_emulated(run),
    ]


def _integrity(run: RunData, complete: int) -> Iterable[Notice]:
    samples, planned, looks = run.samples, run.plan.blocks, run.plan.looks
    if not samples.complete:
        yield Notice("under way" if run.under_way else "unfinished", complete, planned)
    elif run.plan.gate is not None and complete in {planned * n // looks for n in range(1, looks)}:
        yield Notice("settled", complete, planned, level=pocock(looks), looks=looks)
    elif complete < planned:
        yield Notice("holes", complete, planned)
    if run.plan.foreseen:
        yield Notice("late", planned, run.plan.foreseen)
    if names := run.plan.left_out:
        yield Notice("left out", len(names), MIN_BLOCKS, names=names)
    if run.plan.sets:
        yield Notice("shared", len(run.plan.sets), planned, names=_numbers(run.plan.sets))
    looked = {case: n for case, n in run.plan.ended.items() if case not in run.plan.sets}
    if looked:
        yield Notice("ended", len(looked), planned, names=_numbers(looked))


def _numbers(blocks: Mapping[str, int]) -> list[str]:
    return list(map(str, sorted(set(blocks.values()))))


def _unequal(facts: Sequence[Fact]) -> Iterable[Notice]:
    for fact in facts:
        if not fact.differs:
            continue
        if (fact.group, fact.name) == ("SQLite", "version"):
            yield Notice("sqlite", values=fact.values)
        elif (fact.group, fact.name) == (SHIPPED, "synchronous"):
            words = {
                runner: " / ".join(_SYNCHRONOUS.get(v, v) for v in value.split(" / "))
                for runner, value in fact.values.items()
            }
            yield Notice("durability", values=words)
        elif (fact.group, fact.name) == (SHIPPED, "journal_mode"):
            yield Notice("journal", values=fact.values)


def _against_oracle(run: RunData) -> Iterable[Notice]:
    suspect = {case: None for (case, _), check in run.checks.items() if check.against_oracle}
    if suspect:
        yield Notice("against oracle", names=list(suspect))


def _oversubscribed(run: RunData) -> Iterable[Notice]:
    available = run.cores
    if available is None:
        if any(case.workers > 1 for case in run.plan.cases):
            yield Notice("cores unknown")
        return
    over = sorted({case.workers for case in run.plan.cases if case.workers > available})
    if over:
        yield Notice("oversubscribed", of=available, names=[str(workers) for workers in over])


def _restless(run: RunData) -> Iterable[Notice]:
    """Runners whose processes used the processor while others had their turns."""
    if (busy := restless(run.blocks)) and run.plan.actual_scheme() == "relay":
        values = {runner: f"{100 * share:.1f} % of that time" for runner, share in busy.items()}
        yield Notice("restless", values=values)


def _per_cell(
    run: RunData, kind: NoticeKind, texts: Mapping[tuple[int, int], str]
) -> Iterable[Notice]:
    """What is told of cells, by case and series; a canary is its runner once more."""
    names = run.plan.names
    values = {
        f"{run.plan.cases[case].id}/{names[series]}": text
        for (case, series), text in texts.items()
        if series < len(names)
    }
    if values:
        yield Notice(kind, values=values)


def _below_floor(run: RunData, cases: Sequence[Case]) -> Iterable[Notice]:
    """Cells that are resolved as materially faster than the floor, which only calls SQLite."""
    floor = run.plan.floor
    variants = {runner.name for runner in run.plan.runners if runner.role == "variant"}
    cells: dict[str, list[str]] = {}
    for case in cases:
        for cell in case.cells:
            verdict = cell.overhead_verdict
            faster = verdict and verdict.material and verdict.side == "faster"
            if faster and cell.runner not in variants:
                cells.setdefault(cell.runner, []).append(case.id)
    if floor and cells:
        values = {runner: some(ids) for runner, ids in cells.items()}
        yield Notice("below floor", sum(map(len, cells.values())), names=[floor], values=values)


def _frequency(machine: dict[str, str]) -> Iterable[Notice]:
    governor = machine.get("governor", "")
    if governor not in ("", "unknown", "performance"):
        yield Notice("governor", names=[governor])


def _emulated(run: RunData) -> Iterable[Notice]:
    """Programs that are built for another processor than the machine's."""
    hyperfine = run.machine.get("hyperfine architecture", UNKNOWN)
    other = foreign(run, {"hyperfine": hyperfine}) | emulated(run)
    if other:
        yield Notice("emulated", names=[named(run.machine["architecture"])], values=other)
