"""Facts of this computer for the report; an unknown fact is "unknown"."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import psutil

from sqlitmus.machine import affinity, architecture, kernel, system
from sqlitmus.vocabulary import paths

UNKNOWN = "unknown"
SYSTEMS = {"darwin": "macos"}


def facts(database_folder: Path, root: Path = system.ROOT) -> dict[str, str]:
    """The machine as a report describes it; databases are read and written in `database_folder`."""
    memory = system.safely(lambda: psutil.virtual_memory().total)
    boost = kernel.boost(root)
    cores = kernel.cores(root)
    clock = kernel.clock_source(root)
    return {
        "cpu": cpu_model(root),
        "cores": str(affinity.usable()),
        "cores of the machine": str(os.cpu_count() or UNKNOWN),
        "threads per core": f"{cores[1] / cores[0]:g}" if cores else UNKNOWN,
        "architecture": architecture.native(root),
        "memory": f"{memory / 2**30:.1f} GiB" if memory else UNKNOWN,
        "os": os_name(root),
        "kernel": platform.release(),
        "virtualised": "yes" if kernel.virtualised(root) else UNKNOWN,
        "governor": ", ".join(kernel.governors(root)) or UNKNOWN,
        "boost": UNKNOWN if boost is None else "on" if boost.on else "off",
        "clock source": clock[0] if clock else UNKNOWN,
        "file system": file_system(database_folder),
        "load at start": load(),
        "python": platform.python_version(),
        "hyperfine": hyperfine_version() or UNKNOWN,
        "hyperfine architecture": _hyperfine_architecture() or UNKNOWN,
        "sqlitmus commit": commit(),
    }


def identity() -> str:
    """The facts that must not change during a run: the processor, its cores, the kernel."""
    return f"{cpu_model()} × {affinity.usable()}, {platform.platform()}"


def kind() -> str:
    """System and architecture as CI systems call them, such as `linux-x64` and `macos-arm64`."""
    system_ = platform.system().lower()
    return f"{SYSTEMS.get(system_, system_)}-{architecture.native()}"


def cpu_model(root: Path = system.ROOT) -> str:
    """The processor's name."""
    if sys.platform == "win32":
        import winreg

        place = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
            return winreg.QueryValueEx(key, "ProcessorNameString")[0].strip()
    if sys.platform == "darwin":
        return architecture.sysctl("machdep.cpu.brand_string") or UNKNOWN
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


def load() -> str:
    """The load average of the last minute."""
    now = system.load_average()
    return UNKNOWN if now is None else f"{now:.2f}"


def hyperfine_version() -> str | None:
    """The version of the installed hyperfine; None when there is none."""
    path = paths.tools().paths.get("hyperfine")
    words = _run([path, "--version"]).split() if path else []
    return words[-1] if words else None


def _hyperfine_architecture() -> str | None:
    path = paths.tools().paths.get("hyperfine")
    return architecture.of_program(Path(path)) if path else None


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
