"""`./just advise` with fakes: from settings as data to what follows from them."""

import json

import pytest

from sqlitmus.results.recommendation import Advice
from tests.cli.calling import data, with_mode
from tests.fakes.clone import Clone
from tests.workload.conftest import make

SETTINGS = data("settings.toml")
FILE = data("advised.toml")


@pytest.fixture
def advising(clone: Clone) -> Clone:
    clone.write("scenarios/settings.toml", SETTINGS)
    with_mode(clone, "advise")
    clone.runner("a")
    return clone


def advice_of(clone: Clone) -> Advice:
    report = clone.summary()
    return next(each for each in report.headline if isinstance(each, Advice))


def test_one_pragma_that_fails_leaves_the_others_their_answers(advising: Clone) -> None:
    done = advising.sqlitmus("advise", "-r", "a", "--blocks", "2", "--explain")
    assert done.code == 4, done.err
    assert "settings for a, added to the profile shipped" in done.err
    advice = advice_of(advising)
    effects = {s.name: [tried.effect for tried in s.tried] for s in advice.settings}
    assert effects["locked"] == ["failed", "not measured here"]
    assert effects["cache_size"][0] == "not resolved"
    assert {s.name: s.tried[0].contrast is not None for s in advice.settings} == {
        "cache_size": True,
        "page_size": True,
        "locked": False,
        "synchronous": True,
    }
    by_name = {setting.name: setting for setting in advice.settings}
    assert by_name["synchronous"].weakens
    assert not by_name["page_size"].weakens
    text = " ".join(done.out.split())
    assert "PRAGMA mmap_size=impossible did not take" in text
    assert "https://example.org/post" in text
    assert "It changes durability." in text
    assert "Worth setting" not in text  # two blocks decide nothing


def test_cells_of_a_run_that_tried_settings_can_be_rendered_and_exported(advising: Clone) -> None:
    advising.replace("scenarios/settings.toml", '"mmap_size", "impossible"', '"mmap_size", 0')
    assert advising.sqlitmus("advise", "-r", "a", "--blocks", "2").code == 0
    run = str(advising.latest().path)
    markdown = advising.sqlitmus("report", run, "--format", "md")
    assert "https://example.org/post" in markdown.out
    assert "not measured here" in markdown.out
    exported = json.loads(advising.sqlitmus("export", run, "--format", "json").out)
    rows = {(row["setting"], row["group"], row["database"]): row for row in exported["settings"]}
    assert rows["synchronous", "writes", "small"]["weakens"] is True
    assert rows["cache_size", "reads", "beyond"]["effect"] == "not measured here"
    page = (advising.latest().path / "report.html").read_text("utf-8")
    assert 'id="setting-synchronous"' in page
    # the page's script hides rows that are of no case of the filter
    assert 'data-c="cache_size"' not in page


def test_only_the_settings_that_are_named_are_tried(advising: Clone) -> None:
    given = ("-r", "a", "--setting", "cache_size", "--blocks", "1", "--explain")
    done = advising.sqlitmus("advise", *given)
    assert done.code == 0, done.err
    assert [case.id for case in advising.latest().plan().cases] == [
        "reads-small",
        "reads-small@setting=cache_size",
    ]
    assert "Run again: ./just advise -r a --setting cache_size --blocks 1 --explain" in done.out


def test_settings_are_tried_on_a_workload_of_the_users(advising: Clone) -> None:
    make(advising.root / "app.db")
    advising.write("my.toml", FILE)
    advising.replace("scenarios/settings.toml", '"mmap_size", "impossible"', '"mmap_size", 0')
    before = (advising.root / "app.db").read_bytes()
    done = advising.sqlitmus("advise", "-r", "a", "--workload", "my.toml", "--blocks", "1")
    assert done.code == 0, done.err
    advice = advice_of(advising)
    tried = {s.name: [each.group for each in s.tried] for s in advice.settings}
    assert tried == {
        "cache_size": ["one"],
        "page_size": ["one", "add"],
        "locked": ["one"],
        "synchronous": ["add"],
    }
    sizes = {dict(case.pragmas)["page_size"] for case in advising.latest().plan().cases}
    assert sizes == {4096, 8192}  # the file is made anew on both sides
    assert (advising.root / "app.db").read_bytes() == before


def test_an_unknown_setting_or_runner_is_refused_with_the_nearest(advising: Clone) -> None:
    done = advising.sqlitmus("advise", "-r", "a", "--setting", "cache")
    assert done.code == 2
    assert "cache_size" in done.err
    assert advising.sqlitmus("advise", "-r", "nobody").code == 2
