"""Settings as data, and as cases."""

from pathlib import Path
from typing import Any

import pytest

from sqlitmus.catalog import cases, fixture, presets
from sqlitmus.catalog.cases import cases_of
from sqlitmus.catalog.settings import AXIS, FILE, NONE, SUITE, Settings, Trying, only, read, trying
from sqlitmus.vocabulary.errors import UsageError
from tests.known import KNOWN, ROOT

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
    with pytest.raises(UsageError, match=r"settings\.toml: margin: Input should be less than 1"):
        read(tmp_path)


def test_a_catalogue_without_the_file_has_the_clones(tmp_path: Path) -> None:
    assert read(tmp_path) == read()


def test_a_group_whose_scenario_the_catalogue_lacks_is_refused_with_its_name() -> None:
    bare = KNOWN.model_copy(update={"scenarios": {"get-const": KNOWN.scenarios["get-const"]}})
    with pytest.raises(UsageError, match=r"settings.toml: there is no scenario 'get-pk'"):
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
    with pytest.raises(UsageError, match=r"no setting 'cache'.*cache_size"):
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
    there = {case.id for case in cases.cases_of(known, KNOWN, KNOWN.modes[known.mode])}
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
    with pytest.raises(UsageError) as raised:
        presets.read(file, KNOWN)
    assert f"{file}:{line}: " in str(raised.value)
    assert fault in str(raised.value)


def test_what_is_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not TOML"):
        presets.read(written(tmp_path, "[a\n"))


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


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("read-heavy", "there is no preset 'read-heavy'; did you mean read-heavy-api"),
        (
            "get-pk=x",
            "get-pk has 'x'; each case needs its calls per 1,000 requests, a number above",
        ),
        (
            "get-pk=0",
            "get-pk has '0'; each case needs its calls per 1,000 requests, a number above",
        ),
        ("get-pk=1,get-pk=2", "get-pk has two numbers; keep one"),
        ("get-pk=1,,all=2", "a case has ''; each case needs its calls"),
        ("gte-pk=1", "there is no scenario 'gte-pk'; did you mean get-pk"),
        ("reads=3,writes=1", "there is no scenario 'reads'"),
        ("service-mixed=1", "service-mixed has no time of one call"),
    ],
)
def test_other_calls_are_refused(text: str, fault: str) -> None:
    with pytest.raises(UsageError) as raised:
        presets.chosen(text, presets.load(), KNOWN)
    assert fault in str(raised.value)


def test_calls_of_a_case_that_a_run_lacks_are_refused() -> None:
    with pytest.raises(UsageError, match="there is no case 'get-index'; did you mean get-pk"):
        presets.chosen("get-index=1", presets.load(), cases=["get-pk", "all"])
