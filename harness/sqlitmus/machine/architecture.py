"""Processor architectures: the machine's own, a program's, and one name for each.

The names are Node's and those of CI systems: x64, arm64, ia32. A program for another architecture
than the machine's is emulated (Rosetta, Windows on Arm, qemu).
"""

import ctypes
import platform
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from sqlitmus.machine import system

NAMES = {
    "x86_64": "x64",
    "amd64": "x64",
    "aarch64": "arm64",
    "x86": "ia32",
    "i386": "ia32",
    "i486": "ia32",
    "i586": "ia32",
    "i686": "ia32",
}

# e_machine of ELF, cputype of Mach-O, IMAGE_FILE_MACHINE of Windows
_ELF = {0x03: "ia32", 0x3E: "x64", 0xB7: "arm64"}
_MACH_O = {0x01000007: "x64", 0x0100000C: "arm64"}
_WINDOWS = {0x014C: "ia32", 0x8664: "x64", 0xAA64: "arm64"}
_HEADER = 4096


def named(text: str) -> str:
    """Our name for the architecture called `text` elsewhere; unknown ones stay as they are."""
    return NAMES.get(text.lower(), text.lower())


def native(root: Path = system.ROOT) -> str:
    """The machine's own architecture, even when this Python was built for another."""
    return _system_answer(root) or named(platform.machine())


def of_program(file: Path) -> str | None:
    """The architecture in a program's header; None for a script, and for a program for several."""
    with suppress(OSError, struct.error), file.open("rb") as stream:
        head = stream.read(_HEADER)
        if head.startswith(b"\x7fELF"):
            return _ELF.get(struct.unpack_from("<H", head, 18)[0])
        if head.startswith(b"\xcf\xfa\xed\xfe"):
            return _MACH_O.get(struct.unpack_from("<I", head, 4)[0])
        if head.startswith(b"MZ"):
            (place,) = struct.unpack_from("<I", head, 0x3C)
            return _WINDOWS.get(struct.unpack_from("<H", head, place + 4)[0])
    return None


def sysctl(name: str) -> str:
    """A fact of macOS's kernel; empty when the kernel has no such fact."""
    command = ["/usr/sbin/sysctl", "-n", name]
    with suppress(OSError):
        return subprocess.run(command, capture_output=True, check=False).stdout.decode().strip()
    return ""


def _system_answer(root: Path) -> str | None:
    """The operating system's architecture, if `uname` hides it from an emulated process."""
    if sys.platform == "win32":
        process, machine = ctypes.c_ushort(), ctypes.c_ushort()
        ask = ctypes.WinDLL("kernel32").IsWow64Process2
        this = ctypes.c_void_p(-1)
        answered = ask(this, ctypes.byref(process), ctypes.byref(machine))
        return _WINDOWS.get(machine.value) if answered else None
    if sys.platform == "darwin":
        return "arm64" if sysctl("hw.optional.arm64") == "1" else None
    return named(system.text(root, "proc/sys/kernel/arch"))
