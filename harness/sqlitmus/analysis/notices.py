"""What a reader should know before believing a number."""

import re
from collections.abc import Iterable, Sequence

from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.emulation import emulated, foreign
from sqlitmus.analysis.phrases import by_value, listed, some
from sqlitmus.analysis.provenance import SHIPPED
from sqlitmus.machine.architecture import named
from sqlitmus.machine.facts import UNKNOWN
from sqlitmus.results.report import Case, Fact
from sqlitmus.stats.multiplicity import pocock
from sqlitmus.stats.verdict import MIN_BLOCKS
from sqlitmus.vocabulary.nouns import counted

_SYNCHRONOUS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}


def notices(
    run: RunData,
    cases: Sequence[Case],
    facts: Sequence[Fact],
    disagreeing: Sequence[str],
    complete: int,
    flat: int,
) -> list[str]:
    """Sentences on what may mislead.

    `disagreeing` are cases whose recorded answers differ, `complete` the number of complete blocks,
    `flat` the number of comparisons whose values did not vary at all.
    """
    return [
        *_integrity(run, complete),
        *_blocks(complete),
        *_flat(flat),
        *_unequal(facts),
        *_plans(cases),
        *_answers(disagreeing),
        *_oversubscribed(run),
        *_frequency(run.machine),
        *_emulated(run),
    ]


def cores(machine: dict[str, str]) -> int | None:
    """Number of cores, None where the machine did not say."""
    text = machine.get("cores", "")
    return int(text) if text.isdecimal() and int(text) > 0 else None


def plan_note(cells: Sequence[tuple[str, list[list[str]]]]) -> str | None:
    """A note if query plans differ between `cells` (runner, plan of each step), None if not."""
    plans = {
        runner: "; ".join(" > ".join(_modern(line) for line in step) for step in plan)
        for runner, plan in cells
        if plan
    }
    return f"Query plans differ. {by_value(plans)}." if len(set(plans.values())) > 1 else None


def _modern(line: str) -> str:
    """SQLite before 3.36 says SCAN TABLE t where later ones say SCAN t, for the same plan."""
    return re.sub("^(SCAN|SEARCH) TABLE ", r"\1 ", line)


def _integrity(run: RunData, complete: int) -> Iterable[str]:
    samples, planned = run.samples, run.plan.blocks
    if not samples.complete:
        yield (
            f"The run was not finished: {complete} of {planned} blocks are complete. "
            "Comparisons use only blocks in which both runners have a value."
        )
    elif complete in {planned * look // run.plan.looks for look in range(1, run.plan.looks)}:
        yield (
            f"The run was settled at the planned look after {complete} of {planned} blocks; its "
            f"verdicts are given at {100 * pocock(run.plan.looks):.2g} %, the level for each of "
            f"{run.plan.looks} looks."
        )
    elif complete < planned:
        yield f"Only {complete} of {planned} blocks hold all cells, although the run was finished."
    if run.truncated:
        yield "The last line of samples.jsonl was cut off and is left out."
    if samples.strays:
        lines = counted(samples.strays, "line")
        yield f"{lines} of samples.jsonl belong to no cell of the plan and are left out."
    if samples.repeats:
        lines = counted(samples.repeats, "line")
        yield f"{lines} of samples.jsonl repeat an invocation; the first of each is used."


def _blocks(complete: int) -> Iterable[str]:
    if complete < MIN_BLOCKS:
        yield (
            f"{counted(complete, 'complete block')}: fewer than {MIN_BLOCKS} never give a verdict, "
            "and fewer than 2 no ratio."
        )


def _flat(flat: int) -> Iterable[str]:
    if flat:
        yield (
            f"{counted(flat, 'comparison')} had the same ratio in most blocks, so no interval can "
            "be had: the clock is too coarse for these, or the values were copied."
        )


def _unequal(facts: Sequence[Fact]) -> Iterable[str]:
    for fact in facts:
        if not fact.differs:
            continue
        if (fact.group, fact.name) == ("SQLite", "version"):
            yield f"SQLite versions differ. {by_value(fact.values)}."
        elif (fact.group, fact.name) == (SHIPPED, "synchronous"):
            words = {
                runner: " / ".join(_SYNCHRONOUS.get(v, v) for v in value.split(" / "))
                for runner, value in fact.values.items()
            }
            yield (
                "Durability differs in the profile shipped: synchronous is not the same "
                f"everywhere, so writes there are not like for like. {by_value(words)}."
            )
        elif (fact.group, fact.name) == (SHIPPED, "journal_mode"):
            yield f"Journal modes differ in the profile shipped. {by_value(fact.values)}."


def _plans(cases: Sequence[Case]) -> Iterable[str]:
    hit = [case.id for case in cases if any(n.startswith("Query plans differ") for n in case.notes)]
    if hit:
        yield f"Query plans differ between runners in {counted(len(hit), 'case')}: {some(hit)}."


def _answers(disagreeing: Sequence[str]) -> Iterable[str]:
    if disagreeing:
        yield (
            f"Recorded answers disagree in {counted(len(disagreeing), 'case')} although each was "
            f"passed as equal: {some(disagreeing)}. verify.jsonl may have been changed."
        )


def _oversubscribed(run: RunData) -> Iterable[str]:
    available = cores(run.machine)
    if available is None:
        if any(case.workers > 1 for case in run.plan.cases):
            yield "The number of cores is not recorded, so oversubscription is not marked."
        return
    over = sorted({case.workers for case in run.plan.cases if case.workers > available})
    if over:
        yield (
            f"{listed([str(n) for n in over])} workers on {counted(available, 'core')} are "
            "oversubscribed: these cases measure scheduling as well."
        )


def _frequency(machine: dict[str, str]) -> Iterable[str]:
    governor = machine.get("governor", "")
    if governor not in ("", "unknown", "performance"):
        yield (
            f"The CPU governor is {governor}, not performance: the clock rate may follow the load."
        )


def _emulated(run: RunData) -> Iterable[str]:
    """Programs that are built for another processor than the machine's."""
    hyperfine = run.machine.get("hyperfine architecture", UNKNOWN)
    other = foreign(run, {"hyperfine": hyperfine}) | emulated(run)
    if other:
        machine = named(run.machine["architecture"])
        yield (
            f"Not built for this machine's {machine}: {by_value(other)}. Their times contain an "
            "emulation (or a mode of compatibility), so comparisons with them are not like for "
            "like."
        )
