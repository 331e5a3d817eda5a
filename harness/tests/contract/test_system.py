"""What runners say of their own process, and the oracle's ways on macOS and Windows."""

# pyright: reportUnknownMemberType=false

import ctypes
import gc
import importlib
import mmap
import platform
import resource
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sqlitmus.machine import host
from tests.contract.started import description, each_runner, installed
from tests.known import RUNNERS


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The oracle's module, anew."""
    monkeypatch.syspath_prepend(RUNNERS / "python")
    monkeypatch.delitem(sys.modules, "system", raising=False)
    return importlib.import_module("system")


@each_runner
def test_a_runner_names_the_architecture_of_its_own_process(name: str) -> None:
    """Here nothing is emulated: what it names is what its program is built for."""
    said = host.named(description(name)["identity"]["architecture"])
    program = Path(installed(name).command[0]).resolve()
    assert said == (host.of_program(program) or said)
    assert said in ("x64", "arm64")


def test_usage_and_peak_here(system: ModuleType) -> None:
    before = system.usage()
    sum(range(1_000_000))
    gc.collect()
    between = system.usage()
    sum(range(1_000_000))
    with mmap.mmap(-1, 64 * mmap.PAGESIZE) as fresh:
        for start in range(0, len(fresh), mmap.PAGESIZE):
            fresh[start] = 1
    after = system.usage()
    told = system.figures([(before, between), (between, after)])
    assert told["cpu_ns"] == after.cpu - before.cpu > 0
    assert told["collections"] >= 1
    assert told["switches"]["voluntary"] >= 0
    assert told["page_faults"]["major"] >= 0
    assert told["page_faults"]["minor"] >= 1, "new memory costs them"
    assert 2**20 < system.peak_rss() < 2**40


def test_the_oracle_on_macos(system: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    def getrusage(_who: int) -> SimpleNamespace:
        return SimpleNamespace(ru_maxrss=50_000_000)

    monkeypatch.setattr(resource, "getrusage", getrusage)
    assert system.peak_rss() == 50_000_000


def kernel32(known: int) -> Any:
    """ctypes.WinDLL whose K32GetProcessMemoryInfo fills in a peak."""

    def ask(_process: Any, counters: Any, size: int) -> int:
        assert size == ctypes.sizeof(counters._obj) == 8 + 8 * ctypes.sizeof(ctypes.c_size_t)
        counters._obj.PeakWorkingSetSize = 60_000_000
        return known

    def load(name: str) -> SimpleNamespace:
        assert name == "kernel32"
        return SimpleNamespace(K32GetProcessMemoryInfo=ask)

    return load


@pytest.mark.parametrize(("known", "peak"), [(1, 60_000_000), (0, None)])
def test_the_oracle_on_windows(
    system: ModuleType, monkeypatch: pytest.MonkeyPatch, known: int, peak: int | None
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "resource", None)  # Windows' Python has no such module
    monkeypatch.setattr(ctypes, "WinDLL", kernel32(known), raising=False)
    times = iter([1_750_000_000, 2_500_000_000])
    monkeypatch.setattr(time, "process_time_ns", lambda: next(times))
    before, after = system.usage(), system.usage()
    told = system.figures([(before, after)])
    del told["collections"]
    assert told == {"cpu_ns": 750_000_000, "switches": None, "page_faults": None}
    assert system.peak_rss() == peak


@pytest.mark.parametrize(
    ("built", "told"), [("win-amd64", "x64"), ("win-arm64", "arm64"), ("win32", "ia32")]
)
def test_on_windows_the_oracle_names_its_own_architecture_and_not_the_machine_s(
    system: ModuleType, monkeypatch: pytest.MonkeyPatch, built: str, told: str
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(platform, "machine", lambda: "ARM64")
    monkeypatch.setattr(sysconfig, "get_platform", lambda: built)
    assert host.named(system.architecture()) == told


ENDED = """
import {{ hasEnded }} from "{system}";
const child = new Deno.Command("sleep", {{ args: ["60"] }}).spawn();
const file = Deno.openSync(`/proc/${{child.pid}}/status`);
child.kill("SIGKILL");
await child.status;
for (const read of [() => file.readSync(new Uint8Array(9)), () => Deno.openSync("/proc/none")]) {{
  try {{
    read();
    console.log("no error");
  }} catch (error) {{
    console.log(hasEnded(error));
  }}
}}
console.log(hasEnded(new Deno.errors.PermissionDenied("no")));
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of threads in files")
def test_a_thread_that_ends_while_deno_reads_its_file_is_no_failure(tmp_path: Path) -> None:
    """It was one, now and then: the file of a thread that has ended says ESRCH once it is open."""
    deno = installed("deno")
    script = tmp_path / "ended.js"
    script.write_text(ENDED.format(system=(RUNNERS / "deno/system.js").as_uri()), "utf-8")
    told = subprocess.run(
        [deno.command[0], "run", "--no-config", "-A", str(script)],
        env=deno.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == ["true", "true", "false"]
