"""Suites, axes and filters: which cells are wanted, by which name, and what is said of a typo."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.catalog import cases as made
from sqlitmus.catalog import claims as claimfiles
from sqlitmus.catalog import plan
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.choose import choose, mode_of
from sqlitmus.catalog.plan import ASPECTS, differences, facts
from sqlitmus.catalog.scenario import Variant
from sqlitmus.vocabulary.errors import UsageError
from tests.known import KNOWN, ROOT, case_of

NODE, BUN, FLOOR = (KNOWN.runners[name] for name in ("node", "bun", "rust-ffi"))
QUICK = KNOWN.modes["quick"]
IDS = [case.id for suite in KNOWN.suites.values() for case in made.cases_of(suite, KNOWN, QUICK)]


def cells(
    *filters: str, suite: str = "quick", runners: list[str] | None = None
) -> dict[str, list[str]]:
    _, mode = mode_of(KNOWN, suite, None)
    return choose(KNOWN, suite, mode, [], runners or [], list(filters), None)[1]


def all_runners(found: dict[str, list[str]]) -> set[str]:
    return {name for names in found.values() for name in names}


@pytest.mark.parametrize("case_id", sorted(set(IDS)))
def test_a_case_id_reads_back_as_the_same_case(case_id: str) -> None:
    name, axes = made.parse_case(case_id, KNOWN)
    assert made.case_id(name, axes, KNOWN.scenarios[name]) == case_id


@given(st.data())
def test_any_axis_values_round_trip(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(KNOWN.scenarios)))
    spec = KNOWN.scenarios[name]
    axes = {axis: data.draw(st.sampled_from(values)) for axis, values in spec.axes.items()}
    assert made.parse_case(made.case_id(name, axes, spec), KNOWN) == (name, axes)


def test_default_values_are_left_out_of_an_id_and_may_be_given() -> None:
    name, axes = made.parse_case("get-pk@profile=normalised", KNOWN)
    assert made.case_id(name, axes, KNOWN.scenarios[name]) == "get-pk"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("get-pkk", "there is no scenario 'get-pkk'; did you mean get-pk or get-pk-miss"),
        ("get-pk@profil=x", "there is no axis of get-pk 'profil'; did you mean profile?"),
        (
            "get-pk@profile=durabel",
            "there is no value of get-pk's profile 'durabel'; did you mean durable?",
        ),
        ("scan-full@zzz=1", "there is no axis of scan-full 'zzz'; expected one of profile"),
    ],
)
def test_an_unknown_case_is_told_with_the_nearest_names(text: str, message: str) -> None:
    with pytest.raises(UsageError) as told:
        made.parse_case(text, KNOWN)
    assert str(told.value).startswith(message)


def test_each_scenario_is_in_smoke_and_in_full_or_under_load_or_in_a_claim() -> None:
    claims = claimfiles.read(ROOT / "scenarios" / "claims", KNOWN).values()
    claimed = {made.parse_case(case, KNOWN)[0] for claim in claims for case, _ in claim.cells()}
    asked: dict[str, set[str]] = {}
    for name in ("smoke", "service", "full"):
        cases = made.cases_of(KNOWN.suites[name], KNOWN, QUICK)
        asked[name] = {case.scenario for case in cases}
        assert len({case.id for case in cases}) == len(cases)
    assert asked["smoke"] == set(KNOWN.scenarios)
    assert not asked["full"] & asked["service"]
    assert asked["full"] | asked["service"] | claimed == set(KNOWN.scenarios)
    for left_out in ("under load", "published claims"):
        assert left_out in KNOWN.suites["full"].summary


def test_the_help_of_the_full_suite_tells_its_cases_and_its_budget() -> None:
    assert KNOWN.modes[KNOWN.suites["full"].mode].budget_s == 3600
    many = len(made.cases_of(KNOWN.suites["full"], KNOWN, QUICK))
    told = f"# Measure: the full suite, {many} cases, budget one hour; "
    assert told in (ROOT / "Justfile").read_text("utf-8")


def test_a_suite_selects_values_and_leaves_the_other_axes_at_their_default() -> None:
    ids = [
        c.id for c in made.cases_of(KNOWN.suites["quick"], KNOWN, QUICK) if c.scenario == "get-pk"
    ]
    assert ids == ["get-pk", "get-pk@profile=shipped"]


def test_the_oracle_is_measured_only_where_a_suite_or_the_user_names_it() -> None:
    assert "python" not in all_runners(cells())
    assert "python" in all_runners(cells(suite="smoke"))
    assert all_runners(cells(runners=["python"])) == {"python"}


def test_the_first_override_that_fits_decides_the_operations() -> None:
    spec = KNOWN.scenarios["insert-autocommit"]
    axes = {axis: values[0] for axis, values in spec.axes.items()}
    assert made.make_case("insert-autocommit", axes, KNOWN, QUICK).operations == spec.operations
    durable = made.make_case("insert-autocommit", {**axes, "profile": "durable"}, KNOWN, QUICK)
    (override,) = [o for o in spec.overrides if o.when == {"profile": "durable"}]
    assert durable.operations == override.operations != spec.operations


def test_a_case_carries_profile_and_workers() -> None:
    case = case_of("parallel-get-pk@workers=4")
    assert case.workers == 4
    assert case.pragmas == KNOWN.profiles["normalised"].pragmas
    counts = case.iterations, case.warmup_iterations, case.warmup_ms
    assert counts == (QUICK.iterations[0], QUICK.warmup_iterations, QUICK.warmup_ms[0])


def test_a_cold_case_is_one_operation_without_warm_up() -> None:
    case = case_of("startup-noop", mode="standard")
    assert (case.metric, case.iterations, case.warmup_iterations, case.warmup_ms) == (
        "cold",
        1,
        0,
        0,
    )


def test_only_steps_of_the_axis_value_count() -> None:
    spec = KNOWN.scenarios["insert-types"]
    for value in spec.axes["value"]:
        (step,) = made.steps_of(spec, {"value": value, "profile": "normalised"})
        assert step.only == {"value": value}


def test_filter_terms_of_one_text_must_all_match_and_texts_are_alternatives() -> None:
    assert set(cells("scenario:scan-index-range runner:bun")) == {"scan-index-range"}
    assert cells("scenario:scan-index-range runner:bun")["scan-index-range"] == ["bun"]
    both = cells("scenario:scan-index-range runner:bun", "scenario:all runner:node")
    assert both == {"all": ["node"], "scan-index-range": ["bun"]}


def test_filter_keys() -> None:
    for runtime in (".NET", "Bun"):
        kind = ("runner", runtime)
        named = {n for n, spec in KNOWN.runners.items() if (spec.role, spec.runtime) == kind}
        assert all_runners(cells(f"runtime:{runtime.lower()}")) == named
    assert set(cells("group:start-up")) == {"startup-noop", "startup-first-row"}
    assert set(cells("workers:2")) == {"parallel-get-pk@workers=2,transaction=read"}
    assert set(cells("profile:shipped")) == {"get-pk@profile=shipped"}


def test_a_minus_excludes() -> None:
    others = {name for name in all_runners(cells()) if "better-sqlite3" not in name}
    assert all_runners(cells("-better-sqlite3")) == others
    assert "dotnet" not in all_runners(cells("-runner:dotnet"))
    groups = {KNOWN.scenarios[case.partition("@")[0]].group for case in cells("-group:reads")}
    assert "reads" not in groups
    assert {"writes", "start-up"} <= groups


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (["runer:bun"], "there is no filter key 'runer'; did you mean runner"),
        (["runner:nodd"], "nothing in this suite matches 'runner:nodd'. Did you mean node"),
        (["get-pkk"], "nothing in this suite matches 'get-pkk'. Did you mean get-pk"),
        (["qqqqqq"], "nothing in this suite matches 'qqqqqq'. `./just list` shows what there is"),
    ],
)
def test_a_filter_that_matches_nothing_is_told(filters: list[str], message: str) -> None:
    with pytest.raises(UsageError) as told:
        cells(*filters)
    assert str(told.value).startswith(message)


def test_unknown_suite_runner_and_reference() -> None:
    with pytest.raises(UsageError, match="there is no suite 'quik'; did you mean quick"):
        cells(suite="quik")
    with pytest.raises(UsageError, match="there is no runner 'nood'; did you mean node"):
        cells(runners=["nood"])
    with pytest.raises(UsageError, match="there is no runner 'nood'; did you mean node"):
        choose(KNOWN, "quick", QUICK, [], [], [], "nood")


def test_a_case_asked_for_twice_is_one() -> None:
    cases, _ = choose(KNOWN, "quick", QUICK, ["all", "all@rows=100"], [], [], None)
    assert [case.id for case in cases] == ["all"]


def test_a_reference_that_is_not_measured_is_refused_before_anything_is() -> None:
    with pytest.raises(UsageError) as told:
        choose(KNOWN, "quick", QUICK, [], ["bun", "deno"], [], "node")
    assert str(told.value) == (
        "the reference node is not among the runners of this run: bun, deno; add -r node or choose "
        "another --reference"
    )


class Planned:
    """The part of a plan that counts."""

    def __init__(self, cases: list[PlannedCase], size: str = "m", **hashes: str) -> None:
        self.size = size
        self.cases = cases
        self.definitions = {name.replace("_", " "): value for name, value in hashes.items()}


@pytest.fixture(scope="module")
def cases() -> list[PlannedCase]:
    return [case_of("get-pk"), case_of("insert-transaction@profile=durable")]


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


def test_a_definition_that_is_gone_differs(cases: list[PlannedCase]) -> None:
    hashes = plan.definitions(KNOWN, cases)
    assert set(hashes) >= {"scenario get-pk", "fixture users", "profile durable"}
    smaller = KNOWN.model_copy(
        update={"scenarios": {k: v for k, v in KNOWN.scenarios.items() if k != "get-pk"}}
    )
    assert differences(hashes, plan.definitions(smaller, cases)) == ["scenario get-pk"]
