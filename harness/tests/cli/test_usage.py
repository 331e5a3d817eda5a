"""What is said to a user who asks for something that does not exist; nothing is measured."""

import json
from pathlib import Path

import pytest

from sqlitmus import __version__
from tests.cli.calling import Call, refusals

RUNS = Path(__file__).parents[3] / "reports/example/runs"


@pytest.fixture(autouse=True)
def nothing_was_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))


@refusals("usage")
def test_what_does_not_exist_is_told_with_what_does(
    call: Call, typed: list[str], message: str
) -> None:
    done = call(*(word.format(runs=RUNS) for word in typed))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"sqlitmus: {message}")
    assert done.err.count("\n") == 1


@refusals("options")
def test_options_that_do_not_parse_end_with_2(call: Call, typed: list[str], message: str) -> None:
    done = call(*typed)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_version(call: Call) -> None:
    assert call("version").out == f"sqlitmus {__version__}, contract 2\n"
    assert json.loads(call("version", "--json").out) == {"sqlitmus": __version__, "contract": 2}


def test_listings_as_json_hold_the_whole_catalogue(call: Call) -> None:
    from sqlitmus.catalog import definitions

    known = definitions.load()
    profiles = json.loads(call("list", "profiles", "--json").out)
    assert {row["profile"] for row in profiles} == set(known.profiles)
    scenarios = json.loads(call("list", "--json").out)
    assert [row["scenario"] for row in scenarios] == list(known.scenarios)
    suites = json.loads(call("list", "suites", "--json").out)
    assert {row["suite"]: row["mode"] for row in suites} == {
        name: suite.mode for name, suite in known.suites.items()
    }
    modes = json.loads(call("list", "modes", "--json").out)
    assert {row["mode"]: row["blocks"] for row in modes} == {
        name: mode.blocks for name, mode in known.modes.items()
    }
    fixtures = json.loads(call("list", "fixtures", "--json").out)
    assert {row["fixture"] for row in fixtures} == set(known.fixtures)
    cases = json.loads(call("list", "cases", "--suite", "quick", "--json").out)
    assert "get-pk@profile=shipped" in {row["case"] for row in cases}


@pytest.mark.parametrize("what", ["scenarios", "cases", "profiles", "fixtures", "suites"])
def test_listings_for_people_name_everything(call: Call, what: str) -> None:
    told = call("list", what)
    rows = json.loads(call("list", what, "--json").out)
    assert told.code == 0
    names = "".join(told.out.split())
    for row in rows:
        first = next(iter(row.values()))
        assert first.split("@")[0].split("-")[0] in names


def test_a_fault_of_ours_ends_with_70(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr("sqlitmus.catalog.definitions.load", broken)
    done = call("list")
    assert done.code == 70
    assert "RuntimeError: surprise" in done.err
    assert done.err.endswith("sqlitmus: this is a fault in sqlitmus; please report it\n")
