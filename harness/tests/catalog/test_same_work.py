"""Resume, merge and compare ask one question; each difference in the work is named."""

from typing import Any

import pytest

from sqlitmus.catalog import definitions, plan
from sqlitmus.catalog.cases import PlannedCase, make_case, parse_case
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import ASPECTS, differences, facts
from sqlitmus.catalog.scenario import Variant


class Planned:
    """The part of a plan that counts."""

    def __init__(self, cases: list[PlannedCase], size: str = "m", **hashes: str) -> None:
        self.size = size
        self.cases = cases
        self.definitions = {name.replace("_", " "): value for name, value in hashes.items()}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return definitions.load()


@pytest.fixture(scope="module")
def cases(catalog: Catalog) -> list[PlannedCase]:
    ids = ("get-pk", "insert-transaction@profile=durable")
    return [make_case(*parse_case(name, catalog), catalog, catalog.modes["quick"]) for name in ids]


CHANGES: dict[str, Any] = {
    "sql": ["SELECT 2"],
    "pragmas": [("cache_size", 7)],
    "metric": "cold",
    "per_operation": 7,
    "workers": 7,
    "processes": 7,
    "fixture": "other",
    "variant": Variant(encoding="UTF-16le"),
}


@pytest.mark.parametrize("aspect", ASPECTS)
def test_each_aspect_of_a_case_is_work(cases: list[PlannedCase], aspect: str) -> None:
    changed = [cases[0].model_copy(update={aspect: CHANGES[aspect]}), cases[1]]
    assert differences(facts(Planned(cases)), facts(Planned(changed))) == [f"{aspect} of get-pk"]


def test_each_aspect_of_a_case_is_named_in_the_tests() -> None:
    assert set(CHANGES) == set(ASPECTS)


def test_how_often_a_case_is_done_is_no_work_of_another_kind(cases: list[PlannedCase]) -> None:
    longer = [case.model_copy(update={"operations": 7, "iterations": 3}) for case in cases]
    assert differences(facts(Planned(cases)), facts(Planned(longer))) == []


def test_definitions_and_the_size_are_work(cases: list[PlannedCase]) -> None:
    base = Planned(cases, scenario_x="1", fixture_users="1")
    other = Planned(cases, "s", scenario_x="2", fixture_users="2")
    assert differences(facts(base), facts(other)) == ["fixture size", "fixture users"]


def test_only_the_cases_that_both_measured_count(cases: list[PlannedCase]) -> None:
    changed = [cases[0], cases[1].model_copy(update={"sql": ["SELECT 2"]})]
    base, other = (facts(Planned(many), {cases[0].id}) for many in (cases, changed))
    assert differences(base, other) == []


def test_a_definition_that_is_gone_differs(catalog: Catalog, cases: list[PlannedCase]) -> None:
    hashes = plan.definitions(catalog, cases)
    assert set(hashes) >= {"scenario get-pk", "fixture users", "profile durable"}
    smaller = catalog.model_copy(
        update={"scenarios": {k: v for k, v in catalog.scenarios.items() if k != "get-pk"}}
    )
    assert differences(hashes, plan.definitions(smaller, cases)) == ["scenario get-pk"]
