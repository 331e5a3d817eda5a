"""What a machine and a program are built for, on systems that emulate others."""

import ctypes
import platform
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast

import pytest

from sqlitmus import machine
from sqlitmus.machine import host
from sqlitmus.machine.host import cpu_model, os_name
from tests.machine.linux import build


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """This Python is one for x64, as far as `uname` tells."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        *[(text, "x64") for text in ("x86_64", "AMD64", "x64", "X64")],
        *[(text, "arm64") for text in ("aarch64", "arm64", "ARM64", "Arm64")],
        *[(text, "ia32") for text in ("x86", "i686", "ia32")],
        ("riscv64", "riscv64"),
    ],
)
def test_one_name_for_each(said: str, name: str) -> None:
    assert host.named(said) == name


@pytest.mark.parametrize(("kernel", "told"), [("aarch64\n", "arm64"), (None, "x64")])
def test_linux_s_kernel_tells_what_runs_beneath_an_emulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: str | None, told: str
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    root = build(tmp_path, {"proc/sys/kernel/arch": kernel} if kernel else {})
    assert host.native(root) == told


@pytest.mark.parametrize(("answer", "told"), [("1", "arm64"), ("0", "x64"), ("", "x64")])
def test_macos_tells_of_apple_silicon_under_rosetta(
    monkeypatch: pytest.MonkeyPatch, answer: str, told: str
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(host, "sysctl", {"hw.optional.arm64": answer}.get)
    assert host.native() == told


def test_without_sysctl_nothing_is_told() -> None:
    assert host.sysctl("sqlitmus.there.is.none") == ""


def kernel32(machine: int, *, fails: bool = False) -> Callable[[str], Any]:
    """ctypes.WinDLL whose IsWow64Process2 answers as to a process that Windows emulates."""

    def ask(process: ctypes.c_void_p, _wow: Any, native: Any) -> int:
        assert process.value == 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 1
        native._obj.value = machine
        return 0 if fails else 1

    return lambda name: SimpleNamespace(IsWow64Process2=ask) if name == "kernel32" else None


@pytest.mark.parametrize(
    ("number", "fails", "told"),
    [(0xAA64, False, "arm64"), (0x8664, False, "x64"), (0xAA64, True, "x64"), (7, False, "x64")],
)
def test_windows_tells_of_arm_under_an_emulated_process(
    monkeypatch: pytest.MonkeyPatch, number: int, fails: bool, told: str
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", kernel32(number, fails=fails), raising=False)
    assert host.native() == told


PE = b"MZ" + bytes(58) + struct.pack("<I", 128) + bytes(64) + b"PE\0\0"
PROGRAMS = {
    "linux x64": (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x3e\x00", "x64"),
    "linux arm64": (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xb7\x00", "arm64"),
    "linux other": (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xf3\x00", None),
    "macos arm64": (b"\xcf\xfa\xed\xfe" + struct.pack("<I", 0x0100000C), "arm64"),
    "macos both": (b"\xca\xfe\xba\xbe" + bytes(4), None),
    "windows arm64": (PE + b"\x64\xaa", "arm64"),
    "windows x64": (PE + b"\x64\x86", "x64"),
    "cut off": (PE, None),
    "script": (b"#!/bin/sh\n", None),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_s_header(tmp_path: Path, name: str) -> None:
    head, built = PROGRAMS[name]
    (tmp_path / "program").write_bytes(head)
    assert host.of_program(tmp_path / "program") == built
    assert host.of_program(tmp_path / "gone") is None


def test_this_python_is_built_for_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    built = host.of_program(Path(sys.executable).resolve())
    assert built in (host.named(platform.machine()), None)


def test_the_machine_is_what_the_facts_and_the_kind_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = build(tmp_path, {"proc/sys/kernel/arch": "aarch64"})
    monkeypatch.setattr(sys, "platform", "linux")
    assert machine.facts(tmp_path, root)["architecture"] == "arm64"
    monkeypatch.setattr(host, "native", lambda: "arm64")
    for system, kind in (("Darwin", "macos-arm64"), ("Windows", "windows-arm64")):
        monkeypatch.setattr(platform, "system", lambda system=system: system)
        assert machine.kind() == kind


def test_the_processor_and_system_of_a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    brand = {"machdep.cpu.brand_string": "Example M9"}
    monkeypatch.setattr(host, "sysctl", brand.get)
    monkeypatch.setattr(platform, "mac_ver", lambda: ("26.1", ("", "", ""), "arm64"))
    assert cpu_model() == "Example M9"
    assert os_name(Path("/nowhere")) == "Darwin (macOS 26.1)"


class Registry:
    """winreg with one value."""

    HKEY_LOCAL_MACHINE = "HKLM"
    place = ""

    def OpenKey(self, root: str, place: str) -> Self:  # noqa: N802 — Windows' name
        assert root == "HKLM"
        self.place = place
        return self

    def QueryValueEx(self, key: Self, name: str) -> tuple[str, int]:  # noqa: N802 — likewise
        assert key.place == r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        assert name == "ProcessorNameString"
        return "Example CPU   ", 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


def test_the_processor_of_a_windows_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "winreg", cast("Any", Registry()))
    monkeypatch.setattr(sys, "platform", "win32")
    assert cpu_model() == "Example CPU"
