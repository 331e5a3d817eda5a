"""The lock files: complete for every platform, pinned by hash, without download addresses."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
NPM_LOCKS = ("runners/package-lock.json", "tools/package-lock.json")
PIP_LOCKS = (
    "harness/requirements.txt",
    "harness/requirements-dev.txt",
    "harness/requirements-just.txt",
)


def npm_packages(lock: str) -> dict[str, dict[str, Any]]:
    packages = json.loads((ROOT / lock).read_text("utf-8"))["packages"]
    return {name.removeprefix("node_modules/"): facts for name, facts in packages.items() if name}


@pytest.mark.parametrize("lock", [*NPM_LOCKS, *PIP_LOCKS])
def test_no_lock_holds_a_download_address(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    assert '"resolved"' not in text
    assert not re.search(r"https?://(?!.*funding)", re.sub(r'"url": "[^"]*"', "", text))


@pytest.mark.parametrize("lock", NPM_LOCKS)
def test_every_npm_package_has_a_hash_and_no_install_script(lock: str) -> None:
    for name, facts in npm_packages(lock).items():
        assert facts["integrity"].startswith("sha512-"), name


@pytest.mark.parametrize("lock", PIP_LOCKS)
def test_every_python_package_is_pinned_by_version_and_hash(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert lines
    for line in lines:
        assert re.match(r"[a-z0-9._-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line), line


def test_tests_run_with_the_same_versions_as_users() -> None:
    def pins(lock: str) -> set[str]:
        text = (ROOT / lock).read_text("utf-8")
        return set(re.findall(r"^([a-z0-9._-]+==[^\s;]+)", text, re.MULTILINE))

    assert pins(PIP_LOCKS[0]) <= pins(PIP_LOCKS[1])
