"""The lock files: all is pinned by its hash, and each kind of machine that the workflows measure on
finds all of its packages.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.workflows.files import FOLDER, ROOT, read

USERS, DEV, JUST = (f"harness/requirements{name}.txt" for name in ("", "-dev", "-just"))
# Families of npm packages, of which each machine has one of its own.
FAMILIES = {
    "runners/package-lock.json": ("node-", "@oven/bun-", "@deno/"),
    "tools/package-lock.json": ("@biomejs/cli-",),
}
# Machines as uv and npm call them.
MACHINES = {
    "linux-x64": ("x86_64-manylinux_2_28", "linux", "x64"),
    "linux-arm64": ("aarch64-manylinux_2_28", "linux", "arm64"),
    "macos-x64": ("x86_64-apple-darwin", "darwin", "x64"),
    "macos-arm64": ("aarch64-apple-darwin", "darwin", "arm64"),
    "windows-x64": ("x86_64-pc-windows-msvc", "win32", "x64"),
    "windows-arm64": ("aarch64-pc-windows-msvc", "win32", "arm64"),
}


def lines(lock: str) -> list[str]:
    """A line for each Python package."""
    text = (ROOT / lock).read_text("utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]


def npm_packages(lock: str) -> dict[str, dict[str, Any]]:
    packages = json.loads((ROOT / lock).read_text("utf-8"))["packages"]
    return {name.removeprefix("node_modules/"): facts for name, facts in packages.items() if name}


@pytest.mark.parametrize("lock", [*FAMILIES, USERS, DEV, JUST])
def test_every_package_has_a_hash_and_no_download_address(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    assert '"resolved"' not in text
    assert not re.search(r"https?://(?!.*funding)", re.sub(r'"url": "[^"]*"', "", text))
    if lock in FAMILIES:
        packages = npm_packages(lock)
        assert {facts["integrity"].partition("-")[0] for facts in packages.values()} == {"sha512"}
        return
    pinned = re.compile(r"[a-z0-9._-]+==\S+ .*--hash=sha256:[0-9a-f]{64}")
    assert lines(lock)
    assert [line for line in lines(lock) if not pinned.match(line)] == []


def test_tests_run_with_the_same_versions_as_users() -> None:
    users, dev = ({re.split("[ ;]", line)[0] for line in lines(lock)} for lock in (USERS, DEV))
    assert users <= dev


def test_the_machines_are_those_that_are_measured_on() -> None:
    matrix = read(ROOT / FOLDER / "bench.yml")["jobs"]["bench"]["strategy"]["matrix"]
    assert {machine["id"] for machine in matrix["machine"]} == set(MACHINES)


def resolve(folder: Path, machine: str, *locks: str) -> str:
    """What hinders pip on such a machine: nothing, or uv's error. Skips without a registry."""
    tested = (ROOT / FOLDER / "test.yml").read_text("utf-8")
    python = re.search(r'python-version: "([\d.]+)"', tested)
    assert python
    words = [
        *(sys.executable, "-m", "uv", "pip", "install", "--dry-run", "--quiet"),
        *("--target", str(folder / "none"), "--require-hashes", "--only-binary", ":all:"),
        *("--python-platform", MACHINES[machine][0], "--python-version", python[1]),
        *(word for lock in locks for word in ("-r", str(ROOT / lock))),
    ]
    environ = {**os.environ, "UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "10", "UV_NO_CONFIG": "1"}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    if "Failed to fetch" in done.stderr:
        pytest.skip(f"the Python registry does not answer: {done.stderr.splitlines()[0]}")
    return done.stderr if done.returncode else ""


@pytest.mark.network
def test_every_python_package_has_a_locked_wheel(tmp_path: Path) -> None:
    def hindered(machine: str) -> str:
        return resolve(tmp_path, machine, DEV, *[JUST] * (machine != "windows-arm64"))

    with ThreadPoolExecutor() as pool:
        assert [*pool.map(hindered, MACHINES)] == [""] * len(MACHINES)


@pytest.mark.network
def test_windows_on_arm_still_needs_the_just_for_x64(tmp_path: Path) -> None:
    """Fails as soon as there is a wheel: then the special case can go."""
    assert "no usable wheels" in resolve(tmp_path, "windows-arm64", JUST)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_family_of_npm_packages_has_one_for_the_machine(machine: str) -> None:
    _, system, cpu = MACHINES[machine]
    for lock, families in FAMILIES.items():
        own = [
            name
            for name, facts in npm_packages(lock).items()
            if system in facts.get("os", ())
            and cpu in facts.get("cpu", ())
            and "glibc" in facts.get("libc", ["glibc"])
        ]
        for family in families:
            assert [name for name in own if name.startswith(family)], f"{family}* is not in {lock}"
