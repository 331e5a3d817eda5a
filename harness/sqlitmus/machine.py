"""Facts of this computer, and whether it is fit to measure on. Unknown facts say so."""

import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from sqlitmus import paths

UNKNOWN = "unknown"
MEMORY_NEEDED = 2 * 2**30
DISK_NEEDED = 2**30
HYPERFINE_NEEDED = (1, 18)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `doctor`: a warning lowers confidence, a failure makes measuring pointless."""

    name: str
    state: Literal["ok", "warning", "failure"]
    finding: str
    advice: str = ""


def facts(database_folder: Path) -> dict[str, str]:
    """What a report says of the machine; databases are read and written in `database_folder`."""
    memory = psutil.virtual_memory()
    return {
        "cpu": cpu_model(),
        "cores": str(os.cpu_count() or UNKNOWN),
        "architecture": platform.machine(),
        "memory": f"{memory.total / 2**30:.1f} GiB",
        "os": os_name(),
        "kernel": platform.release(),
        "virtualised": "yes" if "hypervisor" in _cpuinfo("flags").split() else UNKNOWN,
        "governor": governor(),
        "file system": file_system(database_folder),
        "load at start": load(),
        "python": platform.python_version(),
        "hyperfine": hyperfine_version() or UNKNOWN,
        "sqlitmus commit": commit(),
    }


def identity() -> str:
    """What must not change within a run: the processor, its cores, the kernel."""
    return f"{cpu_model()} × {os.cpu_count()}, {platform.platform()}"


def cpu_model() -> str:
    """The processor's name."""
    return _cpuinfo("model name") or platform.processor() or UNKNOWN


def _cpuinfo(name: str) -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return ""


def os_name() -> str:
    """Distribution or system with version."""
    for line in _read("/etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return f"{platform.system()} {platform.version()}"


def governor() -> str:
    """The frequency governor of the first core."""
    return _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip() or UNKNOWN


def file_system(folder: Path) -> str:
    """Type and device of the file system that holds `folder`."""
    at = folder.resolve()
    mounts = {Path(p.mountpoint): p for p in psutil.disk_partitions(all=True)}
    for parent in [at, *at.parents]:
        if parent in mounts:
            return f"{mounts[parent].fstype} on {mounts[parent].device}"
    return UNKNOWN


def load() -> str:
    """The load average of the last minute."""
    return f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else UNKNOWN


def hyperfine_version() -> str | None:
    """Version of the hyperfine that the set-up gives; None when there is none."""
    path = paths.tools().paths.get("hyperfine")
    said = _run([path, "--version"]) if path else ""
    return said.split()[-1] if said else None


def commit() -> str:
    """The clone's commit, marked when files differ from it."""
    head = _run(["git", "-C", str(paths.ROOT), "rev-parse", "--short=12", "HEAD"])
    if not head:
        return UNKNOWN
    changed = _run(["git", "-C", str(paths.ROOT), "status", "--porcelain", "--untracked-files=no"])
    return f"{head} with local changes" if changed else head


def checks() -> list[Check]:
    """All of `doctor`'s checks on this machine."""
    folder = paths.toolchain()
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _check_tools(),
        _check_hyperfine(),
        _check_load(),
        _check_governor(),
        _check_power(),
        _check_memory(),
        _check_disk(folder),
        _check_file_system(folder),
    ]


def _check_tools() -> Check:
    found = paths.tools()
    if found.missing:
        told = "; ".join(f"{name}: {hint}" for name, hint in found.missing.items())
        return Check("tools", "warning", f"missing {', '.join(found.missing)}", told)
    return Check("tools", "ok", f"{len(found.paths)} present")


def _check_hyperfine() -> Check:
    version = hyperfine_version()
    if version is None:
        return Check("hyperfine", "failure", "not found", "run ./just setup")
    if tuple(map(int, version.split(".")[:2])) < HYPERFINE_NEEDED:
        needed = ".".join(map(str, HYPERFINE_NEEDED))
        return Check(
            "hyperfine", "failure", f"{version} is older than {needed}", "run ./just setup"
        )
    return Check("hyperfine", "ok", version)


def _check_load() -> Check:
    busy = psutil.cpu_percent(interval=0.5)
    if busy > 20:
        top = sorted(
            psutil.process_iter(["name", "cpu_percent"]),
            key=lambda p: p.info["cpu_percent"] or 0.0,
            reverse=True,
        )
        advice = f"close what is busy, such as {top[0].info['name']}" if top else ""
        return Check("load", "warning", f"{busy:.0f} % of the CPU is in use", advice)
    return Check("load", "ok", f"{busy:.0f} % of the CPU is in use")


def _check_governor() -> Check:
    now = governor()
    if now in ("performance", UNKNOWN):
        return Check("governor", "ok", now)
    return Check("governor", "warning", now, "sudo cpupower frequency-set -g performance")


def _check_power() -> Check:
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    if battery is not None and not battery.power_plugged:
        return Check("power", "warning", "on battery", "plug in the power supply")
    return Check("power", "ok", "mains" if battery else "no battery")


def _check_memory() -> Check:
    free = psutil.virtual_memory().available
    text = f"{free / 2**30:.1f} GiB available"
    if free < MEMORY_NEEDED:
        return Check("memory", "warning", text, "databases may not stay in the page cache")
    return Check("memory", "ok", text)


def _check_disk(folder: Path) -> Check:
    free = psutil.disk_usage(str(folder)).free
    text = f"{free / 2**30:.1f} GiB free"
    if free < DISK_NEEDED:
        return Check("disk", "failure", text, "free some, or set SQLITMUS_TOOLCHAIN elsewhere")
    return Check("disk", "ok", text)


def _check_file_system(folder: Path) -> Check:
    name = file_system(folder)
    if name.split()[0] in ("tmpfs", "nfs", "nfs4", "cifs", "9p", "fuse"):
        return Check(
            "file system", "warning", name, "syncing means something else here than on a local disk"
        )
    return Check("file system", "ok", name)


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
