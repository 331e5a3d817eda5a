"""What is said to a user who asks for something that does not exist; nothing is measured."""

import json
import re
from pathlib import Path

import pytest

from sqlitmus import __version__
from tests import known
from tests.cli.calling import Call, check_refusals
from tests.fakes.clone import Done

RUNS = Path(__file__).parents[3] / "reports/example/runs"


@pytest.fixture(autouse=True)
def nothing_was_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))


def test_what_does_not_exist_is_told_with_what_does_in_one_line(call: Call) -> None:
    def in_one_line(*arguments: str) -> Done:
        done = call(*arguments)
        assert re.fullmatch(r"sqlitmus: .*\n", done.err)
        return done

    check_refusals("usage", in_one_line, runs=RUNS)


def test_options_that_do_not_parse_end_with_2(call: Call) -> None:
    check_refusals("options", call, begins=False)


def test_version(call: Call) -> None:
    assert call("version").out == f"sqlitmus {__version__}, contract 2\n"
    assert json.loads(call("version", "--json").out) == {"sqlitmus": __version__, "contract": 2}


LISTED = {
    "profiles": [(name,) for name in known.KNOWN.profiles],
    "scenarios": [(name,) for name in known.KNOWN.scenarios],
    "suites": [(name, suite.mode) for name, suite in known.KNOWN.suites.items()],
    "modes": [(name, mode.blocks) for name, mode in known.KNOWN.modes.items()],
    "fixtures": [(name,) for name in known.KNOWN.fixtures],
}


@pytest.mark.parametrize(("what", "expected"), LISTED.items())
def test_listings_hold_the_whole_catalogue(
    call: Call, what: str, expected: list[tuple[object, ...]]
) -> None:
    rows = json.loads(call("list", what, "--json").out)
    of = {"suites": ("suite", "mode"), "modes": ("mode", "blocks")}.get(what, (what[:-1],))
    assert [tuple(row[name] for name in of) for row in rows] == expected
    told = call("list", what)
    assert told.code == 0
    names = "".join(told.out.split())
    assert [name for name, *_ in expected if str(name).split("-")[0] not in names] == []


def test_cases_are_listed_with_their_axes(call: Call) -> None:
    cases = json.loads(call("list", "cases", "--suite", "quick", "--json").out)
    assert "get-pk@profile=shipped" in {row["case"] for row in cases}
    told = call("list", "cases", "--suite", "quick")
    assert (told.code, "get-pk" in told.out) == (0, True)


def test_a_fault_of_ours_ends_with_70(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr("sqlitmus.catalog.definitions.load", broken)
    done = call("list")
    assert done.code == 70
    assert "RuntimeError: surprise" in done.err
    assert done.err.endswith("sqlitmus: this is a fault in sqlitmus; please report it\n")
