"""One invocation: what counts as a result, with a fake executor and the real hyperfine."""

import json
import os
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from sqlitmus.machine import process_tree
from sqlitmus.run.processes import process
from sqlitmus.run.processes.process import Hyperfine, Invocation, Timing, Unreadable, invoke
from tests.fakes.clone import running, until
from tests.run.made import RESULT

TEXT = json.dumps(RESULT)
UNFIT = "its result does not fit the contract: "


def changed(**changes: object) -> str:
    return json.dumps({**RESULT, **changes})


FAILED = changed(status="failed", error={"message": "locked"})


@dataclass
class Fake(Hyperfine):
    """An executor that writes `text` and ends with `code`, or raises."""

    output: Path
    text: str | None
    code: int | Exception | None

    def execute(
        self,
        command: list[str],
        environment: dict[str, str],
        log: Path,
        timeout_s: float,
        folder: Path | None = None,
    ) -> Timing:
        asked = (command, environment, log.name, timeout_s, folder)
        assert asked == (["run"], {"A": "b"}, "x.log", 2.0, None)
        if isinstance(self.code, Exception):
            raise self.code
        if self.text is not None:
            self.output.write_text(self.text, "utf-8")
        return Timing(10, 4, 3, self.code)


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        (TEXT, 0, "ok"),
        (changed(status="unsupported", reason="no"), 0, "unsupported"),
        (FAILED, 1, "failed"),
        (None, 0, "ended with exit code 0 and wrote no result"),
        (None, 2, "ended with exit code 2 and wrote no result"),
        (None, None, "was killed and wrote no result"),
        (None, 139, "was killed by SIGSEGV (exit code 139) and wrote no result"),
        (TEXT, 1, "ended with exit code 1, which does not go with status ok"),
        (TEXT, 137, "was killed by SIGKILL (exit code 137), which does not go with status ok"),
        (FAILED, 0, "ended with exit code 0, which does not go with status failed"),
        (changed(rows=-1), 0, f"{UNFIT}rows: Input should be greater than or equal to 0"),
        (changed(status="unsupported"), 0,
         f"{UNFIT}whole file: Value error, an unsupported result needs a reason"),
        (changed(extra=1), 0, f"{UNFIT}extra: Extra inputs are not permitted"),
        (None, TimeoutError("no end"), "no end"),
        (None, RuntimeError("no timing"), "no timing"),
    ],
)  # fmt: skip
def test_only_a_result_whose_exit_code_goes_with_its_status_counts(
    tmp_path: Path, text: str | None, code: int | Exception | None, told: str
) -> None:
    output = tmp_path / "result.json"
    output.write_text(TEXT, "utf-8")  # of an earlier invocation
    done = invoke(Fake(output, text, code), ["run"], {"A": "b"}, output, tmp_path / "x.log", 2.0)
    ended = None if isinstance(code, Exception) else Timing(10, 4, 3, code)
    assert done.timing == ended
    assert (done.result.status if done.result else done.problem) == told


@pytest.fixture
def hyperfine(hyperfine_program: str, tmp_path: Path) -> Hyperfine:
    """The real one."""
    return Hyperfine(hyperfine_program, tmp_path)


ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code, *arguments]


def test_hyperfine_hands_over_every_argument_and_tells_how_it_ended(
    hyperfine: Hyperfine, tmp_path: Path
) -> None:
    odd = ["a b", "it's", '"', "$HOME", "*", "", "a\\b", "ü", "{x}", "line\nend"]
    log = tmp_path / "log"
    code = "import sys; print(sys.argv[1:], flush=True); sys.exit('oops')"
    timing = hyperfine.execute(python(code, *odd), ENVIRONMENT, log, 30)
    assert timing.exit_code == 1
    assert timing.user_ns + timing.system_ns > 0
    assert 0 < timing.wall_ns < 30e9
    assert "Warning" in log.read_text("utf-8")
    assert process.output(log) == f"{odd}\noops\n"
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


def test_a_log_beyond_its_bound_ends_the_runner_once(tmp_path: Path) -> None:
    ended: list[str] = []
    log = tmp_path / "x.db-wal"
    looks = process.of_log(tmp_path / "x.db", lambda: ended.append("x"), most=2**18)
    looks.look()  # there is none
    log.write_bytes(b"x" * 2**18)
    looks.look()
    assert (looks.problem, ended) == (None, [])
    done = Invocation(Timing(1, 1, 1, 0), None, None)
    assert looks.bounded(done) is done
    log.write_bytes(b"x" * (2**18 + 1))
    looks.look()
    looks.look()
    assert [size for _, size in looks.sizes] == [0, 2**18, *[2**18 + 1] * 2]
    assert ended == ["x"]
    assert looks.bounded(done).problem == (
        "its write-ahead log grew beyond 0.25 MiB, so it was ended before the disk was full"
    )


def test_a_process_that_leaks_is_ended_and_its_thread_looks_until_the_end() -> None:
    ended: list[str] = []
    sizes = iter(range(40, 10**9, 40))
    looks = process.of_memory(lambda: next(sizes), lambda: ended.append("x"), most=100)
    with looks:
        while len(looks.sizes) < 3:
            pass
    before = [*looks.sizes]
    assert [size for _, size in before[:3]] == [40, 80, 120]
    assert before == sorted(looks.sizes)
    assert ended == ["x"]
    assert "its memory grew beyond" in (looks.problem or "")


def problem(file: Path) -> str:
    with pytest.raises(Unreadable) as raised:
        process.read(file)
    return str(raised.value)


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "result.json"
    file.write_text(text, "utf-8")
    return file


WORKER = '"operations": 1, "rows": 1, "checksum": 1, "iterations_ns": [], "spans_us": [[0, 1e308]]'


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ('"rows": 1, "rows": 2', "its result has the key rows twice in one object"),
        ('"switches": {"voluntary": 1, "voluntary": 2, "involuntary": 3}',
         "its result has the key voluntary twice in one object"),
        (f'"rows": {10**30}', "its result has an integer of 31 digits: 100000000000…"),
        (f'"workers": [{{{WORKER}}}]',
         "its result has the number 1e308, which is out of all bounds"),
        (f'"warmup_ns": [{"[" * 100_000}{"]" * 100_000}]',
         f"{UNFIT}whole file: Invalid JSON: recursion limit"),
        ('"rows": NaN', UNFIT),
    ],
)  # fmt: skip
def test_what_no_runner_means_is_refused(tmp_path: Path, more: str, text: str) -> None:
    assert problem(written(tmp_path, f"{TEXT[:-1]}, {more}}}")).startswith(text)


def test_more_than_any_job_needs_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, TEXT + " " * 2**20)
    assert process.read(file).cell == "a/b"
    monkeypatch.setattr(process, "MOST_BYTES", 2**20)
    assert problem(file).startswith("its result has 1.0 MB; 1 MB are room for any job's")


def test_a_file_is_kept_as_it_is_and_a_folder_is_no_result(tmp_path: Path) -> None:
    process.keep(written(tmp_path, "no JSON"), tmp_path / "copy")
    assert (tmp_path / "copy").read_text("utf-8") == "no JSON"
    folder = tmp_path / "folder"
    folder.mkdir()
    # Windows does not open one
    assert problem(folder).startswith(
        ("its result is no regular file", "its result cannot be read")
    )
    (folder / "more").touch()
    process.clear(folder)
    assert not folder.exists()


@pytest.mark.skipif(os.name == "nt", reason="no pipes, and links need a privilege there")
def test_nothing_waits_for_the_other_end_of_a_pipe_or_follows_a_link(tmp_path: Path) -> None:
    file, pipe, link = written(tmp_path, TEXT), tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(file)
    assert problem(pipe) == "its result is no regular file"
    assert problem(link) == "its result is a link, which the harness does not follow"
    for each in (pipe, link):
        process.keep(each, tmp_path / "copy")
        assert not (tmp_path / "copy").exists()
        process.clear(each)
    assert (file.exists(), link.is_symlink()) == (True, False)
