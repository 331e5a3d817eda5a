"""Runs beside plain programs: whether the benchmark `bench-truth` plays and prints both."""

import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import example_database
from benchmarks.agreement import Bounds, Published, Run
from benchmarks.truth import COMMANDS, main as truth_main, report
from tests.contract.started import installed, need_tools, takes_turns
from tests.known import ROOT

DRIVERS = ("node", "rust")
# It measures under the lock of the machine, as the handwritten loops do.
pytestmark = pytest.mark.xdist_group("handwritten")


def truth(*words: str) -> subprocess.CompletedProcess[str]:
    for name in DRIVERS:
        installed(name)
        need_tools(COMMANDS[name])
    asked = ["--cases", "get-pk", "--drivers", ",".join(DRIVERS), *words]
    return subprocess.run(
        [sys.executable, ROOT / "harness" / "benchmarks" / "truth.py", *asked],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """The workload of the example, with a small database beside it."""
    example_database.write(tmp_path / "app.db", 400)
    return Path(shutil.copy(ROOT / "docs/workload/app.toml", tmp_path))


@takes_turns
def test_runs_in_both_schemes_stand_beside_plain_programs() -> None:
    done = truth("--", "--mode", "smoke")
    assert done.returncode in {0, 1, 6}, done.stderr
    heads = [line for line in done.stdout.splitlines() if "÷ plain" in line]
    assert heads[0] == "product ÷ plain"
    assert "lone ÷ plain" in heads[1]
    assert "turns ÷ plain" in heads[1]
    for name in DRIVERS:
        assert any(line.split()[:2] == ["get-pk", name] for line in done.stdout.splitlines())


@takes_turns
def test_the_mix_of_a_workload_stands_beside_plain_loops_over_its_rows(app: Path) -> None:
    before = app.with_suffix(".db").read_bytes()
    done = truth("--workloads", f"{app},tenant", "--schemes", "turns", "--", "--mode", "smoke")
    assert done.returncode in {0, 1, 6}, done.stderr
    heads = [line for line in done.stdout.splitlines() if line.startswith("== ")]
    assert heads == [f"== {app}", "== tenant"]
    for name in DRIVERS:
        lines = [line.split() for line in done.stdout.splitlines()]
        # a level for each of both, and of what is not the reference a ratio
        rows = [line for line in lines if line[:2] == ["mix", name]]
        assert len(rows) == (2 if name == DRIVERS[0] else 4)
        assert {row[-1] for row in rows} == {"5%"}
    assert app.with_suffix(".db").read_bytes() == before


@takes_turns
def test_a_plain_program_that_leaves_a_query_out_is_found(app: Path) -> None:
    """16 of 20 queries of a round: the runner seems to take several times as long."""
    words = ("--workloads", str(app), "--schemes", "turns", "--plant", "skips")
    done = truth(*words, "--", "--blocks", "10")
    assert done.returncode == 1, done
    rows = [line for line in done.stdout.splitlines() if line.startswith("mix ")]
    assert "OUTSIDE" in rows[0]


def test_the_method_names_the_options_that_there_are() -> None:
    text = (ROOT / "docs" / "method.md").read_text("utf-8")
    section = text.partition("## Held against plain programs")[2].partition("\n## ")[0]
    named = {*re.findall(r"--([a-z]+)", section.replace("-- --blocks", "--"))}
    assert named == {"workloads", "drivers", "schemes", "plant"}
    assert named <= inspect.signature(truth_main).parameters.keys()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--workloads", "chats"], "there is no corpus 'chats'; did you mean chat?"),
        (["--workloads", "chat", "--plant", "restarts"], "cases restart and mixes skip"),
        (["--plant", "skips"], "cases restart and mixes skip"),
    ],
)
def test_what_cannot_be_played_is_refused(words: list[str], problem: str) -> None:
    done = truth(*words)
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(("apart", "code"), [(1.0, 0), (1.1, 1)])
def test_a_suite_in_both_schemes_is_held_against_itself(
    apart: float, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    ways = {
        way: {name: Published(1, Bounds(ratio, ratio * 0.99, ratio * 1.01), 10) for name in "abc"}
        for way, ratio in (("lone", 1.0), ("turns", apart))
    }
    cases = [Run(f"case-{n}", way, {}, {}, told) for n in range(3) for way, told in ways.items()]
    assert report(cases, "node") == code
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line[:12] == "turns ÷ lone"
               and "case" not in line[:20]]  # fmt: skip
    assert line.split()[3:5] == ["9", "9" if code else "0"]


@takes_turns
@pytest.mark.parametrize("plant", ["restarts", None])
def test_a_pool_that_begins_again_is_found_and_a_whole_one_is_not(plant: str | None) -> None:
    """250 rows fit into the cache of 2 MB, all rows do not."""
    case = ["--cases", "get-pk@profile=shipped", "--drivers", "rust", "--schemes", "turns"]
    done = truth(*case, *(["--plant", plant] if plant else []), "--", "--blocks", "10")
    waited = float(done.stdout.split("processor: ")[1].partition("%")[0])  # beside other tests
    assert done.returncode in ({1} if plant else {0, 6} if waited < 10 else {0, 1, 6}), done
    assert ("OUTSIDE" in done.stdout) == (done.returncode == 1)
