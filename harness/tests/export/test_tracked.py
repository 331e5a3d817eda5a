"""Bencher Metric Format and github-action-benchmark."""

import json
from typing import Any

import pytest

from sqlitmus.export import formats
from sqlitmus.export.model import Row
from sqlitmus.export.rows import export_of
from tests.render import synthetic

Json = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return export_of([(name, synthetic.build(cases=14)) for name in ("a", "b")]).rows


@pytest.fixture(scope="module")
def few() -> list[Row]:
    """Nine blocks: no verdict."""
    return export_of([("a", synthetic.build(cases=14, blocks=9))]).rows


def by_name(rows: list[Row]) -> dict[str, Row]:
    return {formats.tracked_name(row): row for row in rows if row.outcome == "ok"}


def test_bmf_has_every_timed_cell_of_every_machine(rows: list[Row]) -> None:
    found: dict[str, Json] = json.loads(formats.render_bmf(rows))
    timed = by_name(rows)
    assert list(found) == list(timed)
    assert {name.split("/")[0] for name in found} == {"a", "b"}
    for name, measures in found.items():
        row = timed[name]
        time = formats.tracked_time(row)
        assert time
        assert measures["latency"] == {
            "value": time.value,
            "lower_value": time.low,
            "upper_value": time.high,
        }
        values = dict(row)
        assert measures["cpu-ns"] == {"value": values["cpu_ns_per_unit"]}
        assert measures["peak-rss-bytes"] == {"value": values["peak_rss_bytes"]}
        assert ("cold-ns" in measures) == (row.metric == "steady")
        assert ("overhead-ns" in measures) == (row.overhead_ns_per_unit is not None)


def test_gha_benchmark_has_the_primary_time_of_every_timed_cell(rows: list[Row]) -> None:
    found: list[Json] = json.loads(formats.render_gha_benchmark(rows))
    timed = by_name(rows)
    assert [one["name"] for one in found] == list(timed)
    for one in found:
        row = timed[one["name"]]
        time = formats.tracked_time(row)
        assert time
        assert one["value"] == time.value
        assert one["unit"] == f"ns/{row.unit}"
        assert set(one) == {"name", "unit", "value", "range", "extra"}
        compared, *others = one["extra"].split("\n")
        assert (f"the time of node: {row.verdict}" in compared) == (row.runner != "node")
        assert f"SQLite {row.sqlite_version}" in others[-1]


def test_what_is_left_out_is_told_by_reason(rows: list[Row], few: list[Row]) -> None:
    there = len(json.loads(formats.render_bmf(rows)))
    assert 0 < there < len(rows)
    told = formats.untracked(rows)
    assert told.startswith(f"{len(rows) - there} of {len(rows)} cells left out: ")
    for outcome in ("unsupported", "wrong", "failed", "missing"):
        assert f"{sum(row.outcome == outcome for row in rows)} {outcome}" in told
    assert "fewer" not in told
    assert "from fewer than 10 blocks" in formats.untracked(few)
    assert json.loads(formats.render_bmf(few)) == {}
    assert json.loads(formats.render_gha_benchmark(few)) == []
    assert formats.untracked(list(by_name(rows).values())) == ""


def test_a_time_without_bounds_has_no_range(rows: list[Row]) -> None:
    ends = {"cold_ns_low": None, "cold_ns_high": None, "runtime_version": None}
    (entry,) = json.loads(formats.render_gha_benchmark([rows[0].model_copy(update=ends)]))
    assert "range" not in entry
    assert "node of unknown version" in entry["extra"]
