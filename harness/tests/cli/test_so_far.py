"""The answer as it forms: between blocks, the page of the run so far and a line on where it stands;
a Ctrl-C leaves a page that says how far the run came."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from sqlitmus.cli import options
from sqlitmus.run.processes import progress
from tests.cli.calling import Call, ctrl_c
from tests.fakes.clone import Clone, Done, measured_order, planned_order
from tests.fakes.instant import Desk, even
from tests.machines.folders import replan

OF = "of database time per 1,000 requests"
WEIGHTS = ("--weights", "get=600,all=400")


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Runner `b` takes three times as long as `a`; a page costs nothing, so each block has one."""
    catalogue.two_of_each()
    desk = Desk.make(catalogue, monkeypatch)
    desk.instant.paces = {"a": even(1100, "a"), "b": even(3300, "b")}
    monkeypatch.setattr(progress, "PAGE_S", 0)
    clock = SimpleNamespace(monotonic=lambda: desk.instant.now_ns / 1e9, process_time=lambda: 0)
    monkeypatch.setattr(progress, "time", clock)
    return desk


def page(desk: Desk) -> Path:
    return desk.clone.root / "results/latest/report.html"


def where(desk: Desk) -> str:
    """The run's folder, as messages name it."""
    return f"CLONE/results/{desk.clone.plain(page(desk).parent.resolve().name)}"


def state(desk: Desk) -> str:
    """How far the page says the run came; "" without a page or a word on that."""
    text = page(desk).read_text("utf-8") if page(desk).exists() else ""
    assert not text or text.rstrip().endswith("</html>")
    said = re.search(r"Block \d+ of \d+, under way|not finished: \d+ of \d+ blocks", text)
    return said[0] if said else ""


def run(at_desk: Call, *arguments: str) -> Done:
    done = at_desk("run", "--size", "s", "--seed", "3", *arguments)
    return Done(done.code, done.out, done.err.replace("\u202f", " "))


def test_page_and_line_sharpen_block_by_block(desk: Desk, at_desk: Call) -> None:
    seen: list[str] = []
    desk.instant.before = lambda _name, _number: seen.append(state(desk))
    done = run(at_desk, "--blocks", "12", *WEIGHTS)
    assert done.code == 0
    assert list(dict.fromkeys(seen)) == ["", *(f"Block {n} of 12, under way" for n in range(1, 12))]
    assert state(desk) == ""
    lines = [line for line in done.err.splitlines() if re.match(r"block \d+ of", line)]
    assert len(lines) == 11
    assert lines[0] == f"block 1 of 12, still open: a 1.10 ms and b 3.29 ms {OF}"
    assert all("still open" in line for line in lines[:9])
    tenth = f"block 10 of 12: a is fastest: 1.10 ms {OF}. b takes 3.30 ms (3.00× "
    assert lines[9].startswith(tenth)
    assert done.err.count("report so far: ") == 1


def test_quiet_makes_the_page_and_says_nothing(desk: Desk, at_desk: Call) -> None:
    seen: list[str] = []
    desk.instant.before = lambda _name, _number: seen.append(state(desk))
    assert run(at_desk, "--blocks", "4", "-q").err == ""
    assert "Block 2 of 4, under way" in seen


def test_ctrl_c_leaves_a_page_that_says_how_far_the_run_came(desk: Desk, at_desk: Call) -> None:
    # in block 3: of two cases, each with an A/A control
    desk.instant.before = ctrl_c("a", 9)
    done = run(at_desk, "--blocks", "4")
    assert done.code == 130
    told = "still open: a 1.10 µs and b 3.29 µs (geometric mean of 2 cases)"
    _, after_the_plan = done.err.split("fewer than 10 blocks")
    assert [line for line in after_the_plan.splitlines()[1:] if "left" not in line] == [
        f"report so far: {where(desk)}/report.html",
        f"block 1 of 4, {told}",
        f"block 2 of 4, {told}",
        f"report so far: {where(desk)}/report.html",
        f"block 2 of 4, {told}",
        f"interrupted; go on with: ./just run --resume {where(desk)}",
    ]
    assert state(desk) == "not finished: 2 of 4 blocks"
    assert at_desk("run", "--resume", str(page(desk).parent)).code == 0
    assert state(desk) == ""


def test_ctrl_c_before_anything_was_measured_says_so(desk: Desk, at_desk: Call) -> None:
    desk.instant.before = lambda name, number: ctrl_c(name, number, 2)(name, number)
    done = run(at_desk, "--blocks", "4", "-q")
    words = f"nothing was measured yet; go on with: ./just run --resume {where(desk)}"
    assert (done.code, done.err) == (130, f"interrupted; {words}\n")
    assert not page(desk).exists()


@pytest.mark.parametrize("times", [1, 2, 3])
def test_ctrl_c_while_a_page_is_made_loses_nothing(desk: Desk, at_desk: Call, times: int) -> None:
    """The first Ctrl-C lets the page be made, the second leaves the one before and makes the last
    one, the third leaves that, too."""
    save, states = options.save, list[str]()

    def interrupted(text: str, output: Path) -> None:
        states.append(state(desk))
        if len(states) == 2:
            ctrl_c("", 0, min(times, 2))("", 0)
        if (len(states), times) == (3, 3):
            raise KeyboardInterrupt
        save(text, output)

    desk.monkeypatch.setattr(options, "save", interrupted)
    assert run(at_desk, "--blocks", "4").code == 130
    before = ["", "Block 1 of 4, under way"]
    assert states == [*before, "Block 2 of 4, under way" if times == 1 else before[-1]]
    assert state(desk) == (before[-1] if times == 3 else "not finished: 2 of 4 blocks")
    assert desk.clone.latest().blocks()[-1].block == 1
    assert run(at_desk, "--resume", str(page(desk).parent)).code == 0
    assert measured_order(desk.clone.latest()) == planned_order(desk.clone.latest())


def test_a_page_that_cannot_be_made_does_not_end_the_run(desk: Desk, at_desk: Call) -> None:
    desk.instant.before = lambda name, number: {
        ("a", 1): lambda: page(desk).mkdir(),
        ("a", 9): lambda: page(desk).rmdir(),
    }.get((name, number), lambda: None)()
    done = run(at_desk, "--blocks", "4")
    assert done.code == 0
    assert done.err.count("no page of the run so far: CLONE/results/STAMP-quick/report.html") == 2
    assert "block 3 of 4, still open: a" in done.err


def test_a_complete_run_is_measured_for_another_sitting(desk: Desk, at_desk: Call) -> None:
    assert run(at_desk, "--blocks", "10", "-q").code == 0
    directory = desk.clone.latest()
    case, other = directory.plan().cells
    replan(directory.path, sets={case: 4})  # as where a budget gives others more sets
    assert "Detectable with 80 % power: " in page(desk).read_text("utf-8")
    before = [(sample.block, sample.position) for sample in directory.samples()]
    again = ("run", "--again", str(directory.path))

    desk.instant.before = ctrl_c("a", desk.instant.count("a") + 4)
    assert at_desk(*again).code == 130
    refused = at_desk(*again)
    words = f"{where(desk)} is not complete; ./just run --resume {where(desk)} goes on with it"
    assert (refused.code, refused.err) == (2, f"sqlitmus: {words}\n")
    assert at_desk("run", "--resume", str(directory.path)).code == 0
    plan = directory.plan()
    assert (plan.blocks, plan.sessions, plan.sittings) == (20, 2, 2)
    assert [(s.block, s.position) for s in directory.samples()][: len(before)] == before
    of_a = [(s.case, s.block) for s in directory.samples() if s.label == "a"]
    assert sorted(of_a) == sorted(
        [*((case, n) for n in range(14)), *((other, n) for n in range(20))]
    )
    assert "Detectable with 80 % power over 2 sittings: " in page(desk).read_text("utf-8")
    assert directory.complete()


def test_what_cannot_have_another_sitting_says_why(desk: Desk, at_desk: Call) -> None:
    assert run(at_desk, "--blocks", "2", "-q").code == 0
    directory = desk.clone.latest()
    replan(directory.path, looks=3)
    before = directory.file.read_bytes()
    again = ("run", "--again", str(directory.path))
    for more, words in {
        ("--plan",): "--plan is of a new run, --resume of an interrupted one",
        ("--resume", str(directory.path)): "--again of a complete one",
        (): "has planned looks; only a run of a suite or of a workload",
    }.items():
        done = at_desk(*again, *more)
        assert (done.code, words in done.err) == (2, True), done.err
    assert directory.file.read_bytes() == before
