"""Progress: whole lines where nobody watches, one rewritten on a terminal, or silence."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import io
import os
from pathlib import Path

import pytest

from sqlitmus.run.processes.progress import Progress, Remaining, clock


class Terminal(io.StringIO):
    """A terminal of twelve columns."""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((12, 24)))
    return Terminal()


def work(progress: Progress) -> None:
    progress.say("begin")
    progress.step("first", milestone=True)
    progress.step("second, a long one")
    progress.say("end")


def test_after_a_silence_any_step_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("sqlitmus.run.processes.progress.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    shown = Progress(stream)
    for second in (10.0, 31.0, 40.0, 62.0):
        now[0] = second
        shown.step(f"at {second:g}")
    assert stream.getvalue() == "at 31\nat 62\n"


def test_on_a_terminal_a_step_replaces_the_one_before_and_is_cleared(terminal: Terminal) -> None:
    work(Progress(terminal))
    clear = "\r\x1b[2K"
    assert terminal.getvalue() == f"begin\n{clear}first{clear}second, a l{clear}end\n"


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("TERM", "dumb"), ("A", "file")])
def test_ci_dumb_terminals_and_files_get_lines_that_stay_and_milestones(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    stream = io.StringIO() if value == "file" else terminal
    work(Progress(stream))
    assert stream.getvalue() == "begin\nfirst\nend\n"
    progress = Progress(stream, quiet=True)
    work(progress)
    progress.insist("how to go on")  # even when quiet
    assert stream.getvalue() == "begin\nfirst\nend\nhow to go on\n"


@pytest.mark.parametrize(
    ("cost_s", "pages"), [(0.1, [*range(1, 10)]), (3.0, [1, 4, 7]), (60.0, [1])]
)
def test_pages_of_the_run_so_far_take_their_share_of_the_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cost_s: float, pages: list[int]
) -> None:
    now, made = [0.0], list[int]()
    for name in ("monotonic", "process_time"):
        monkeypatch.setattr(f"sqlitmus.run.processes.progress.time.{name}", lambda: now[0])
    progress, remaining = Progress(io.StringIO()), Remaining(600)

    def page(run: Path) -> None:
        assert run == tmp_path
        made.append(int(now[0] // 60))
        now[0] += cost_s

    progress.so_far = page
    for _ in range(9):  # blocks of ten, each of a minute
        now[0] += 60
        remaining.did(60)
        progress.block_ended(tmp_path, remaining)
    assert made == pages
    assert remaining.left() == pytest.approx(max(60 - cost_s * len(pages), 0))  # at pace 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0 s"), (9.94, "9.9 s"), (10, "0:10"), (187, "3:07"), (3723, "1:02:03"), (59.6, "1:00")],
)
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_remaining_follows_the_pace_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    remaining = Remaining(60.0)
    assert remaining.left() == 60.0
    now = 140.0
    remaining.did(20.0)
    assert remaining.left() == 80.0  # twice as slow as predicted
    remaining.did(40.0)
    assert remaining.left() == 0.0
