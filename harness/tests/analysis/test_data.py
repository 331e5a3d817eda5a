import pytest

from sqlitmus.analysis import RunDataError
from tests.analysis.runs import case, checks, make, noisy, plan, runner, samples


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
        ({"cases": [case("a", metric="warm")]}, r"\$.cases\[0\].metric: .*'cold' or 'steady'"),
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
        make(lines=[{"schema": 2, "run": "other"}])


def test_samples_of_an_unknown_schema_are_refused() -> None:
    with pytest.raises(RunDataError, match=r"samples.jsonl line 1: schema 9, this version reads 2"):
        make(lines=[{"schema": 9, "run": "run-1"}])


def test_a_cell_checked_twice_keeps_its_last_check() -> None:
    first = {**checks(plan())[0], "outcome": "failed", "reason": "interrupted"}
    assert make(verify=[first, *checks(plan())]).checks["get-pk", "node"].outcome == "ok"


def test_completeness_is_what_the_footer_says() -> None:
    assert make().samples.complete
    assert not make(lines=samples(plan(), noisy(), complete=False)).samples.complete
    assert not make(lines=[{"complete": "yes"}]).samples.complete
