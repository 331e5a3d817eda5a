"""Whether this computer is fit to measure on: all of `doctor`'s checks."""

import re
from pathlib import Path

import psutil

from sqlitmus.machine import disturbance, lock, settings, system
from sqlitmus.machine.activity import watch
from sqlitmus.machine.check import Check
from sqlitmus.machine.facts import UNKNOWN, file_system, hyperfine_version
from sqlitmus.vocabulary import paths

MEMORY_NEEDED = 2 * 2**30
DISK_NEEDED = 2**30
HYPERFINE_NEEDED = (1, 18)
WINDOW_S = 0.5
NOT_LOCAL = ("tmpfs", "nfs", "nfs4", "cifs", "smbfs", "9p", "fuse", "virtiofs")


def checks(root: Path = system.ROOT) -> list[Check]:
    """Run all checks; this watches the machine for half a second."""
    folder = paths.toolchain()
    folder.mkdir(parents=True, exist_ok=True)
    activity = watch(WINDOW_S, root)
    return [
        *set_up(),
        other_run(),
        disturbance.load(activity),
        disturbance.steal(activity, root),
        settings.governor(root),
        settings.boost(root),
        disturbance.temperature(activity, root),
        settings.power(activity.rates.on_battery),
        settings.threads(root),
        settings.clock(root, settings.clock_grain_ns()),
        memory(),
        disturbance.swap(activity),
        disk(folder),
        disturbance.disk_traffic(activity, root),
        local(folder),
    ]


def set_up() -> list[Check]:
    """The tools; before set-up that it was not done, and what it will not find."""
    hints, provided = paths.tools().missing, tools()
    if paths.NOT_YET + "setup" not in hints.values():
        return [provided, hyperfine()]
    undone = Check("set-up", "failure", "not done yet", "run ./just setup")
    return [undone, provided] if provided.state != "ok" else [undone]


def tools() -> Check:
    """The tools that set-up could not provide; those of other recipes are theirs to set up."""
    provided = paths.tools()
    missing = {n: hint for n, hint in provided.missing.items() if paths.NOT_YET not in hint}
    if missing:
        names: dict[str, list[str]] = {}
        for name, hint in missing.items():
            names.setdefault(hint, []).append(name)
        hints = "; ".join(f"{', '.join(tools)}: {hint}" for hint, tools in names.items())
        return Check("tools", "warning", f"missing {', '.join(missing)}", hints)
    return Check("tools", "ok", f"{len(provided.paths)} present")


def hyperfine() -> Check:
    """Whether hyperfine is installed, in a version that has all the options used."""
    version = hyperfine_version()
    if version is None:
        return Check("hyperfine", "failure", "not found", "run ./just setup")
    parts = re.match(r"(\d{1,9})\.(\d{1,9})", version)
    if parts and tuple(map(int, parts.groups())) >= HYPERFINE_NEEDED:
        return Check("hyperfine", "ok", version)
    needed = ".".join(map(str, HYPERFINE_NEEDED))
    finding = f"{version} is not {needed} or newer"
    return Check("hyperfine", "failure", finding, "run ./just setup")


def other_run() -> Check:
    """Another run on this machine, of any user and clone."""
    holder = lock.holder()
    if holder is None:
        return Check("other run", "ok", "none")
    return Check("other run", "warning", str(holder), "wait for it to end, or run with --wait")


def memory() -> Check:
    """Whether memory is large enough to keep databases cached."""
    free = system.safely(lambda: psutil.virtual_memory().available)
    if free is None:
        return Check("memory", "ok", UNKNOWN)
    finding = f"{free / 2**30:.1f} GiB available"
    if free < MEMORY_NEEDED:
        advice = "close what needs much memory: databases may not stay in the page cache"
        return Check("memory", "warning", finding, advice)
    return Check("memory", "ok", finding)


def disk(folder: Path) -> Check:
    """Whether the disk has room for databases and their copies."""
    free = system.safely(lambda: psutil.disk_usage(str(folder)).free)
    if free is None:
        return Check("disk", "ok", UNKNOWN)
    finding = f"{free / 2**30:.1f} GiB free"
    if free < DISK_NEEDED:
        advice = "free some, or set SQLITMUS_TOOLCHAIN elsewhere"
        return Check("disk", "failure", finding, advice)
    return Check("disk", "ok", finding)


def local(folder: Path) -> Check:
    """Whether a sync of a file there reaches a disk of this machine."""
    name = file_system(folder)
    if name.split()[0].split(".")[0] in NOT_LOCAL:
        advice = "set SQLITMUS_TOOLCHAIN to a folder on a local disk: syncing means less here"
        return Check("file system", "warning", name, advice)
    return Check("file system", "ok", name)
