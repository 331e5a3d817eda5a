"""Each kind of machine that the workflows measure on finds all its packages in the lock files."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.bootstrap.test_hints import npm_packages
from tests.workflows.files import FOLDER, ROOT, read

DEV, JUST = (f"harness/requirements-{name}.txt" for name in ("dev", "just"))
FILE = ROOT / FOLDER / "bench.yml"
FAMILIES = {
    "runners/package-lock.json": ("node-", "@oven/bun-", "@deno/"),
    "tools/package-lock.json": ("@biomejs/cli-",),
}


@dataclass(frozen=True)
class Machine:
    """A kind of machine as uv and npm call it."""

    triple: str
    os: str
    cpu: str


MACHINES = {
    "linux-x64": Machine("x86_64-manylinux_2_28", "linux", "x64"),
    "linux-arm64": Machine("aarch64-manylinux_2_28", "linux", "arm64"),
    "macos-x64": Machine("x86_64-apple-darwin", "darwin", "x64"),
    "macos-arm64": Machine("aarch64-apple-darwin", "darwin", "arm64"),
    "windows-x64": Machine("x86_64-pc-windows-msvc", "win32", "x64"),
    "windows-arm64": Machine("aarch64-pc-windows-msvc", "win32", "arm64"),
}
each = pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)


def resolve(folder: Path, triple: str, *locks: str) -> str:
    """What hinders pip on such a machine: nothing, or uv's error. Skips without a registry."""
    python = re.search(
        r'python-version: "([\d.]+)"', (ROOT / FOLDER / "test.yml").read_text("utf-8")
    )
    assert python
    words = [
        *(sys.executable, "-m", "uv", "pip", "install", "--dry-run", "--quiet"),
        *("--target", str(folder / "none"), "--require-hashes", "--only-binary", ":all:"),
        *("--python-platform", triple, "--python-version", python[1]),
        *(word for lock in locks for word in ("-r", str(ROOT / lock))),
    ]
    environ = {**os.environ, "UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "10", "UV_NO_CONFIG": "1"}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    if "Failed to fetch" in done.stderr:
        pytest.skip(f"the Python registry does not answer: {done.stderr.splitlines()[0]}")
    return done.stderr if done.returncode else ""


def test_the_machines_are_those_that_are_measured_on() -> None:
    matrix = read(FILE)["jobs"]["bench"]["strategy"]["matrix"]
    assert {machine["id"] for machine in matrix["machine"]} == set(MACHINES)


@each
def test_every_python_package_has_a_locked_wheel(tmp_path: Path, machine: Machine) -> None:
    emulated = (machine.os, machine.cpu) == ("win32", "arm64")
    assert resolve(tmp_path, machine.triple, *([DEV] if emulated else [DEV, JUST])) == ""


def test_windows_on_arm_still_needs_the_just_for_x64(tmp_path: Path) -> None:
    """Fails as soon as there is a wheel: then the special case can go."""
    assert "no usable wheels" in resolve(tmp_path, MACHINES["windows-arm64"].triple, JUST)


@each
@pytest.mark.parametrize("lock", FAMILIES)
def test_every_family_of_npm_packages_has_one_for_the_machine(lock: str, machine: Machine) -> None:
    own = [
        name
        for name, facts in npm_packages(lock).items()
        if machine.os in facts.get("os", ())
        and machine.cpu in facts.get("cpu", ())
        and "glibc" in facts.get("libc", ["glibc"])
    ]
    for family in FAMILIES[lock]:
        assert [name for name in own if name.startswith(family)], f"{family}* is not in {lock}"
