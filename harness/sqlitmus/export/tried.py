"""Rows of settings that were tried: what each did to a group of queries, and what a commit lost."""

from collections.abc import Iterator

from pydantic import Field

from sqlitmus.export.numbers import Number, Text
from sqlitmus.results.advice import Advice, Counsel, Effect, Promise
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.verdicts import Verdict


class SettingRow(Model):
    """A setting on one group of queries and one database, on one machine.

    `ratio` is time of the case `new` over that of `base`: below 1 the setting helps. `counsel` is
    the upshot of all rows of the setting, `weakens` whether a commit promises less with it: from
    `promise_without` to `promise_with`, None where it was tried on no query that writes.
    """

    machine: str
    run: str
    runner: str
    setting: str
    title: str
    counsel: Counsel
    weakens: bool
    promise_without: Promise | None
    promise_with: Promise | None
    group: str
    database: str
    effect: Effect
    reason: Text | None
    base: str
    new: str
    ratio: Number
    ratio_low: Number
    ratio_high: Number
    verdict: Verdict | None
    blocks: int = Field(ge=0)
    needs_blocks: int | None
    base_ns_per_unit: Number
    new_ns_per_unit: Number


def rows(machine: str, report: Report) -> Iterator[SettingRow]:
    """The rows of all settings, in the order of the report; none for a run without."""
    for advice in report.headline:
        if isinstance(advice, Advice):
            yield from _rows(machine, report.run, advice)


def _rows(machine: str, run: str, advice: Advice) -> Iterator[SettingRow]:
    for setting in advice.settings:
        for tried in setting.tried:
            ratio = tried.ratio
            yield SettingRow(
                machine=machine,
                run=run,
                runner=advice.runner,
                setting=setting.name,
                title=setting.title,
                counsel=setting.counsel,
                weakens=setting.weakens,
                promise_without=setting.before,
                promise_with=setting.after,
                group=tried.group,
                database=tried.database,
                effect=tried.effect,
                reason=tried.reason or None,
                base=tried.base,
                new=tried.new,
                ratio=ratio and ratio.value,
                ratio_low=ratio and ratio.low,
                ratio_high=ratio and ratio.high,
                verdict=tried.verdict,
                blocks=tried.blocks,
                needs_blocks=tried.needs_blocks,
                base_ns_per_unit=tried.base_time and tried.base_time.value,
                new_ns_per_unit=tried.new_time and tried.new_time.value,
            )
