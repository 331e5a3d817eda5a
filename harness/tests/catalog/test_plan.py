"""Which cells are wanted, by which name: suites, axes and filters, settings, presets."""

import re
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.catalog import cases as made, plan, presets
from sqlitmus.catalog.cases import PlannedCase, cases_of
from sqlitmus.catalog.choose import choose, mode_of, spare_of
from sqlitmus.catalog.plan import ASPECTS, Plan, differences, facts
from sqlitmus.catalog.settings import AXIS, NONE, SUITE, Settings, Trying, only, read, trying
from tests import known
from tests.catalog.faulty import faults, plant
from tests.known import KNOWN, ROOT, case_of
from tests.refusals import refused

QUICK = KNOWN.modes["quick"]


def cells(
    *filters: str,
    suite: str = "quick",
    cases: tuple[str, ...] = (),
    runners: tuple[str, ...] = (),
    reference: str | None = None,
) -> dict[str, list[str]]:
    _, mode = mode_of(KNOWN, suite, None)
    chosen, found = choose(KNOWN, suite, mode, [*cases], [*runners], [*filters], reference)
    assert [case.id for case in chosen] == list(found)
    return found


def all_runners(found: dict[str, list[str]]) -> set[str]:
    return {name for names in found.values() for name in names}


def test_default_values_are_left_out_of_an_id_and_may_be_given() -> None:
    for suite in KNOWN.suites.values():
        for case in cases_of(suite, KNOWN, QUICK):
            assert case_of(case.id) == case
    assert case_of("get-pk@profile=normalised").id == "get-pk"
    assert list(cells(cases=("all", "all@rows=100"))) == ["all"], "asked for twice, it is one"


def test_each_scenario_is_in_smoke_and_in_full_or_under_load_or_in_a_claim() -> None:
    published = known.published().values()
    claimed = {made.parse_case(case, KNOWN)[0] for claim in published for case, _ in claim.cells()}
    asked: dict[str, set[str]] = {}
    for name in ("smoke", "service", "full"):
        cases = cases_of(KNOWN.suites[name], KNOWN, QUICK)
        asked[name] = {case.scenario for case in cases}
        assert len({case.id for case in cases}) == len(cases)
    assert asked["smoke"] == {*KNOWN.scenarios}
    assert not asked["full"] & asked["service"]
    assert asked["full"] | asked["service"] | claimed == {*KNOWN.scenarios}
    full = KNOWN.suites["full"]
    for left_out in ("under load", "published claims"):
        assert left_out in full.summary
    assert KNOWN.modes[full.mode].budget_s == 3600
    told = (
        f"# Measure: the full suite, {len(cases_of(full, KNOWN, QUICK))} cases, budget one hour; "
    )
    assert told in (ROOT / "Justfile").read_text("utf-8")
    for name in ("quick", "service", "full"):
        mode = KNOWN.modes[KNOWN.suites[name].mode]
        assert mode.blocks >= made.MINIMUM_BLOCKS, "enough for verdicts"


def test_a_suite_selects_values_and_leaves_the_other_axes_at_their_default() -> None:
    found = cells()
    assert [case for case in found if case.startswith("get-pk@")] == ["get-pk@profile=shipped"]
    assert "get-pk" in found


def test_the_oracle_and_variants_are_measured_only_where_they_are_named() -> None:
    """The oracle by a suite or the user, a variant by the user."""
    of_role = {
        role: {n for n, spec in KNOWN.runners.items() if spec.role == role} for role in ROLES
    }
    assert of_role["variant"] >= {"rust-threadsafe2", "rust-ffi-system"}
    for suite in ("quick", "full"):
        assert all_runners(cells(suite=suite)) == of_role["runner"] | of_role["floor"]
    assert "python" in all_runners(cells(suite="smoke"))
    for names in (("python",), ("rust", "rust-threadsafe2")):
        assert all_runners(cells(runners=names)) == {*names}


ROLES = ("oracle", "runner", "floor", "variant")


def test_a_case_carries_what_its_suite_and_axes_say() -> None:
    case = case_of("parallel-get-pk@workers=4")
    assert (case.workers, case.pragmas) == (4, KNOWN.profiles["normalised"].pragmas)
    counts = case.iterations, case.warmup_iterations, case.warmup_ms
    assert counts == (QUICK.iterations[0], QUICK.warmup_iterations, QUICK.warmup_ms[0])
    cold = case_of("startup-noop", mode="standard")
    counts = cold.metric, cold.iterations, cold.warmup_iterations, cold.warmup_ms
    assert counts == ("cold", 1, 0, 0), "one operation without warm-up"
    spec = KNOWN.scenarios["insert-autocommit"]
    plain, durable = (case_of(f"insert-autocommit{axis}") for axis in ("", "@profile=durable"))
    (override,) = [o for o in spec.overrides if o.when == {"profile": "durable"}]
    assert plain.operations == spec.operations
    assert durable.operations == override.operations != spec.operations


def test_only_steps_of_the_axis_value_count() -> None:
    spec = KNOWN.scenarios["insert-types"]
    for value in spec.axes["value"]:
        (step,) = made.steps_of(spec, {"value": value, "profile": "normalised"})
        assert step.only == {"value": value}


@pytest.mark.parametrize(
    ("filters", "cases"),
    [
        # all terms of one text must match, and texts are alternatives
        (["scenario:scan-index-range runner:bun"], {"scan-index-range": ["bun"]}),
        (
            ["scenario:scan-index-range runner:bun", "scenario:all runner:node"],
            {"all": ["node"], "scan-index-range": ["bun"]},
        ),
        (["group:start-up runner:bun"], {"startup-noop": ["bun"], "startup-first-row": ["bun"]}),
        (["workers:2 runner:bun"], {"parallel-get-pk@workers=2,transaction=read": ["bun"]}),
        (["profile:shipped runner:bun"], {"get-pk@profile=shipped": ["bun"]}),
        (
            ["scenario:all runtime:.net", "scenario:all runtime:bun"],
            {"all": ["bun", "bun-better-sqlite3", "dotnet"]},
        ),
    ],
)
def test_filters_choose_cells(filters: list[str], cases: dict[str, list[str]]) -> None:
    assert {case: sorted(names) for case, names in cells(*filters).items()} == cases


def test_a_minus_excludes() -> None:
    others = {name for name in all_runners(cells()) if "better-sqlite3" not in name}
    assert all_runners(cells("-better-sqlite3")) == others
    assert all_runners(cells("-runner:dotnet")) == all_runners(cells()) - {"dotnet"}
    groups = {KNOWN.scenarios[case.partition("@")[0]].group for case in cells("-group:reads")}
    assert "reads" not in groups
    assert {"writes", "start-up"} <= groups


NOTHING = "nothing in this suite matches"
STRANGE = "the reference node is not among the runners of this run: bun, deno"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"cases": ["get-pkk"]}, "scenario 'get-pkk'; did you mean get-pk or get-pk-miss"),
        ({"cases": ["get-pk@profil=x"]}, "axis of get-pk 'profil'; did you mean profile?"),
        (
            {"cases": ["get-pk@profile=durabel"]},
            "value of get-pk's profile 'durabel'; did you mean durable?",
        ),
        ({"cases": ["scan-full@zzz=1"]}, "axis of scan-full 'zzz'; expected one of profile"),
        ({"suite": "quik"}, "suite 'quik'; did you mean quick"),
        ({"runners": ["nood"]}, "runner 'nood'; did you mean node"),
        ({"reference": "nood"}, "runner 'nood'; did you mean node"),
        (
            {"runners": ["bun", "deno"], "reference": "node"},
            f"{STRANGE}; add -r node or choose another --reference",
        ),
        ("runer:bun", "filter key 'runer'; did you mean runner"),
        ("runner:nodd", f"{NOTHING} 'runner:nodd'. Did you mean node"),
        ("get-pkk", f"{NOTHING} 'get-pkk'. Did you mean get-pk"),
        ("qqqqqq", f"{NOTHING} 'qqqqqq'. `./just list` shows what there is"),
    ],
)
def test_what_is_not_there_is_told_with_the_nearest_names(
    asked: dict[str, Any] | str, message: str
) -> None:
    with refused(f"^(there is no )?{re.escape(message)}"):
        cells(asked) if isinstance(asked, str) else cells(**asked)


def planned(cases: list[PlannedCase], size: str = "m", **hashes: str) -> Plan:
    """The part of a plan that counts."""
    of = {name.replace("_", " "): value for name, value in hashes.items()}
    return Plan.model_construct(size=size, cases=cases, definitions=of)


CASES = [case_of("get-pk"), case_of("insert-transaction@profile=durable")]
CHANGES: dict[str, Any] = {
    "sql": ["SELECT 2"],
    "pragmas": [("cache_size", 7)],
    "metric": "cold",
    "per_operation": 7,
    "workers": 7,
    "processes": 7,
    "fixture": "other",
    "variant": case_of("threads@option=immutable").variant,
}


@pytest.mark.parametrize("changes", [*({name: of} for name, of in CHANGES.items()), {}], ids=str)
def test_each_aspect_of_a_case_is_work_and_how_often_it_is_done_is_not(
    changes: dict[str, Any],
) -> None:
    changed = [CASES[0].model_copy(update={"operations": 7, "iterations": 3, **changes}), CASES[1]]
    differing = differences(facts(planned(CASES)), facts(planned(changed)))
    assert differing == [f"{aspect} of get-pk" for aspect in changes]
    assert set(CHANGES) == set(ASPECTS)


def test_definitions_and_the_size_are_work_and_cases_that_both_measured() -> None:
    base = planned(CASES, scenario_x="1", fixture_users="1")
    other = planned(CASES, "s", scenario_x="2", fixture_users="2")
    assert differences(facts(base), facts(other)) == ["fixture size", "fixture users"]
    changed = [CASES[0], CASES[1].model_copy(update={"sql": ["SELECT 2"]})]
    few, many = (facts(planned(cases), {CASES[0].id}) for cases in (CASES, changed))
    assert differences(few, many) == []
    hashes = plan.definitions(KNOWN, CASES)
    assert set(hashes) >= {"scenario get-pk", "fixture users", "profile durable"}
    left = {name: spec for name, spec in KNOWN.scenarios.items() if name != "get-pk"}
    smaller = KNOWN.model_copy(update={"scenarios": left})
    assert differences(hashes, plan.definitions(smaller, CASES)) == ["scenario get-pk"]


SETTING = {"title": "t", "groups": ["reads"], "does": "It does this."}
GROUP = {"title": "reads", "scenario": "get-pk", "operations": 1, "databases": ["small"]}


@pytest.fixture(scope="module")
def tried() -> Trying:
    return trying(read(), KNOWN, "node")


def settings(*setting: dict[str, Any]) -> Settings:
    return Settings.model_validate(
        {
            "start": "shipped",
            "margin": 0.05,
            "database": [{"name": "small", "title": "small", "rows": {"users": 10}}],
            "group": {"reads": GROUP},
            "setting": [{**SETTING, **each} for each in setting],
        }
    )


CACHE = {"name": "cache", "pragmas": [["cache_size", -1]]}


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ({"name": "a", "pragmas": [["x", 1]], "beside": "b"}, "a names b, which is not above it"),
        ({"name": "a", "of": ["b"]}, "a names b, which is not above it"),
        ({"name": "cache", "pragmas": [["x", 1]]}, "cache is there twice"),
        ({"name": "none", "pragmas": [["x", 1]]}, "none is there twice"),
        ({"name": "a"}, "a needs pragmas, a transaction, or of"),
        ({"name": "a", "pragmas": [["x", 1]], "groups": ["lists"]}, "names no group: lists"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(setting: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        settings(CACHE, setting)


def test_a_group_whose_scenario_the_catalogue_lacks_is_refused_with_its_name() -> None:
    bare = KNOWN.model_copy(update={"scenarios": {"get-const": KNOWN.scenarios["get-const"]}})
    with refused(r"settings.toml: there is no scenario 'get-pk'"):
        trying(settings(CACHE), bare, "node")


def test_together_has_what_each_has_once_and_some_bring_those_that_they_rest_on(
    tmp_path: Path,
) -> None:
    both = settings(
        CACHE,
        {"name": "more", "pragmas": [["cache_size", -2], ["mmap_size", 1]], "beside": "cache"},
        {"name": "both", "of": ["cache", "more"]},
    ).variants()["both"]
    assert both.pragmas == [("cache_size", -2), ("mmap_size", 1)]
    there = read(tmp_path)
    assert there == read(), "a catalogue without the file has the clone's"
    names = [setting.name for setting in only(there, ["synchronous"]).setting]
    assert names == ["journal_mode", "synchronous"]
    with refused(r"no setting 'cache'.*cache_size"):
        only(there, ["cache"])


def test_the_clones_settings_are_those_that_were_asked_for_with_their_sources() -> None:
    there = read()
    assert {name for setting in there.setting for name, _ in setting.pragmas} == {
        *("journal_mode", "synchronous", "cache_size", "mmap_size", "temp_store"),
        *("page_size", "busy_timeout", "wal_autocheckpoint"),
    }
    together, weaker = (there.variants()[name] for name in ("together", "together-normal"))
    assert "synchronous" not in dict(together.pragmas), "it is meant to weaken commits"
    assert "synchronous" in dict(weaker.pragmas)
    for setting in there.setting:
        if setting.name in ("mmap_size", "cache_size"):  # publications contradict each other
            assert len(setting.publications) >= 2
            assert all(each.url.startswith("https://") for each in setting.publications)


def test_base_and_new_differ_in_the_setting_alone(tried: Trying) -> None:
    catalog, advice = tried.catalog, tried.advice
    mode = catalog.modes[SUITE]
    cases = {case.id: case for case in cases_of(catalog.suites[SUITE], catalog, mode)}
    by_name = {setting.name: setting for setting in advice.settings.setting}
    pairs = [(t, cases[t.base], cases[t.new]) for t in advice.trials if t.base]
    assert {t.setting for t, _, _ in pairs} == by_name.keys()
    for trial, base, new in pairs:
        setting = by_name[trial.setting]
        assert base.axes[AXIS] == (setting.beside or NONE)
        assert (base.sql, base.fixture, base.operations) == (new.sql, new.fixture, new.operations)
        if not setting.of:
            assert dict(base.pragmas) | dict(setting.pragmas) == dict(new.pragmas)
    reading = [case for case in cases.values() if not catalog.scenarios[case.scenario].writes]
    assert reading
    assert not any(case.variant.transaction for case in reading)


def test_one_case_of_each_set_has_a_canary_and_what_fits_neither_says_why(tried: Trying) -> None:
    repeated = [case for case, runner in tried.advice.canaries().items() if runner]
    sets = {(t.group, t.database) for t in tried.advice.trials if t.base}
    assert sorted(case.partition("@")[0] for case in repeated) == sorted(map("-".join, sets))
    beyond = [t for t in tried.advice.trials if t.database == "beyond"]
    assert {t.group for t in beyond} == {"reads", "lists", "scans"}
    assert all(t.reason and not t.base for t in beyond)


FILE_PRESETS = ROOT / "scenarios/presets.toml"


def test_the_clone_has_four_presets_whose_operations_have_names() -> None:
    there = presets.read(FILE_PRESETS, KNOWN)
    assert len(there) == 4
    for suite in ("quick", "full"):
        mode = KNOWN.modes[KNOWN.suites[suite].mode]
        ids = {case.id for case in cases_of(KNOWN.suites[suite], KNOWN, mode)}
        for preset in there.values():
            assert preset.summary
            assert {*preset.calls} <= {*preset.names}
            assert {*preset.calls} <= ids - {*spare_of(KNOWN, suite, mode)}


@pytest.mark.parametrize(("file", "old", "new", "said"), faults("presets.toml", "settings.toml"))
def test_a_fault_is_told_with_its_place(
    tmp_path: Path, file: str, old: str, new: str, said: str
) -> None:
    target = plant(tmp_path, file, old, new)
    with refused(re.escape(f"{target}{said}")):
        presets.read(target, KNOWN) if file == "presets.toml" else read(tmp_path)


def test_calls_of_the_command_line_stand_first() -> None:
    there_are = presets.load()
    name = list(there_are)[-1]
    assert next(iter(presets.chosen(name, there_are))) == name
    assert presets.chosen(None, there_are) == there_are
    mine = presets.chosen("get-pk=600, get-index@profile=shipped=0.5", there_are, KNOWN)
    assert next(iter(mine)) == presets.OWN
    assert mine[presets.OWN].calls == {"get-pk": 600, "get-index@profile=shipped": 0.5}
    assert mine[presets.OWN].name("get-pk") == "point read(s)"
    assert mine[presets.OWN].name("get-index") == "call(s) of get-index"


CALLS = "each case needs its calls per 1,000 requests"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("read-heavy", "there is no preset 'read-heavy'; did you mean read-heavy-api"),
        ("get-pk=x", f"get-pk has 'x'; {CALLS}, a number above"),
        ("get-pk=0", f"get-pk has '0'; {CALLS}, a number above"),
        ("get-pk=1,get-pk=2", "get-pk has two numbers; keep one"),
        ("get-pk=1,,all=2", "a case has ''; each case needs its calls"),
        ("get-index=1", "there is no case 'get-index'; did you mean get-pk"),
        ("gte-pk=1", "there is no scenario 'gte-pk'; did you mean get-pk"),
        ("reads=3,writes=1", "there is no case 'reads'"),
        ("service-mixed=1", "service-mixed has no time of one call"),
    ],
)
def test_other_calls_are_refused(text: str, fault: str) -> None:
    with refused(re.escape(fault)):
        presets.chosen(text, presets.load(), KNOWN, ["get-pk", "all", "service-mixed", "gte-pk"])
