"""Settings as data, and as cases."""

from pathlib import Path
from typing import Any

import pytest

from sqlitmus.catalog import definitions, fixture
from sqlitmus.catalog.cases import cases_of
from sqlitmus.catalog.settings import AXIS, FILE, NONE, SUITE, Settings, Trying, only, read, trying
from sqlitmus.vocabulary.errors import UsageError

SETTING = {"title": "t", "groups": ["reads"], "does": "It does this."}
GROUP = {"title": "reads", "scenario": "get-pk", "operations": 1, "databases": ["small"]}


@pytest.fixture(scope="module")
def tried() -> Trying:
    return trying(read(), definitions.load(), "node")


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
    known = definitions.load()
    bare = known.model_copy(update={"scenarios": {"get-const": known.scenarios["get-const"]}})
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
    spec = definitions.load().fixtures["ledger"]
    small = fixture.ensure("ledger", spec, "s", "delete", tmp_path)
    large = fixture.ensure("ledger", spec, "s", "wal", tmp_path, page_size=16_384)
    sizes = [int.from_bytes(file.read_bytes()[16:18], "big") for file in (small, large)]
    assert sizes == [4096, 16_384]
