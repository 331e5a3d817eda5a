"""Rows of published claims: what was published, what was measured, the word."""

from collections.abc import Iterator

from pydantic import Field

from sqlitmus.export.numbers import Number, Text
from sqlitmus.results.claims import Claim, Group, Row, Unit
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.claimwords import ClaimWord
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.terms import ClaimMetric


class ClaimRow(Model):
    """One published figure and the own one, on one machine.

    Ratios are base / new: how many times as fast the new cell is, unlike all others of an export. A
    row that compares by difference has `saves_ns`, base less new, and its `published`, `same_` and
    `judged_` are ns, too.
    `same_` are the ends of what counts as the published size, `judged_` those of the interval that
    was held against it: `ratio_` drawn out by the correction and by the canary's `guard`, of which
    1, or 0 ns, is none. `word` is None where no ratio was published, `claim_word` that of the whole
    claim. A row that `repeats` another one shows the same measurement, which is counted there.
    """

    machine: str
    run: str
    claim: str
    claim_word: ClaimWord
    group: str
    row: str
    key: bool
    metric: ClaimMetric
    unit: Unit
    runner: str
    base: str
    new: str
    said: str
    published: Number
    same_low: Number
    same_high: Number
    ratio: Number
    ratio_low: Number
    ratio_high: Number
    saves_ns: Number
    saves_ns_low: Number
    saves_ns_high: Number
    judged_low: Number
    judged_high: Number
    guard: Number
    blocks: int = Field(ge=0)
    needs_blocks: int | None
    base_ns_per_unit: Number
    new_ns_per_unit: Number
    word: ClaimWord | None
    reason: Text | None
    repeats: Text | None


def columns() -> list[str]:
    """The columns of a row, in order."""
    return list(ClaimRow.model_fields)


def rows(machine: str, report: Report) -> Iterator[ClaimRow]:
    """The rows of all claims, in the order of the report; none for a run without."""
    for claim in report.claims:
        for group in claim.groups:
            for row in group.rows:
                yield _row(machine, report.run, claim, group, row)


def _row(machine: str, run: str, claim: Claim, group: Group, row: Row) -> ClaimRow:
    ratio, saves = row.ratio, row.difference
    same, judged = row.same or (None, None), row.judged or (None, None)
    return ClaimRow(
        machine=machine,
        run=run,
        claim=claim.name,
        claim_word=claim.word,
        group=group.title,
        row=row.name,
        key=row.key,
        metric=group.metric,
        unit=group.unit,
        runner=row.runner,
        base=row.base,
        new=row.new,
        said=row.said,
        published=row.published,
        same_low=same[0],
        same_high=same[1],
        ratio=ratio and ratio.value,
        ratio_low=ratio and ratio.low,
        ratio_high=ratio and ratio.high,
        saves_ns=saves and saves.value,
        saves_ns_low=saves and saves.low,
        saves_ns_high=saves and saves.high,
        judged_low=judged[0],
        judged_high=judged[1],
        guard=row.guard,
        blocks=row.blocks,
        needs_blocks=row.needed,
        base_ns_per_unit=row.base_time and row.base_time.value,
        new_ns_per_unit=row.new_time and row.new_time.value,
        word=row.verdict,
        reason=row.reason or None,
        repeats=row.repeats or None,
    )
