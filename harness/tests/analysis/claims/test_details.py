"""Details → arrays in the places of the samples."""

from typing import Any

import numpy as np
import pytest

from sqlitmus.analysis import RunData, RunDataError, read
from sqlitmus.analysis.data import FIGURES
from tests.analysis import runs
from tests.analysis.claims.claim_runs import details

Json = dict[str, Any]
NAMES = ("node", "bun")


def plan(**changes: object) -> Json:
    return runs.plan(
        NAMES, blocks=3, cases=[runs.case("get-pk"), runs.case("all")], kind="claims", **changes
    )


def make(told: list[Json] | None, *, blocks: list[Json] | None = None) -> RunData:
    of = plan()
    lines = runs.samples(of, runs.noisy())
    return runs.from_records(of, runs.checks(of), lines, {}, blocks=blocks or [], details=told)


def told() -> list[Json]:
    return details(runs.samples(plan(), runs.noisy()))


def test_a_run_without_the_file_has_none() -> None:
    assert make(None).details is None


def test_each_figure_stands_where_its_sample_does() -> None:
    found = make(told())
    assert found.details is not None
    assert found.details.figures.keys() == FIGURES.keys()
    average = found.details.figures["average"]
    assert average.shape == found.samples.time.shape == (2, 3, 3)
    np.testing.assert_allclose(average, found.samples.time)
    np.testing.assert_allclose(found.details.figures["loop"], found.samples.time)
    np.testing.assert_allclose(found.details.figures["p999"], 4 * found.samples.time)


def test_single_figures_of_an_invocation() -> None:
    own = told()[0] | {
        "busy": 3,
        "writer_busy": 2,
        "writer": {"mean": 5, "p50": 6, "p99": 7, "p999": 8, "max": 9, "buckets": [[5, 1]]},
    }
    figures = (make([own]).details or pytest.fail("no details")).figures
    place = np.argwhere(~np.isnan(figures["busy"]))
    assert len(place) == 1
    read = {name: figures[name][tuple(place[0])] for name in figures}
    assert {name: read[name] for name in ("busy", "writer busy", "spread")} == {
        "busy": 3,
        "writer busy": 2,
        "spread": 1.25,
    }
    assert [read[f"writer {name}"] for name in ("p50", "p99", "p999")] == [6, 7, 8]
    assert read["cpu"] == pytest.approx(1.4)
    assert read["skew"] == 50_000


def test_histograms_are_merged_over_the_blocks_of_a_cell() -> None:
    found = make(told()).details
    assert found is not None
    assert set(found.histograms) == {(c, s) for c in range(2) for s in range(3)}
    assert all(sum(buckets.values()) == 3 * 1000 for buckets in found.histograms.values())
    assert found.cpus[0, 0] == {"0": 0.9, "1": 0.5}


def test_what_was_not_recorded_is_nan() -> None:
    bare = [{"position": 0, "loop_ns": 5e5, "operations": 100}]
    found = make(bare).details
    assert found is not None
    assert np.nansum(found.figures["loop"]) == 5000
    for name in ("average", "p50", "writer p99", "spread", "cpu", "skew"):
        assert np.isnan(found.figures[name]).all()
    assert not found.histograms
    assert not found.cpus


def test_a_run_without_details_has_none() -> None:
    assert make([]).details is None


def test_a_record_that_is_no_detail_is_named() -> None:
    of = plan()
    db = runs.empty()
    lines = runs.samples(of, runs.noisy())
    run = runs.filled(db, of, runs.checks(of), lines, {}, details=told())
    db.execute('UPDATE detail SET record = \'{"latencies": {"mean": "much"}}\' WHERE sample = 2')
    with pytest.raises(RunDataError, match=r"detail of sample 2: \$\.loop_ns: Field required"):
        read(db, run, {})
