"""When steps are made, left alone, made anew, or reported."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from bootstrap.commands import Commands, InterruptedStepError
from bootstrap.filelock import exclusive
from bootstrap.step import key_of, look
from tests.bootstrap.conftest import Bench

HARNESS = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fakes are shell scripts")


def test_a_step_is_made_once_for_each_input_and_again_when_it_is_gone(bench: Bench) -> None:
    old = bench.ensure(bench.step("one", fact="old"))["one"].path("one")
    said = bench.said.getvalue()
    assert bench.ensure(bench.step("one", fact="old"))["one"].path("one") == old
    assert (bench.made, bench.said.getvalue()) == (["one"], said), "with nothing to do it is silent"
    new = bench.ensure(bench.step("one", fact="new"))["one"].path("one")
    assert old
    assert new
    assert (old.read_text("utf-8"), new.read_text("utf-8")) == ("old", "new")
    new.unlink()
    assert not look(bench.step("one", fact="new"), bench.context).ready
    bench.ensure(bench.step("one", fact="new"))
    assert new.exists()
    assert bench.made == ["one"] * 3


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
    assert bench.ensure(bench.step("one"))["one"].ready, "it is tried again"


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
    facts = ({"x": "1"}, {"x": "2"}, {"y": "1"}, {"x": "1", "y": ""})
    assert len({key_of("b", facts[0]), *(key_of("a", each) for each in facts)}) == 5
