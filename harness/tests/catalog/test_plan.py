"""Which cells are wanted, by which name: suites, axes and filters, settings, presets and claims."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.catalog import cases as made
from sqlitmus.catalog import claims as claimfiles
from sqlitmus.catalog import fixture, plan, presets
from sqlitmus.catalog.cases import PlannedCase, cases_of
from sqlitmus.catalog.choose import choose, mode_of, of_claims, spare_of
from sqlitmus.catalog.plan import ASPECTS, Plan, differences, facts
from sqlitmus.catalog.published import Claim, figure_problems, uncertainty
from sqlitmus.catalog.scenario import Variant
from sqlitmus.catalog.settings import AXIS, FILE, NONE, SUITE, Settings, Trying, only, read, trying
from tests.known import KNOWN, ROOT, case_of
from tests.refusals import refused

NODE, BUN, FLOOR = (KNOWN.runners[name] for name in ("node", "bun", "rust-ffi"))
QUICK = KNOWN.modes["quick"]


def cells(
    *filters: str, suite: str = "quick", runners: list[str] | None = None
) -> dict[str, list[str]]:
    _, mode = mode_of(KNOWN, suite, None)
    return choose(KNOWN, suite, mode, [], runners or [], list(filters), None)[1]


def all_runners(found: dict[str, list[str]]) -> set[str]:
    return {name for names in found.values() for name in names}


@given(st.data())
def test_any_axis_values_round_trip(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(KNOWN.scenarios)))
    spec = KNOWN.scenarios[name]
    axes = {axis: data.draw(st.sampled_from(values)) for axis, values in spec.axes.items()}
    assert made.parse_case(made.case_id(name, axes, spec), KNOWN) == (name, axes)


def test_default_values_are_left_out_of_an_id_and_may_be_given() -> None:
    for suite in KNOWN.suites.values():
        for case in made.cases_of(suite, KNOWN, QUICK):
            assert case_of(case.id).id == case.id
    assert case_of("get-pk@profile=normalised").id == "get-pk"


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
    with refused(f"^{re.escape(message)}"):
        made.parse_case(text, KNOWN)


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
    assert [case for case in cells() if case.startswith("get-pk@")] == ["get-pk@profile=shipped"]
    assert "get-pk" in cells()


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
    counts = case.iterations, case.warmup_iterations, case.warmup_ms
    assert (case.metric, *counts) == ("cold", 1, 0, 0)


def test_only_steps_of_the_axis_value_count() -> None:
    spec = KNOWN.scenarios["insert-types"]
    for value in spec.axes["value"]:
        (step,) = made.steps_of(spec, {"value": value, "profile": "normalised"})
        assert step.only == {"value": value}


def test_filter_terms_of_one_text_must_all_match_and_texts_are_alternatives() -> None:
    assert cells("scenario:scan-index-range runner:bun") == {"scan-index-range": ["bun"]}
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
    with refused(f"^{re.escape(message)}"):
        cells(*filters)


STRANGE = "the reference node is not among the runners of this run"


@pytest.mark.parametrize(
    ("suite", "runners", "reference", "words"),
    [
        ("quik", [], None, "there is no suite 'quik'; did you mean quick"),
        ("quick", ["nood"], None, "there is no runner 'nood'; did you mean node"),
        ("quick", [], "nood", "there is no runner 'nood'; did you mean node"),
        (
            *("quick", ["bun", "deno"], "node"),
            f"{STRANGE}: bun, deno; add -r node or choose another --reference",
        ),
    ],
)
def test_a_suite_runner_or_reference_that_is_not_there_is_refused(
    suite: str, runners: list[str], reference: str | None, words: str
) -> None:
    with refused(f"^{re.escape(words)}"):
        choose(KNOWN, suite, mode_of(KNOWN, suite, None)[1], [], runners, [], reference)


def test_a_case_asked_for_twice_is_one() -> None:
    cases, _ = choose(KNOWN, "quick", QUICK, ["all", "all@rows=100"], [], [], None)
    assert [case.id for case in cases] == ["all"]


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
    "variant": Variant(encoding="UTF-16le"),
}


@pytest.mark.parametrize("changes", [*({name: of} for name, of in CHANGES.items()), {}], ids=str)
def test_each_aspect_of_a_case_is_work_and_how_often_it_is_done_is_not(
    changes: dict[str, Any],
) -> None:
    changed = [CASES[0].model_copy(update={"operations": 7, "iterations": 3, **changes}), CASES[1]]
    differing = differences(facts(planned(CASES)), facts(planned(changed)))
    assert differing == [f"{aspect} of get-pk" for aspect in changes]
    assert set(CHANGES) == set(ASPECTS)


def test_definitions_and_the_size_are_work() -> None:
    base = planned(CASES, scenario_x="1", fixture_users="1")
    other = planned(CASES, "s", scenario_x="2", fixture_users="2")
    assert differences(facts(base), facts(other)) == ["fixture size", "fixture users"]


def test_only_the_cases_that_both_measured_count() -> None:
    changed = [CASES[0], CASES[1].model_copy(update={"sql": ["SELECT 2"]})]
    base, other = (facts(planned(many), {CASES[0].id}) for many in (CASES, changed))
    assert differences(base, other) == []


def test_a_definition_that_is_gone_differs() -> None:
    hashes = plan.definitions(KNOWN, CASES)
    assert set(hashes) >= {"scenario get-pk", "fixture users", "profile durable"}
    smaller = KNOWN.model_copy(
        update={"scenarios": {k: v for k, v in KNOWN.scenarios.items() if k != "get-pk"}}
    )
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


def test_a_mistake_in_the_file_names_file_and_place(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('start = "shipped"\nmargin = 2\n')
    with refused(r"settings\.toml: margin: Input should be less than 1"):
        read(tmp_path)


def test_a_catalogue_without_the_file_has_the_clones(tmp_path: Path) -> None:
    assert read(tmp_path) == read()


def test_a_group_whose_scenario_the_catalogue_lacks_is_refused_with_its_name() -> None:
    bare = KNOWN.model_copy(update={"scenarios": {"get-const": KNOWN.scenarios["get-const"]}})
    with refused(r"settings.toml: there is no scenario 'get-pk'"):
        trying(settings(CACHE), bare, "node")


def test_together_has_what_each_has_once() -> None:
    both = settings(
        CACHE,
        {"name": "more", "pragmas": [["cache_size", -2], ["mmap_size", 1]], "beside": "cache"},
        {"name": "both", "of": ["cache", "more"]},
    ).variants()["both"]
    assert both.pragmas == [("cache_size", -2), ("mmap_size", 1)]


def test_only_some_settings_bring_those_that_they_rest_on() -> None:
    names = [setting.name for setting in only(read(), ["synchronous"]).setting]
    assert names == ["journal_mode", "synchronous"]
    with refused(r"no setting 'cache'.*cache_size"):
        only(read(), ["cache"])


def test_every_setting_that_was_asked_for_is_tried() -> None:
    pragmas = {name for setting in read().setting for name, _ in setting.pragmas}
    assert pragmas == {
        *("journal_mode", "synchronous", "cache_size", "mmap_size", "temp_store"),
        *("page_size", "busy_timeout", "wal_autocheckpoint"),
    }


def test_all_together_leaves_out_what_is_meant_to_weaken_commits() -> None:
    assert "synchronous" not in dict(read().variants()["together"].pragmas)
    assert "synchronous" in dict(read().variants()["together-normal"].pragmas)


def test_contradicting_publications_have_their_sources() -> None:
    by_name = {setting.name: setting for setting in read().setting}
    for name in ("mmap_size", "cache_size"):
        published = by_name[name].publications
        assert len(published) >= 2
        assert all(each.url.startswith("https://") for each in published)


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


def test_one_case_of_each_set_has_a_canary(tried: Trying) -> None:
    repeated = [case for case, runner in tried.advice.canaries().items() if runner]
    sets = {(t.group, t.database) for t in tried.advice.trials if t.base}
    assert sorted(case.partition("@")[0] for case in repeated) == sorted(map("-".join, sets))


def test_what_fits_neither_is_not_measured_and_says_why(tried: Trying) -> None:
    beyond = [t for t in tried.advice.trials if t.database == "beyond"]
    assert {t.group for t in beyond} == {"reads", "lists", "scans"}
    assert all(t.reason and not t.base for t in beyond)


def test_a_page_size_is_that_of_the_file(tmp_path: Path) -> None:
    spec = KNOWN.fixtures["ledger"]
    small = fixture.ensure("ledger", spec, "s", "delete", tmp_path)
    large = fixture.ensure("ledger", spec, "s", "wal", tmp_path, page_size=16_384)
    sizes = [int.from_bytes(file.read_bytes()[16:18], "big") for file in (small, large)]
    assert sizes == [4096, 16_384]


GOOD = 'title = "a service"\nsummary = "it reads"\n'
FILE_PRESETS = ROOT / "scenarios" / "presets.toml"


def written(folder: Path, text: str) -> Path:
    file = folder / "presets.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_clone_has_four_presets_whose_operations_have_names() -> None:
    read = presets.read(FILE_PRESETS, KNOWN)
    assert len(read) == 4
    assert all(preset.summary for preset in read.values())
    assert all(set(preset.calls) <= set(preset.names) for preset in read.values())


@pytest.mark.parametrize("suite", ["quick", "full"])
def test_a_suite_has_the_cases_of_all_presets(suite: str) -> None:
    known = KNOWN.suites[suite]
    mode = KNOWN.modes[known.mode]
    spared = set(spare_of(KNOWN, suite, mode))
    there = {case.id for case in cases_of(known, KNOWN, mode)} - spared
    for name, preset in presets.read(FILE_PRESETS).items():
        assert set(preset.calls) <= there, name


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        (f"[a]\n{GOOD}calls = {{ get-pk = 0 }}\n", 4, "a.calls.get-pk: Input should be greater"),
        (f"[a]\n{GOOD}calls = {{ get-pk = -1 }}\n", 4, "a.calls.get-pk: Input should be greater"),
        (f"[a]\n{GOOD}calls = {{ get-pk = 2e6 }}\n", 4, "a.calls.get-pk: Input should be less"),
        (f"[a]\n{GOOD}[a.calls]\nget-pk = 1\nall = nan\n", 6, "a.calls.all: Input should"),
        (f"[a]\n{GOOD}calls = {{}}\n", 4, "a.calls: Dictionary should have at least 1"),
        (f"[a]\n{GOOD}calls = {{ get-kp = 1 }}\n", 4, "there is no scenario 'get-kp'"),
        (f"[a]\n{GOOD}calls = {{ service-mixed = 1 }}\n", 4, "has no time of one call"),
        (f'[a]\n{GOOD}calls = {{ "parallel-all@workers=2" = 1 }}\n', 4, "no time of one call"),
        (f'[a]\n{GOOD}calls = {{ "all@rows=100" = 1 }}\n', 4, "is the case all; write that"),
        (f"[a]\n{GOOD}calls = {{ all = 1 }}\nlimit = 3\n", 5, "a.limit: Extra inputs"),
        (f"[a]\n{GOOD}calls = {{ all = 1 }}\nmemory_mib = 0\n", 5, "a.memory_mib: Input"),
        (f'[operations]\nlal = "list(s)"\n[a]\n{GOOD}calls = {{ all = 1 }}\n', 2, "'lal'"),
        (f"[operations]\nall = 1\n[a]\n{GOOD}calls = {{ all = 1 }}\n", 2, "operations.all: Input"),
    ],
)
def test_a_fault_is_named_with_file_and_line(
    tmp_path: Path, text: str, line: int, fault: str
) -> None:
    file = written(tmp_path, text)
    with refused(f"^{re.escape(str(file))}:{line}: .*{re.escape(fault)}"):
        presets.read(file, KNOWN)


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
        ("gte-pk=1", "there is no scenario 'gte-pk'; did you mean get-pk"),
        ("reads=3,writes=1", "there is no scenario 'reads'"),
        ("service-mixed=1", "service-mixed has no time of one call"),
    ],
)
def test_other_calls_are_refused(text: str, fault: str) -> None:
    with refused(re.escape(fault)):
        presets.chosen(text, presets.load(), KNOWN)


def test_calls_of_a_case_that_a_run_lacks_are_refused() -> None:
    with refused("there is no case 'get-index'; did you mean get-pk"):
        presets.chosen("get-index=1", presets.load(), cases=["get-pk", "all"])


TINY = """
title = "A row by its key is faster in the shape array"
source = "A post"
published_on = "8 cores"
hypothesis = "An array is cheaper than an object."

[lessons]
reproduced = "Take arrays."
different = "Take arrays, for less."
unresolved = "It is unknown."
reversed = "Take objects."
untestable = "Ask elsewhere."

[[groups]]
title = "get(): times as fast"
metric = "steady"
base = { case = "get-pk" }
new = { case = "get-pk@shape={shape}" }
runners = ["node", "rust"]
rows = [
    { name = "array", published = 1.2, said = "20 %", values = { shape = "array" } },
    { name = "elsewhere", untestable = "no such build", values = { shape = "no-such" } },
]

[[tables]]
title = "Both"
metric = "steady"
cases = ["get-pk"]
runners = ["bun"]
"""


def claims_of(folder: Path, text: str = TINY, name: str = "a-arrays.toml") -> dict[str, Claim]:
    (folder / name).write_text(text, "utf-8")
    return claimfiles.read(folder, KNOWN)


def test_a_claim_is_named_by_its_file_and_knows_its_cells(tmp_path: Path) -> None:
    claims_of(tmp_path)
    claims = claims_of(tmp_path, name="b-more.toml")
    assert list(claims) == ["arrays", "more"]
    cases = [case_of("get-pk").id, case_of("get-pk@shape=array").id]
    compared = [(case, runner) for runner in ("node", "rust") for case in cases]
    assert list(claims["arrays"].cells()) == [*compared, ("get-pk", "bun")]
    assert Claim.model_validate_json(claims["arrays"].model_dump_json()) == claims["arrays"]
    assert list(claimfiles.read(tmp_path, KNOWN, ["more"])) == ["more"]
    with refused(r"there is no claim 'arays'; did you mean arrays\?"):
        claimfiles.read(tmp_path, KNOWN, ["arays"])


def test_this_clone_s_own_claims_can_be_measured() -> None:
    found = claimfiles.read(ROOT / "scenarios" / "claims", KNOWN)
    assert len(found) >= 6
    for claim in found.values():
        rows = [row for group in claim.groups for row in group.rows]
        assert list(claim.cells()) or all(row.untestable for row in rows), claim.name


FIGURE, SHAPE, RUNNER = "published = 1.2", 'shape = "array"', '"node", "rust"'
BASE, NEW = 'base = { case = "get-pk" }', 'new = { case = "get-pk@shape={shape}" }'
NO_EFFECT = f'expects = "no effect"\ntolerance = 1.1\n{BASE}'
UNSAID = 'groups[0]: expects = "no effect"'
TOLERANCE = "the tolerance that still counts as none"
EFFECT = "1.2 is an effect by this group's own tolerance"
WIDE = ":17: groups[0].tolerance: inf counts almost any size"
NO_SHAPE = "there is no value of get-pk's shape"
RATIO = "published = 1.2, but '9 ms against 6 ms'"
NO_BRACE = "no brace of base or new is called"
NO_CASE = "there is no scenario 'get-pkk'"
ROW = "groups[0].rows[0]"
CANONICAL = "the case 'get-pk@shape=object' is called 'get-pk'; write that"
BROKEN = [
    (FIGURE, "key = true", "groups[0]: row 'array': a key row needs a published ratio"),
    (FIGURE, "published = -1.2", "groups[0].rows[0].published: -1.2 is no ratio"),
    (FIGURE, "published = 1.0", "published = 1 is no effect; set expects"),
    (FIGURE, "published = nan", ":21: groups[0].rows[0].published: nan is no ratio"),
    (FIGURE, "published = inf", "inf is no ratio"),
    (FIGURE, f'{FIGURE}, kind = "range"', "a range needs `ends`, such as"),
    (FIGURE, f"{FIGURE}, ends = [2, 3]", "1.2 does not lie between its ends"),
    (BASE, f'expects = "no effect"\n{BASE}', f"{UNSAID} needs {TOLERANCE}"),
    (BASE, f'compare = "difference"\n{NO_EFFECT}', f"{UNSAID} is for ratios; leave out compare"),
    (BASE, NO_EFFECT, f"{EFFECT}, which calls 0.909 to 1.1 none"),
    (BASE, f"tolerance = inf\n{BASE}", f"{WIDE} as the same; expected at most 10"),
    (BASE, f"tolerance = 0.9\n{BASE}", "groups[0].tolerance: "),
    (BASE, BASE.replace("pk", "pkk"), f"{ROW}: {NO_CASE}; did you mean get-pk"),
    (BASE, BASE.replace("pk", "pk@shape=object"), f"{ROW}: {CANONICAL}"),
    (NEW, NEW.replace("@shape={shape}", ""), "row 'array' compares get-pk/node with itself"),
    (f'"steady"\n{BASE}', f'"wall"\nper = "row"\n{BASE}', "groups[0]: wall is the time of a"),
    (f'"steady"\n{BASE}', f'"steddy"\n{BASE}', "groups[0].metric: "),
    ('source = "A post"\n', "", ":1: source: is missing; add it"),
    ('source = "A post"', 'source = " "', ":3: source: is empty"),
    ('title = "get()', 'titel = "get()', ":15: groups[0].titel: there is no such key"),
    ('title = "A row', "title = A row", " not TOML: "),
    (RUNNER, '"node", "rast"', "groups[0].rows[0]: there is no runner 'rast'; did you mean rust"),
    (RUNNER, '"node", "rast@1.2.3"', "there is no runner 'rast'; did you mean rust"),
    (RUNNER, '"node@24"', "runner 'node@24': expected an exact version, such as node@1"),
    (SHAPE, 'shape = "arrray"', f"{ROW}: {NO_SHAPE} 'arrray'; did you mean array?"),
    (SHAPE, 'form = "array"', "groups[0].rows[0]: row 'array' has no value for 'shape'"),
    (SHAPE, f'{SHAPE}, rows = "1"', f"{ROW}.values.rows: {NO_BRACE} {{rows}}"),
    ('cases = ["get-pk"]', 'cases = ["get-pkk"]', "tables[0]: there is no scenario 'get-pkk'"),
    ('runners = ["bun"]', 'runners = ["bum"]', "tables[0]: there is no runner 'bum'"),
    ('reversed = "Take objects."', 'reversed = ""', ":11: lessons.reversed: is empty"),
    (', said = "20 %"', "", ":21: groups[0].rows[0].published: a published figure needs `said`"),
    ("20 %", "6 against 5", "published: said = '6 against 5': a figure without a unit"),
    ("20 %", "9 ms against 6 ms", f"{RATIO} gives 1.5 or 0.6667; correct one of them"),
]


@pytest.mark.parametrize(("old", "new", "words"), BROKEN)
def test_what_is_wrong_is_told_with_file_and_place(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert TINY.count(old) == 1
    with refused(re.escape(words)) as caught:
        claims_of(tmp_path, TINY.replace(old, new))
    place = re.escape(str(tmp_path / "a-arrays.toml"))
    for line in str(caught.value).splitlines():
        assert re.match(rf"{place}:(\d+| not TOML):", line)


def test_a_claim_without_any_published_figure_or_reason_is_refused(tmp_path: Path) -> None:
    text = TINY.replace("published = 1.2, ", "").replace('untestable = "no such build", ', "")
    with refused() as caught:
        claims_of(tmp_path, text)
    assert ":1: (top level): no row has a published ratio" in str(caught.value)
    assert "no value of get-pk's shape 'no-such'" in str(caught.value), "told at once"


def test_all_that_is_wrong_is_told_at_once_each_with_its_line(tmp_path: Path) -> None:
    text = TINY.replace('"A post"', '""').replace('"20 %"', '"+30 %"')
    text = text.replace('cases = ["get-pk"]', 'cases = ["get-pkk"]')
    with refused() as caught:
        claims_of(tmp_path, text)
    lines = str(caught.value).splitlines()
    numbered = [line.removeprefix(f"{tmp_path / 'a-arrays.toml'}:") for line in lines]
    assert [line.partition(":")[0] for line in numbered] == [
        str(text[: text.index(mark)].count("\n") + 1)
        for mark in ("source =", "published = 1.2", "[[tables]]")
    ]
    assert "3: source: is empty" in numbered[0]
    assert "published = 1.2, but '+30 %' gives 1.3 or 0.7692; correct one" in numbered[1]


def test_faults_of_a_claim_that_is_not_asked_for_stop_nobody(tmp_path: Path) -> None:
    claims_of(tmp_path)
    (tmp_path / "b-begun.toml").write_text('title = ""\n', "utf-8")
    assert list(claimfiles.read(tmp_path, KNOWN, ["arrays"])) == ["arrays"]
    for names in ([], ["begun"], ["arrays", "begun"]):
        with refused(r"b-begun\.toml:1: source: is missing; add it"):
            claimfiles.read(tmp_path, KNOWN, names)


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    claims_of(tmp_path)
    with refused(r"b-arrays\.toml: .*a-arrays\.toml has that name, too"):
        claims_of(tmp_path, name="b-arrays.toml")
    (tmp_path / "b-arrays.toml").unlink()
    with refused(r"plain\.toml: a claim is named by what follows"):
        claims_of(tmp_path, name="plain.toml")


def test_contradictory_publications_name_each_other(tmp_path: Path) -> None:
    lead = "contradicts = "
    with refused(r"a-arrays\.toml:1: contradicts: there is no claim 'obj"):
        claims_of(tmp_path, f'{lead}"objects"{TINY}')
    with refused(r":1: contradicts: objects does not name this one; write"):
        claims_of(tmp_path, name="b-objects.toml")
    found = claims_of(tmp_path, f'{lead}"arrays"{TINY}', name="b-objects.toml")
    assert [claim.contradicts for claim in found.values()] == ["objects", "arrays"]


def test_a_difference_of_one_millisecond_is_an_effect(tmp_path: Path) -> None:
    text = TINY.replace("published = 1.2", "published = 1.0")
    text = text.replace(BASE, f'compare = "difference"\n{BASE}')
    assert claims_of(tmp_path, text)["arrays"].groups[0].rows[0].published == 1.0


def test_the_canary_of_a_case_is_the_runner_that_most_figures_are_about(tmp_path: Path) -> None:
    more = TINY.replace('runners = ["node", "rust"]', 'runners = ["rust"]', 1)
    keyed = more.replace('said = "20 %"', 'said = "20 %", key = true').replace('"rust"', '"bun"', 1)
    both = {"get-pk": ["node", "rust", "bun"], "get-pk@shape=array": ["node", "rust"]}
    first = claims_of(tmp_path)["arrays"]
    assert of_claims([first], both) == {"get-pk": "node", "get-pk@shape=array": ""}, (
        "the first of those alike, once for the scenario"
    )
    second = claims_of(tmp_path, more, name="b-more.toml")["more"]
    assert set(of_claims([first, second], both).values()) == {"rust", ""}
    third = claims_of(tmp_path, keyed, name="c-keyed.toml")["keyed"]
    assert of_claims([first, second, third], both) == {
        "get-pk": "bun",
        "get-pk@shape=array": "rust",
    }, "a key row outweighs others, where its runner is there"
    assert of_claims([third], {"get-pk": ["node"]}) == {}, "nothing is published of it"
    assert of_claims([], both) == {}, "a run without claims has its own"


@pytest.mark.parametrize(
    ("published", "said"),
    [
        (155.0, "6.0 µs against 930 µs"),
        (1.587, "0.121 s against 0.192 s"),
        (2.40, "86.2 ± 1.3 ms against 206.7 ± 6.2 ms"),
        (1.745, "5,454.5 reads/s against 3,125 reads/s"),
        (2.8, "7,553,000 against 2,701,000 rows/s"),
        (1.5, "900 µs against 0.6 ms"),
        (1.186, "+18.6 %"),
        (0.995, "−0.5 %"),
        (1.14, "1.14 times (issue 271)"),
        (1.63, "1.63 ± 0.05 times as fast"),
        (143.85, "2.66, 154.8 and 312.3 ms against 1.4 to 2.2 ms"),
        (1.0, "without effect"),
        (2.0, "less than half the CPU cycles"),
        (3.0, "12 MB against 4 ms"),
    ],
)
def test_words_that_agree_or_say_no_ratio_pass(published: float, said: str) -> None:
    assert list(figure_problems(published, said)) == []


@pytest.mark.parametrize(
    ("published", "said", "problem"),
    [
        (1.5, "", "needs `said`"),
        (1.5, "3 against 2", "a figure without a unit"),
        (1.5, "see issue 271", "a figure without a unit"),
        (1.5, "312.3 ms against 2.171 ms", "gives 143.9 or 0.006952"),
        (1.5, "900 ms against 0.6 ms", "gives 1500 or"),
        (1.5, "+15 %", "gives 1.15 or"),
        (1.5, "5 times", "gives 5 or 0.2"),
    ],
)
def test_words_that_say_another_figure_or_none_are_refused(
    published: float, said: str, problem: str
) -> None:
    (text,) = figure_problems(published, said)
    assert problem in text


UNCERTAIN: list[tuple[float, str, tuple[float, float]]] = [
    (1.2424, "+24.24 ± 1.1 %", (1.2314, 1.2534)),
    (0.993, "−0.69 ± 6.17 %", (0.9314, 1.0548)),
    (1.186, "+18.6 %", (1.1855, 1.1865)),
    (1.63, "1.63 ± 0.05 times as fast", (1.58, 1.68)),
    # independent errors in squares: hyperfine calls this 2.40 ± 0.08
    (2.40, "86.2 ± 1.3 ms against 206.7 ± 6.2 ms", (2.32, 2.4784)),
    (0.417, "86.2 ± 1.3 ms against 206.7 ± 6.2 ms", (0.4035, 0.4310)),
    # a spread of 25 runs is 2.5 times that of their mean
    (2.0, "50 ± 5 ms of 25 runs against 100 ± 0 ms of 4 runs", (2 / 1.04, 2.08)),
    (1.603, "36,904 ± 10 % ops/s against 23,015 ± 0 % ops/s", (1.603 / 1.1, 1.603 * 1.1)),
    # digits, which both may round the same way
    (155.0, "6 ms against 930 ms", (929.5 / 6.5, 930.5 / 5.5)),
    (2.0, "less than half", (1.95, 2.05)),
    (5e-7, "an image", (4.5e-7, 5.5e-7)),
]


@pytest.mark.parametrize(("published", "words", "ends"), UNCERTAIN)
def test_a_published_figure_has_ends(published: float, words: str, ends: tuple[float, ...]) -> None:
    assert uncertainty(published, words) == pytest.approx(ends, rel=1e-3)


def test_a_published_saving_has_ends() -> None:
    for words, ends in (
        ("312.3 ms against 2.2 ms", (310.0, 310.2)),
        ("312.3 ± 3 ms against 2.2 ± 4 ms", (305.1, 315.1)),
    ):
        assert uncertainty(310.1, words, saves=True) == pytest.approx(ends)


def test_what_a_row_saves_is_held_against_a_difference() -> None:
    words = "312.3 ms against 2.2 ms"
    assert list(figure_problems(310.1, words, saves=True)) == []
    (text,) = figure_problems(143.85, words, saves=True)
    assert text == "published = 143.85, but '312.3 ms against 2.2 ms' saves 310.1 ms; correct one"
    assert (
        list(figure_problems(153.0, "154.8 ms, the second of three, against 2 ms", saves=True))
        == []
    )


FILLED = {
    'base = { case = "" }': 'base = { case = "get-pk" }',
    'new = { case = "" }': 'new = { case = "get-pk@shape=array" }',
    'said = ""': 'said = "+20 %"',
    'name = ""': 'name = "an array"',
}


def test_each_blank_of_an_unfilled_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a-mine.toml").write_text(claimfiles.TEXT, "utf-8")
    with refused() as caught:
        claimfiles.read(tmp_path, KNOWN)
    named = {line.split(":")[1] for line in str(caught.value).splitlines()}
    blanks = [
        str(number)
        for number, line in enumerate(claimfiles.TEXT.splitlines(), 1)
        if '= ""' in line and not line.startswith("#")
    ]
    assert named == set(blanks)
    assert len(blanks) >= 10


def test_a_filled_file_is_a_claim(tmp_path: Path) -> None:
    text = claimfiles.TEXT
    for blank, filled in FILLED.items():
        assert text.count(blank) == 1
        text = text.replace(blank, filled)
    (tmp_path / "a-mine.toml").write_text(text.replace('= ""', '= "A sentence."'), "utf-8")
    (claim,) = claimfiles.read(tmp_path, KNOWN).values()
    assert claim.name == "mine"
    assert list(claim.cells()) == [("get-pk", "node"), ("get-pk@shape=array", "node")]


@pytest.mark.parametrize(
    ("files", "file"),
    [
        ([], "a-mine.toml"),
        (["a-threading.toml", "b-keys.toml", "b-processes.toml"], "c-mine.toml"),
        (["z-last.toml"], "z-mine.toml"),
        (["10-numbered.toml"], "a-mine.toml"),
    ],
)
def test_a_new_file_comes_after_the_others(files: list[str], file: str) -> None:
    assert claimfiles.file_name("mine", files) == file


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("new", "cannot name a claim"),
        ("", "cannot name a claim"),
        ("../up", "cannot name a claim"),
        ("Mine", "cannot name a claim"),
        ("keys", "b-keys.toml is the claim keys already"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, words: str) -> None:
    with refused(words):
        claimfiles.file_name(name, ["b-keys.toml"])
