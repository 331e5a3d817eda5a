import numpy as np
import pytest

from sqlitmus.analysis import RunDataError
from tests.analysis.runs import COLUMNS, case, checks, make, noisy, plan, runner, samples

HEADER = samples(plan(), noisy())[0]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"schema_version": 1}, r"plan.json: \$.schema_version: "),
        ({"blocks": 0}, r"plan.json: \$.blocks: .*greater than or equal to 1"),
        ({"blocks": "x"}, r"plan.json: \$.blocks: "),
        ({"margin": 0}, r"plan.json: \$.margin: "),
        ({"runners": []}, r"plan.json: \$.runners: "),
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


def test_a_bad_check_is_refused_with_its_line() -> None:
    verify = [*checks(plan())[:2], {**checks(plan())[2], "outcome": "maybe"}]
    with pytest.raises(RunDataError, match=r"verify.jsonl line 3: \$.outcome: "):
        make(verify=verify)


def test_samples_of_another_run_are_refused() -> None:
    with pytest.raises(RunDataError, match=r"line 1: belongs to run 'other', plan.json to 'run-1'"):
        make(lines=[{**HEADER, "run": "other"}])


def test_samples_of_an_unknown_schema_are_refused() -> None:
    with pytest.raises(RunDataError, match=r"samples.jsonl line 1: schema 9, this version reads 4"):
        make(lines=[{**HEADER, "schema": 9}])


def test_samples_whose_rows_were_objects_are_refused() -> None:
    lines = [{"schema": 2, "run": "run-1"}, {"block": 0, "position": 0}]
    with pytest.raises(
        RunDataError, match=r"schema 2, this version reads 4; use the sqlitmus that"
    ):
        make(lines=lines)


@pytest.mark.parametrize(
    ("columns", "missing"), [(None, "case, label"), (5, "case, label"), (COLUMNS[1:], "block")]
)
def test_a_header_without_the_columns_is_refused(columns: object, missing: str) -> None:
    message = rf"samples.jsonl line 1: no column {missing}.* in \$.columns; restore"
    with pytest.raises(RunDataError, match=message):
        make(lines=[{**HEADER, "columns": columns}])


def test_rows_without_a_header_are_refused() -> None:
    with pytest.raises(RunDataError, match=r"samples.jsonl line 1: stands before the header"):
        make(lines=samples(plan(), noisy())[1:])


def test_columns_are_found_by_their_names() -> None:
    order = [*reversed(COLUMNS), "new"]
    rows = [[x.get(name) for name in order] for x in samples(plan(), noisy())[1:-1]]
    found = make(lines=[{**HEADER, "columns": order}, *rows]).samples
    assert np.array_equal(found.time, make().samples.time, equal_nan=True)
    assert found.strays == 0


def test_a_cell_checked_twice_keeps_its_last_check() -> None:
    first = {**checks(plan())[0], "outcome": "failed", "reason": "interrupted"}
    assert make(verify=[first, *checks(plan())]).checks["get-pk", "node"].outcome == "ok"


def test_completeness_is_what_the_footer_says() -> None:
    assert make().samples.complete
    assert not make(lines=samples(plan(), noisy(), complete=False)).samples.complete
    assert not make(lines=[{"complete": "yes"}]).samples.complete
