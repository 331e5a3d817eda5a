from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sqlitmus.analysis import RunDataError, analyse, load, read
from sqlitmus.catalog import presets
from tests.analysis.runs import (
    case,
    checks,
    empty,
    filled,
    make,
    noisy,
    plan,
    runner,
    samples,
    write,
)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"schema_version": 1}, r"plan: \$.schema_version: "),
        ({"blocks": 0}, r"plan: \$.blocks: .*greater than or equal to 1"),
        ({"blocks": "x"}, r"plan: \$.blocks: "),
        ({"margin": 0}, r"plan: \$.margin: "),
        ({"runners": []}, r"plan: \$.runners: "),
        ({"reference": "nobody"}, "reference 'nobody' is not among the runners node, bun"),
        ({"canary": "nobody"}, "canary 'nobody'"),
        ({"floor": "nobody"}, "floor 'nobody'"),
        ({"cases": [case("a"), case("a")]}, "case a occurs more than once"),
        ({"runners": [runner("node"), runner("node")]}, "runner node occurs more than once"),
        (
            {"cases": [case("a", metric="warm")]},
            r"\$.cases\[0\].metric: .*'p99' or 'timer_p99'",
        ),
        ({"cases": [case("a", operations=0)]}, r"\$.cases\[0\]: .*at least 1 operation"),
        ({"cases": [case("a", per_operation=0)]}, r"\$.cases\[0\].per_operation: "),
        ({"cases": [{"id": "a"}]}, r"\$.cases\[0\].scenario: Field required"),
    ],
)
def test_a_bad_plan_is_refused_with_its_place(changes: dict[str, object], text: str) -> None:
    with pytest.raises(RunDataError, match=text):
        make({**plan(), **changes}, lines=[], verify=[])


def test_a_bad_check_is_refused_with_its_cell() -> None:
    of, db = plan(), empty()
    run = filled(db, of, checks(of), [], {})
    db.execute("UPDATE cell SET verification = json_set(verification, '$.outcome', 'maybe')")
    with pytest.raises(RunDataError, match=r"verification of get-pk/node: \$.outcome: "):
        read(db, run, {})


def test_a_cell_checked_twice_keeps_its_last_check() -> None:
    first = {**checks(plan())[0], "outcome": "failed", "reason": "interrupted"}
    assert make(verify=[first, *checks(plan())]).checks["get-pk", "node"].outcome == "ok"


def test_completeness_is_what_the_run_says() -> None:
    assert make().samples.complete
    assert not make(lines=samples(plan(), noisy(), complete=False)).samples.complete


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sample SET block = 12 WHERE id = 1",
        "UPDATE sample SET label = 'nobody' WHERE id = 1",
        "UPDATE cell SET case_id = 'nothing' WHERE id = (SELECT cell FROM sample WHERE id = 1)",
    ],
)
def test_a_sample_that_no_plan_knows_is_refused(statement: str) -> None:
    of, db = plan(), empty()
    run = filled(db, of, checks(of), samples(of, noisy()), {})
    db.execute(statement)
    with pytest.raises(RunDataError, match="sample 1: the plan has no "):
        read(db, run, {})


def test_a_figure_that_nobody_recorded_is_unknown() -> None:
    """Of a run from before the figure existed."""
    of, db = plan(), empty()
    run = filled(db, of, checks(of), samples(of, noisy()), {})
    db.execute("DELETE FROM value WHERE figure = (SELECT id FROM figure WHERE name = 'cpu')")
    found, whole = read(db, run, {}).samples, make().samples
    assert np.isnan(found.figures["cpu"]).all()
    assert not np.isnan(whole.figures["cpu"]).all()
    assert np.array_equal(found.time, whole.time, equal_nan=True)


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = load(write(tmp_path))
    assert run.presets == presets.load()
    assert analyse(replace(run, presets={})) == analyse(make())


def test_a_run_killed_before_its_first_sample_is_still_a_run(tmp_path: Path) -> None:
    run = load(write(tmp_path, verify=[], lines=[], machine={}))
    assert (run.checks, run.machine, run.details) == ({}, {}, None)
    assert analyse(run).blocks_complete == 0
