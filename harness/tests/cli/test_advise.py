"""`./just advise` with fakes: from settings as data to what follows from them."""

import json
from typing import Any

import pytest

from tests.cli.calling import data, with_mode
from tests.fakes.clone import Clone, Done
from tests.workload.conftest import make

SETTINGS = data("settings.toml")
IMPOSSIBLE = '"mmap_size", "impossible"'


@pytest.fixture
def advising(clone: Clone) -> Clone:
    clone.write("scenarios/settings.toml", SETTINGS)
    with_mode(clone, "advise")
    clone.runner("a")
    return clone


def advise(clone: Clone, *options: str, code: int = 0) -> Done:
    done = clone.sqlitmus("advise", "-r", "a", *options)
    assert done.code == code, done.err
    return done


def settings(clone: Clone) -> dict[str, Any]:
    """What the newest run says of each setting."""
    (advice,) = (each for each in clone.summary().headline if each.kind == "advice")
    return {setting.name: setting for setting in advice.settings}


def test_one_pragma_that_fails_leaves_the_others_their_answers(advising: Clone) -> None:
    done = advise(advising, "--blocks", "2", "--explain", code=4)
    assert "settings for a, added to the profile shipped" in done.err
    found = settings(advising)
    assert [tried.effect for tried in found["locked"].tried] == ["failed", "not measured here"]
    assert found["cache_size"].tried[0].effect == "not resolved"
    compared = {name: of.tried[0].contrast is not None for name, of in found.items()}
    expected = {"cache_size": True, "page_size": True, "locked": False, "synchronous": True}
    assert compared == expected
    assert (found["synchronous"].weakens, found["page_size"].weakens) == (True, False)
    text = " ".join(done.out.split())
    assert "PRAGMA mmap_size=impossible did not take" in text
    assert "https://example.org/post" in text
    assert "It changes durability." in text
    assert "Worth setting" not in text  # two blocks decide nothing

    run = advising.latest().path
    markdown = advising.sqlitmus("report", str(run), "--format", "md")
    assert "https://example.org/post" in markdown.out
    assert "not measured here" in markdown.out
    exported = json.loads(advising.sqlitmus("export", str(run), "--format", "json").out)
    rows = {(row["setting"], row["group"], row["database"]): row for row in exported["settings"]}
    assert rows["synchronous", "writes", "small"]["weakens"] is True
    assert rows["cache_size", "reads", "beyond"]["effect"] == "not measured here"
    page = (run / "report.html").read_text("utf-8")
    assert 'id="setting-synchronous"' in page
    # the page's script hides rows that are of no case of the filter
    assert 'data-c="cache_size"' not in page


def test_only_the_settings_that_are_named_are_tried(advising: Clone) -> None:
    done = advise(advising, "--setting", "cache_size", "--blocks", "1", "--explain")
    assert [case.id for case in advising.latest().plan().cases] == [
        "reads-small",
        "reads-small@setting=cache_size",
    ]
    assert "Run again: ./just advise -r a --setting cache_size --blocks 1 --explain" in done.out
    assert "cache_size" in advise(advising, "--setting", "cache", code=2).err
    assert advising.sqlitmus("advise", "-r", "nobody").code == 2


def test_settings_are_tried_on_a_workload_of_the_users(advising: Clone) -> None:
    make(advising.root / "app.db")
    advising.write("my.toml", data("advised.toml"))
    advising.replace("scenarios/settings.toml", IMPOSSIBLE, '"mmap_size", 0')
    before = (advising.root / "app.db").read_bytes()
    advise(advising, "--workload", "my.toml", "--blocks", "1")
    tried = {name: [each.group for each in of.tried] for name, of in settings(advising).items()}
    assert tried == {
        "cache_size": ["one"],
        "page_size": ["one", "add"],
        "locked": ["one"],
        "synchronous": ["add"],
    }
    sizes = {dict(case.pragmas)["page_size"] for case in advising.latest().plan().cases}
    assert sizes == {4096, 8192}  # the file is made anew on both sides
    assert (advising.root / "app.db").read_bytes() == before
