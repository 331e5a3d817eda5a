"""The tools of `bench-peers`: each runs, proves its answers and gives its figures."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from benchmarks import peers
from benchmarks.peer_tools import TOOLS, Effort, Setting
from tests import left_out
from tests.contract.started import installed, takes_turns

FIGURES = {
    "plain": ["plain totals"],
    "mitata": ["mitata, mean", "mitata, median"],
    "tinybench": ["tinybench, mean", "tinybench, median"],
    "hyperfine": ["hyperfine, two N"],
    "benchmarkdotnet": ["BenchmarkDotNet's rule"],
}
TINY = Effort(1, 2, 2, 1e5, ("--mode", "smoke", "--blocks", "2", "--scheme", "relay"))
# They measure under the lock of the machine, as the handwritten loops do.
pytestmark = pytest.mark.xdist_group("handwritten")


def setting(case: str, folder: Path, tool: str, slow: str | None = None) -> Setting:
    installed("node")
    if tool in ("mitata", "tinybench", "hyperfine"):
        left_out.tool(tool)
    return replace(peers.setting(case, folder, TINY, slow), operations=100)


@pytest.mark.parametrize("case", peers.QUESTIONS)
@pytest.mark.parametrize("tool", FIGURES)
def test_a_tool_gives_its_figures_of_a_question(tool: str, case: str, tmp_path: Path) -> None:
    try:
        figures = TOOLS[tool](setting(case, tmp_path, tool))
    except peers.NotFit as error:
        if "took no longer" in str(error):  # 300 operations, on a busy machine
            return
        raise
    assert [each.name for each in figures] == FIGURES[tool]
    assert all(0 < each.ratio < 1000 for each in figures)
    printed = [each.name for each in figures if each.interval]
    assert printed == [name for name in FIGURES[tool] if "nch, mean" in name or "rule" in name]


@takes_turns
def test_sqlitmus_gives_what_its_user_reads(tmp_path: Path) -> None:
    question = setting("get-pk", tmp_path, "sqlitmus")
    whole, blocks = peers.measured(0, question, TOOLS["sqlitmus"])
    assert [whole.figure, blocks.figure] == ["sqlitmus", "sqlitmus, blocks alone"]
    assert (whole.ratio, whole.interval) == (blocks.ratio, blocks.interval)
    assert whole.interval
    assert whole.interval[0] <= whole.ratio <= whole.interval[1]
    assert 0 < blocks.wall_s < whole.wall_s
    assert whole.cpu_s > 0


@pytest.mark.parametrize("tool", ["mitata", "tinybench", "hyperfine", "benchmarkdotnet"])
def test_an_answer_that_differs_gives_no_figure(tool: str, tmp_path: Path) -> None:
    whole = setting("get-pk", tmp_path, tool)
    answers = [(rows, total + 1) for rows, total in whole.task.answers]
    with pytest.raises(peers.NotFit, match="rows and sum are"):
        TOOLS[tool](replace(whole, task=replace(whole.task, answers=answers)))


@pytest.mark.parametrize("tool", ["mitata", "tinybench"])
def test_what_is_slowed_does_the_same_work_and_more_on_a_copy(tool: str, tmp_path: Path) -> None:
    """A fault that the proof of answers cannot find: the bias must."""
    TOOLS[tool](setting("insert-transaction", tmp_path, tool, slow=tool))
    with closing(sqlite3.connect(tmp_path / "insert-transaction" / "slow.db")) as connection:
        (rows,) = connection.execute("SELECT count(*) FROM sink").fetchone()
    assert rows > 0
    assert rows % 100 == 0


def test_a_sitting_is_printed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    installed("node")
    left_out.tool("tinybench")
    monkeypatch.setattr(peers, "Effort", partial(Effort, 1, 2, 2, 1e5))
    monkeypatch.setattr(peers, "QUESTIONS", {"get-pk": 100})
    app = typer.Typer()
    app.command()(peers.main)
    done = CliRunner().invoke(
        app, ["--questions", "get-pk", "--tools", "tinybench", "--quick", "--json"]
    )
    assert done.exit_code == peers.Exit.DONE, done.stderr
    printed, figures = json.loads(done.stdout), ["plain totals", *FIGURES["tinybench"]]
    assert [row["figure"] for row in printed["rows"]] == figures
    assert sorted(each["figure"] for each in printed["readings"]) == sorted(2 * figures)
