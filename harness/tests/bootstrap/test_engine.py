"""When steps are made, left alone, made anew, or reported."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from bootstrap.commands import Commands, InterruptedStepError, StepError
from bootstrap.filelock import exclusive
from bootstrap.step import RECORD, key_of, look
from tests.bootstrap.conftest import Bench

HARNESS = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fakes are shell scripts")


def test_a_step_whose_inputs_are_unchanged_is_left_alone(bench: Bench) -> None:
    first = bench.ensure(bench.step("one"))
    said = bench.said.getvalue()
    second = bench.ensure(bench.step("one"))
    assert bench.made == ["one"]
    assert first["one"].path("one") == second["one"].path("one")
    assert bench.said.getvalue() == said, "a set-up with nothing to do is silent"


def test_a_changed_input_makes_the_step_again_and_keeps_the_other_folder(bench: Bench) -> None:
    old = bench.ensure(bench.step("one", fact="old"))["one"].path("one")
    new = bench.ensure(bench.step("one", fact="new"))["one"].path("one")
    assert bench.made == ["one", "one"]
    assert old is not None
    assert new is not None
    assert (old.read_text("utf-8"), new.read_text("utf-8")) == ("old", "new")


def test_a_half_made_folder_is_made_anew(bench: Bench) -> None:
    path = bench.ensure(bench.step("one"))["one"].path("one")
    assert path is not None
    (path.parent / RECORD).unlink()
    (path.parent / "leftover").touch()
    bench.ensure(bench.step("one"))
    assert bench.made == ["one", "one"]
    assert not (path.parent / "leftover").exists()


def test_a_binary_that_was_deleted_is_made_anew(bench: Bench) -> None:
    path = bench.ensure(bench.step("one"))["one"].path("one")
    assert path is not None
    path.unlink()
    assert not look(bench.step("one"), bench.context).ready
    bench.ensure(bench.step("one"))
    assert path.exists()


def test_a_missing_tool_is_told_and_the_others_go_on(bench: Bench) -> None:
    states = bench.ensure(bench.step("one", missing="cargo not found"), bench.step("two"))
    assert states["one"].missing == "cargo not found"
    assert states["two"].ready
    assert bench.made == ["two"]
    assert "one                    missing: cargo not found" in bench.said.getvalue()


def test_a_failing_command_is_told_with_the_end_of_its_log(bench: Bench) -> None:
    failing = bench.tool("failing", "echo first; echo the reason >&2; exit 7")
    log = bench.context.logs / "one.log"
    step = bench.step(
        "one",
        make=lambda context, folder, commands: commands.run(
            log, [failing, "build"], folder, context.environ
        ),
    )
    states = bench.ensure(step, bench.step("two"))
    why = "failing build ended with 7: the reason"
    assert states["one"].missing == f"set-up failed: {why}; see {log}"
    assert states["two"].ready
    said = bench.said.getvalue()
    assert f"one                    failed: failing build ended with 7; log: {log}" in said
    assert "| the reason" in said


def test_a_failed_step_is_tried_again(bench: Bench) -> None:
    def fail(*_: object) -> None:
        raise StepError("no network")

    assert bench.ensure(bench.step("one", make=fail))["one"].missing
    assert bench.ensure(bench.step("one"))["one"].ready


def test_independent_steps_run_side_by_side(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    both = threading.Barrier(2, timeout=20)

    def meet(*_: object) -> None:
        both.wait()

    states = bench.ensure(bench.step("one", make=meet), bench.step("two", make=meet))
    assert states["one"].ready
    assert states["two"].ready


def test_stopping_ends_a_command_and_what_it_started(bench: Bench, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # both processes hold the pipe open, so that its end tells that both are gone
    slow = bench.tool("slow", f"exec 3>{pipe}; /bin/sleep 600 & echo started >&3; wait")
    commands = Commands()
    run = partial(commands.run, tmp_path / "log", [slow, "build"], tmp_path, {})
    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(run)
        with pipe.open(encoding="utf-8") as reader:
            assert reader.readline() == "started\n"
            commands.stop()
            assert reader.read() == ""
        with pytest.raises(InterruptedStepError):
            ending.result(60)
    with pytest.raises(InterruptedStepError):
        run()


HOLDER = """
import sys
from pathlib import Path
from bootstrap.filelock import exclusive
with exclusive(Path(sys.argv[1]), print):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_lock_waits_for_the_other_process_and_names_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, lock],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(HARNESS)},
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        holders: list[str] = []

        def waiting(holder: str) -> None:
            holders.append(holder)
            other.communicate()

        with exclusive(lock, waiting):
            assert holders == [str(other.pid)]
        assert other.returncode == 0


def test_the_key_depends_on_every_fact() -> None:
    keys = {
        key_of("a", {"x": "1"}),
        key_of("b", {"x": "1"}),
        key_of("a", {"x": "2"}),
        key_of("a", {"y": "1"}),
        key_of("a", {"x": "1", "y": ""}),
    }
    assert len(keys) == 5
