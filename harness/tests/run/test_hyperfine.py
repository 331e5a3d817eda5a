"""One invocation: what counts as a result, with a fake executor and the real hyperfine."""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.machine import process_tree
from sqlitmus.run.processes.process import Hyperfine, Timing, invoke
from tests.fakes.clone import running, until

RESULT = {
    "contract": 2,
    "cell": "a/b",
    "status": "ok",
    "identity": {
        "runner": "x",
        "runtime": {"name": "x", "version": "1"},
        "driver": {"name": "x", "version": "1"},
        "architecture": "x86_64",
    },
}
UNSUPPORTED = {**RESULT, "status": "unsupported", "reason": "no"}
FAILED = {**RESULT, "status": "failed", "error": {"message": "locked"}}


class Fake:
    """An executor that writes `text` and ends with `code`, or raises."""

    def __init__(self, output: Path, text: str | None, code: int | None = 0) -> None:
        self.output, self.text, self.code = output, text, code
        self.problem: Exception | None = None

    def execute(
        self, command: list[str], environment: dict[str, str], log: Path, timeout_s: float
    ) -> Timing:
        assert (command, environment, log.name, timeout_s) == (["run"], {"A": "b"}, "x.log", 2.0)
        if self.problem:
            raise self.problem
        if self.text is not None:
            self.output.write_text(self.text, "utf-8")
        return Timing(10, 4, 3, self.code)

    def kill(self) -> None: ...

    def resident(self) -> int:
        return 0


def go(tmp_path: Path, text: str | None, code: int | None = 0, problem: Any = None) -> Any:
    fake = Fake(tmp_path / "result.json", text, code)
    fake.problem = problem
    return invoke(fake, ["run"], {"A": "b"}, fake.output, tmp_path / "x.log", 2.0)


@pytest.mark.parametrize(("given", "code"), [(RESULT, 0), (UNSUPPORTED, 0), (FAILED, 1)])
def test_a_result_whose_exit_code_goes_with_its_status(
    tmp_path: Path, given: dict[str, Any], code: int
) -> None:
    done = go(tmp_path, json.dumps(given), code)
    assert (done.problem, done.timing) == (None, Timing(10, 4, 3, code))
    assert done.result.status == given["status"]


@pytest.mark.parametrize(
    ("text", "code", "problem"),
    [
        (None, 0, "ended with exit code 0 and wrote no result"),
        (None, 2, "ended with exit code 2 and wrote no result"),
        (None, None, "was killed and wrote no result"),
        (None, 139, "was killed by SIGSEGV (exit code 139) and wrote no result"),
        (json.dumps(RESULT), 1, "ended with exit code 1, which does not go with status ok"),
        (
            json.dumps(RESULT),
            137,
            "was killed by SIGKILL (exit code 137), which does not go with status ok",
        ),
        (json.dumps(FAILED), 0, "ended with exit code 0, which does not go with status failed"),
        (
            json.dumps({**RESULT, "rows": -1}),
            0,
            (
                "its result does not fit the contract: rows: Input should be greater than or equal "
                "to 0"
            ),
        ),
        (
            json.dumps({**RESULT, "status": "unsupported"}),
            0,
            (
                "its result does not fit the contract: whole file: Value error, an unsupported "
                "result needs a reason"
            ),
        ),
        (
            json.dumps({**RESULT, "extra": 1}),
            0,
            "its result does not fit the contract: extra: Extra inputs are not permitted",
        ),
    ],
)
def test_anything_else_is_a_problem(
    tmp_path: Path, text: str | None, code: int | None, problem: str
) -> None:
    done = go(tmp_path, text, code)
    assert (done.result, done.problem) == (None, problem)


@pytest.mark.parametrize("error", [TimeoutError("no end"), RuntimeError("no timing")])
def test_an_executor_that_gives_up_is_a_problem(tmp_path: Path, error: Exception) -> None:
    done = go(tmp_path, None, problem=error)
    assert (done.timing, done.result, done.problem) == (None, None, str(error))


def test_the_result_of_an_earlier_invocation_never_counts(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(RESULT), "utf-8")
    assert go(tmp_path, None).problem == "ended with exit code 0 and wrote no result"


@pytest.fixture
def hyperfine(hyperfine_program: str, tmp_path: Path) -> Hyperfine:
    """The real one."""
    return Hyperfine(hyperfine_program, tmp_path)


ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code, *arguments]


def test_hyperfine_hands_over_every_argument_as_it_is(hyperfine: Hyperfine, tmp_path: Path) -> None:
    odd = ["a b", "it's", '"', "$HOME", "*", "", "a\\b", "ü", "{x}", "line\nend"]
    log = tmp_path / "log"
    code = "import sys; print(sys.argv[1:]); print('oops', file=sys.stderr)"
    timing = hyperfine.execute(python(code, *odd), ENVIRONMENT, log, 30)
    assert timing.exit_code == 0
    assert timing.user_ns + timing.system_ns > 0
    assert 0 < timing.wall_ns < 30e9
    said = log.read_text("utf-8")
    assert str(odd) in said
    assert "oops" in said


def test_hyperfine_tells_an_exit_code_and_a_signal(hyperfine: Hyperfine, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert hyperfine.execute(python("raise SystemExit(7)"), ENVIRONMENT, log, 30).exit_code == 7
    kill = python("import os; os.kill(os.getpid(), 9)")
    assert hyperfine.execute(kill, ENVIRONMENT, log, 30).exit_code in (None, 128 + signal.SIGKILL)


def test_a_program_that_is_not_there(hyperfine: Hyperfine, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"hyperfine gave no timing; its output is in x\.log"):
        hyperfine.execute([str(tmp_path / "gone")], ENVIRONMENT, tmp_path / "x.log", 30)
    assert "No such file" in (tmp_path / "x.log").read_text("utf-8")


STUBBORN = """
import os, pathlib, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
while True: signal.pause()
"""


def test_a_time_out_ends_even_what_ignores_sigterm(
    hyperfine: Hyperfine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"

    def time_is_up(_process: object, _timeout_s: float) -> bool:
        until(lambda: pid.exists() and pid.read_text(), "the process did not start")
        return False

    monkeypatch.setattr(process_tree, "ended", time_is_up)
    with pytest.raises(TimeoutError, match="no end within 3 s; killed"):
        hyperfine.execute(python(STUBBORN, str(pid)), ENVIRONMENT, tmp_path / "log", 3)
    until(lambda: not running(int(pid.read_text())), "the process lives on")


def test_kill_from_elsewhere_ends_the_command_under_way(
    hyperfine: Hyperfine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_tree, "KILL_GRACE_S", 0)
    pid = tmp_path / "pid"
    failures: list[Exception] = []

    def execute() -> None:
        try:
            hyperfine.execute(python(STUBBORN, str(pid)), ENVIRONMENT, tmp_path / "log", 60)
        except RuntimeError as error:
            failures.append(error)

    thread = threading.Thread(target=execute)
    thread.start()
    until(lambda: pid.exists() and pid.read_text(), "the process did not start")
    hyperfine.kill()
    thread.join(30)
    assert not thread.is_alive()
    assert len(failures) == 1
    until(lambda: not running(int(pid.read_text())), "the process lives on")
    hyperfine.kill()  # with nothing under way it does nothing
