"""All that `doctor` says, in text and JSON; what each check says is for the tests of `machine`."""

import json
import re

from sqlitmus import machine
from tests.cli.calling import Call
from tests.fakes.clone import RUNNER
from tests.fakes.instant import Desk

RUNNERS = ("fine",)
BUSY = machine.Check("load", "warning", "62 % of the CPU is in use", "close what is busy")
MAINS = machine.Check("power", "ok", "mains")
GONE = machine.Check("hyperfine", "failure", "not found", "run ./just setup")
TOLD = """\
warning  load         62 % of the CPU is in use — close what is busy
ok       power        mains
ok       fine                 sqlite3 N, SQLite N
warning  odd                  missing: `describe` failed: exit code 3: no such driver
ok       python               sqlite3 N, SQLite N
"""


def test_checks_and_runners_are_listed_as_text_and_as_json(desk: Desk, at_desk: Call) -> None:
    desk.clone.runner("odd", "describe-crashes")
    desk.monkeypatch.setattr(machine, "checks", lambda: [BUSY, MAINS])
    done = at_desk("doctor")
    assert (done.code, done.err) == (0, "")
    assert re.sub(r"\d+(\.\d+)+", "N", done.out) == TOLD
    done = at_desk("doctor", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {
        "checks": [
            {
                "name": "load",
                "state": "warning",
                "finding": "62 % of the CPU is in use",
                "advice": "close what is busy",
            },
            {"name": "power", "state": "ok", "finding": "mains", "advice": ""},
        ],
        "runners": [
            {"name": "fine", "missing": None},
            {"name": "odd", "missing": "`describe` failed: exit code 3: no such driver"},
            {"name": "python", "missing": None},
        ],
    }


def test_strict_wants_every_runner_and_no_warning(desk: Desk, at_desk: Call) -> None:
    def codes(*checks: machine.Check) -> tuple[int, int]:
        desk.monkeypatch.setattr(machine, "checks", lambda: [*checks])
        return at_desk("doctor").code, at_desk("doctor", "--strict").code

    assert codes(MAINS) == (0, 0)
    assert codes(MAINS, BUSY) == (0, 3)
    assert codes(GONE, MAINS) == (3, 3)
    desk.clone.runner("odd", "describe-crashes")
    assert codes(MAINS) == (0, 3)


def test_before_set_up_there_is_one_line_about_it(desk: Desk, at_desk: Call) -> None:
    """And none about builds that only claims need."""
    desk.monkeypatch.setattr("sqlitmus.machine.readiness.WINDOW_S", 0)
    later = RUNNER.format(name="later", behaviour="honest", runtime="Fake", arguments="")
    later = later.replace('"python"', '"compiled"')
    build = later.replace('"later"', '"build"').replace('"compiled"', '"built"')
    desk.clone.write("runners/later/runner.toml", f'{later}{build}role = "variant"\n')
    known = json.loads((desk.clone.root / "paths.json").read_text("utf-8"))
    del known["absent"]
    not_yet = "not set up yet; run ./just setup"
    known |= {name: {"missing": not_yet} for name in ("compiled", "hyperfine")}
    known["built"] = {"missing": f"{not_yet}-claims"}
    desk.clone.write("paths.json", json.dumps(known))
    done = at_desk("doctor")
    assert done.code == 3
    assert done.out.startswith("failure  set-up       not done yet — run ./just setup\n")
    assert not re.search("tools|hyperfine|later|build", done.out)
    desk.clone.write("paths.json", json.dumps({**known, "dotnet": {"missing": "no SDK"}}))
    done = at_desk("doctor")
    assert "warning  tools        missing dotnet — dotnet: no SDK\n" in done.out
