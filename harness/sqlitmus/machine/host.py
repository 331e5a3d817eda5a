"""Facts of this computer for the report, and the architecture of its programs; an unknown fact
is "unknown".
"""

import ctypes
import os
import platform
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from sqlitmus.machine import system
from sqlitmus.vocabulary import paths

NAMES = {
    "x86_64": "x64",
    "amd64": "x64",
    "aarch64": "arm64",
    **dict.fromkeys(("x86", "i386", "i486", "i586", "i686"), "ia32"),
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


UNKNOWN = "unknown"
SYSTEMS = {"darwin": "macos"}


def facts(database_folder: Path, root: Path = system.ROOT) -> dict[str, str]:
    """The machine as a report describes it; databases are read and written in `database_folder`."""
    memory = system.safely(lambda: psutil.virtual_memory().total)
    boost = system.boost(root)
    cores = system.cores(root)
    clock = system.clock_source(root)
    load = system.load_average()
    hyperfine = paths.tools().paths.get("hyperfine")
    return {
        "cpu": cpu_model(root),
        "cores": str(system.usable()),
        "cores of the machine": str(os.cpu_count() or UNKNOWN),
        "threads per core": f"{cores[1] / cores[0]:g}" if cores else UNKNOWN,
        "architecture": native(root),
        "memory": f"{memory / 2**30:.1f} GiB" if memory else UNKNOWN,
        "os": os_name(root),
        "kernel": platform.release(),
        "virtualised": "yes" if system.virtualised(root) else UNKNOWN,
        "governor": ", ".join(system.governors(root)) or UNKNOWN,
        "boost": UNKNOWN if boost is None else "on" if boost.on else "off",
        "clock source": clock[0] if clock else UNKNOWN,
        "file system": file_system(database_folder),
        "load at start": UNKNOWN if load is None else f"{load:.2f}",
        "python": platform.python_version(),
        "hyperfine": hyperfine_version() or UNKNOWN,
        "hyperfine architecture": (hyperfine and of_program(Path(hyperfine))) or UNKNOWN,
        "sqlitmus commit": commit(),
    }


def identity() -> str:
    """The facts that must not change during a run: the processor, its cores, the kernel."""
    return f"{cpu_model()} × {system.usable()}, {platform.platform()}"


def kind() -> str:
    """System and architecture as CI systems call them, such as `linux-x64` and `macos-arm64`."""
    system_ = platform.system().lower()
    return f"{SYSTEMS.get(system_, system_)}-{native()}"


def cpu_model(root: Path = system.ROOT) -> str:
    """The processor's name."""
    if sys.platform == "win32":
        import winreg

        place = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
            return winreg.QueryValueEx(key, "ProcessorNameString")[0].strip()
    if sys.platform == "darwin":
        return sysctl("machdep.cpu.brand_string") or UNKNOWN
    named = system.row(root, "proc/cpuinfo", "model name")
    return " ".join(named) or platform.processor() or UNKNOWN


def os_name(root: Path = system.ROOT) -> str:
    """Distribution or system with version."""
    if sys.platform == "darwin":
        return f"Darwin (macOS {platform.mac_ver()[0]})"
    for line in system.text(root, "etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return f"{platform.system()} {platform.version()}"


def file_system(folder: Path) -> str:
    """Type and device of the file system that holds `folder`."""
    at = folder.resolve()
    partitions = system.safely(lambda: psutil.disk_partitions(all=True)) or []
    mounts = {Path(p.mountpoint): p for p in partitions}
    for parent in [at, *at.parents]:
        if parent in mounts:
            return f"{mounts[parent].fstype} on {mounts[parent].device}"
    return UNKNOWN


NETWORKS = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "glusterfs", "lustre", "fuse.sshfs")


def network(folder: Path) -> str | None:
    """The type and the device of the network file system that holds `folder`; None for another."""
    name = file_system(folder)
    return name if name.startswith(NETWORKS) else None


def hyperfine_version() -> str | None:
    """The version of the installed hyperfine; None when there is none."""
    path = paths.tools().paths.get("hyperfine")
    words = _run([path, "--version"]).split() if path else []
    return words[-1] if words else None


def commit(clone: Path | None = None) -> str:
    """The clone's commit, marked when files differ from it."""
    git = ["git", "-C", str(clone or paths.ROOT)]
    head = _run([*git, "rev-parse", "--short=12", "HEAD"])
    if not head:
        return UNKNOWN
    changed = _run([*git, "status", "--porcelain", "--untracked-files=no"])
    return f"{head} with local changes" if changed else head


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
