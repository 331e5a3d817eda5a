"""What is said to a user who asks for something that does not exist; nothing is measured."""

import json
from functools import partial
from pathlib import Path

import pytest

from sqlitmus import __version__
from tests.cli.calling import Call, sqlitmus


@pytest.fixture
def call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Call:
    """The command line within this process, on the clone's own catalogue; nothing was measured."""
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))
    return partial(sqlitmus, capsys, monkeypatch)


RUNS = Path(__file__).parents[3] / "reports/example/runs"
ERRORS = [
    (["run", "--case", "get-pkk"], "there is no scenario 'get-pkk'; did you mean get-pk"),
    (
        ["run", "--case", "get-pk@shpae=array"],
        "there is no axis of get-pk 'shpae'; did you mean shape?",
    ),
    (
        ["verify", "--case", "all@rows=11"],
        "there is no value of all's rows '11'; did you mean 1 or 10",
    ),
    (["run", "--runner", "nod"], "there is no runner 'nod'; did you mean node"),
    (["run", "--reference", "rustt"], "there is no runner 'rustt'; did you mean rust"),
    (["run", "--suite", "quik"], "there is no suite 'quik'; did you mean quick?"),
    (["run", "-f", "rnner:node"], "there is no filter key 'rnner'; did you mean runner"),
    (["run", "-f", "runner:nodee"], "nothing in this suite matches 'runner:nodee'. Did you mean"),
    (
        ["run", "--time-budget", "soon"],
        "--time-budget 'soon': expected a number above 0 with s, m or h, such as 20m",
    ),
    (["run", "--time-budget", "0"], "--time-budget '0': expected a number above 0 with s, m or h"),
    (
        ["run", "--plan", "--resume", "x"],
        "--plan is of a new run, --resume of an interrupted one, --again of",
    ),
    (["run", "--label", "a/b"], "--label 'a/b': use letters, digits and . _ @ + - only"),
    (["run", "--machine", "a b"], "--machine 'a b': use letters, digits and . _ @ + - only"),
    (["run", "--margin", "2%"], "--margin '2%': expected percent, from 0.1 to 50"),
    (["compare", "a", "b", "--gate", "0"], "--gate '0': expected percent, from 0.1 to 100"),
    (["run", "--scheme", "rely"], "there is no scheme 'rely'; did you mean relay?"),
    (["list", "things"], "there is no listing 'things'; expected one of scenarios, cases"),
    (["schema", "jobb"], "there is no schema 'jobb'; expected one of job, result, describe"),
    (["report", "--format", "pdf"], "there is no format 'pdf'; expected one of html, md"),
    (["report", f"{RUNS}/report", "-r", "rusty"], "-r rusty: there is no runner 'rusty'; did you"),
    (["report", f"{RUNS}/claims", "-r", "rust"], "-r: 2026-11-25T184114Z-claims is of the kind"),
]


@pytest.mark.parametrize(("arguments", "message"), ERRORS, ids=lambda value: value[-1])
def test_what_does_not_exist_is_told_with_what_does(
    call: Call, arguments: list[str], message: str
) -> None:
    done = call(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"sqlitmus: {message}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runn"], "No such command 'runn'."),
        (["run", "--blocks", "0"], "Invalid value for '--blocks': Input should be greater"),
        (["run", "--seeed", "3"], "No such option: --seeed"),
        (["run", "--shard", "1/2"], "No such option: --shard"),
    ],
)
def test_options_that_do_not_parse_end_with_2(
    call: Call, arguments: list[str], message: str
) -> None:
    done = call(*arguments)
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
