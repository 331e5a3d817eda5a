"""What a report says of a machine, and of which architecture it and its programs are."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

import ctypes
import os
import platform
import struct
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sqlitmus import machine
from tests.machine.linux import FIT, LAPTOP, build, fake

PE = b"MZ" + bytes(58) + struct.pack("<I", 128) + bytes(64) + b"PE\0\0"
ELF = b"\x7fELF\x02\x01\x01" + bytes(11)


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """This Python is one for x64, as far as `uname` tells."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(platform, "release", lambda: "6.1")
    monkeypatch.setattr(platform, "platform", lambda: "Example-6.1")
    monkeypatch.setattr(platform, "python_version", lambda: "3.14")
    monkeypatch.setattr(os, "cpu_count", lambda: 8)


def test_facts_of_a_laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = build(tmp_path, {"hyperfine": ELF + b"\xb7\x00"})
    cpus = LAPTOP["proc/cpuinfo"].replace("sse2", "sse2 hypervisor")
    fake(root, monkeypatch, {**LAPTOP, "proc/cpuinfo": cpus})
    monkeypatch.setattr(os, "getloadavg", lambda: (1.5, 0.0, 0.0))
    assert machine.facts(tmp_path, root) == {
        "cpu": "Example CPU 9000 @ 3 GHz",
        "cores": "1",
        "cores of the machine": "8",
        "threads per core": "2",
        "architecture": "x64",
        "memory": "16.0 GiB",
        "os": "Example Linux 12",
        "kernel": "6.1",
        "virtualised": "yes",
        "governor": "powersave",
        "boost": "on",
        "clock source": "hpet",
        "file system": "ext4 on /dev/sda1",
        "load at start": "1.50",
        "python": "3.14",
        "hyperfine": "1.20.0",
        "hyperfine architecture": "arm64",
        # what each program says that is asked for something
        "sqlitmus commit": "hyperfine 1.20.0 with local changes",
    }


def test_what_a_system_does_not_tell_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing: dict[str, Any] = dict.fromkeys(FIT, KeyError("garbage"))
    fake(tmp_path, monkeypatch, {}, hyperfine=("", 0), **nothing)
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.delattr(os, "getloadavg", raising=False)
    monkeypatch.setattr(platform, "system", lambda: "Plan 9")
    monkeypatch.setattr(platform, "version", lambda: "4")
    known = machine.facts(tmp_path, tmp_path)
    told = {name: fact for name, fact in known.items() if fact != machine.UNKNOWN}
    assert told == {
        "cores": "8",
        "cores of the machine": "8",
        "architecture": "x64",
        "os": "Plan 9 4",
        "kernel": "6.1",
        "python": "3.14",
    }
    assert machine.identity().endswith(" × 8, Example-6.1")


def test_facts_of_this_machine(tmp_path: Path) -> None:
    known = machine.facts(tmp_path)
    assert all(known.values())
    assert known["memory"].endswith(" GiB")
    assert known["cpu"] in machine.identity()


def test_a_commit_with_changes_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    def commit() -> str:
        return machine.facts(tmp_path)["sqlitmus commit"]

    monkeypatch.setattr("sqlitmus.vocabulary.paths.ROOT", tmp_path)
    assert commit() == machine.UNKNOWN
    git("init")
    (tmp_path / "file").write_text("a")
    git("add", "file")
    git("commit", "-m", "first")
    clean = commit()
    assert len(clean) == 12
    (tmp_path / "untracked").write_text("a")
    assert commit() == clean
    (tmp_path / "file").write_text("b")
    assert commit() == f"{clean} with local changes"


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        *[(text, "x64") for text in ("x86_64", "AMD64\n", "x64", "")],
        *[(text, "arm64") for text in ("aarch64\n", "Arm64")],
        *[(text, "ia32") for text in ("x86", "i686", "ia32")],
        ("riscv64", "riscv64"),
    ],
)
def test_linux_s_kernel_tells_what_runs_beneath_an_emulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: str, told: str
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    root = build(tmp_path, {"proc/sys/kernel/arch": kernel})
    assert machine.facts(tmp_path, root)["architecture"] == told


@pytest.mark.parametrize(("answer", "told"), [("1", "arm64"), ("0", "x64"), ("", "x64")])
def test_macos_tells_of_apple_silicon_under_rosetta(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, told: str
) -> None:
    facts = {"hw.optional.arm64": answer, "machdep.cpu.brand_string": answer and "Example M9"}

    def run(command: list[str], **_: object) -> SimpleNamespace:
        if command[:2] != ["/usr/sbin/sysctl", "-n"]:
            raise FileNotFoundError
        return SimpleNamespace(stdout=f"{facts[command[2]]}\n".encode())

    fake(tmp_path, monkeypatch, {})
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "mac_ver", lambda: ("26.1", ("", "", ""), "arm64"))
    known = machine.facts(tmp_path, tmp_path)
    assert (known["architecture"], machine.kind()) == (told, f"macos-{told}")
    assert known["os"] == "Darwin (macOS 26.1)"
    assert known["cpu"] == ("Example M9" if answer else machine.UNKNOWN)
    assert known["hyperfine"] == machine.UNKNOWN


@pytest.mark.parametrize(
    ("number", "fails", "told"),
    [(0xAA64, False, "arm64"), (0x8664, False, "x64"), (0xAA64, True, "x64"), (7, False, "x64")],
)
def test_windows_tells_of_arm_under_an_emulated_process(
    monkeypatch: pytest.MonkeyPatch, number: int, fails: bool, told: str
) -> None:
    def ask(process: ctypes.c_void_p, _wow: Any, native: Any) -> int:
        assert process.value == 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 1
        native._obj.value = number
        return 0 if fails else 1

    kernel = {"kernel32": SimpleNamespace(IsWow64Process2=ask)}
    place = ("HKLM", r"HARDWARE\DESCRIPTION\System\CentralProcessor\0")
    values = {(place, "ProcessorNameString"): ("Example CPU   ", 1)}
    registry: Any = SimpleNamespace(
        HKEY_LOCAL_MACHINE="HKLM",
        OpenKey=lambda *path: nullcontext(path),
        QueryValueEx=lambda *asked: values[asked],
    )
    monkeypatch.setattr(ctypes, "WinDLL", kernel.__getitem__, raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    monkeypatch.setitem(sys.modules, "winreg", registry)
    assert machine.kind() == f"windows-{told}"
    assert machine.identity().startswith("Example CPU × ")


@pytest.mark.parametrize(
    ("head", "built"),
    [
        (ELF + b"\x3e\x00", "x64"),
        (ELF + b"\xf3\x00", machine.UNKNOWN),
        (b"\xcf\xfa\xed\xfe" + struct.pack("<I", 0x0100000C), "arm64"),
        (b"\xca\xfe\xba\xbe" + bytes(4), machine.UNKNOWN),
        (PE + b"\x64\xaa", "arm64"),
        (PE + b"\x64\x86", "x64"),
        (PE, machine.UNKNOWN),
        (b"#!/bin/sh\n", machine.UNKNOWN),
        (None, machine.UNKNOWN),
    ],
    ids=["ELF", "other ELF", "Mach-O", "fat", "PE arm64", "PE x64", "cut off", "script", "none"],
)
def test_a_program_s_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: bytes | None, built: str
) -> None:
    fake(build(tmp_path, {"hyperfine": head} if head else {}), monkeypatch, {})
    assert machine.facts(tmp_path, tmp_path)["hyperfine architecture"] == built
