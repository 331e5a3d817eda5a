"""Subjects made ready: fetched, found and described, or told why not before anything runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.catalog import runners
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import RunnerSpec
from sqlitmus.compare import subject
from sqlitmus.compare.subject import Resolved, resolve, with_versions
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.paths import Tools
from tests import left_out
from tests.fakes.registry import Npm
from tests.known import KNOWN
from tests.refusals import refused, unfit

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fakes are shell scripts")

# Stands for a runtime, and is the runner at once: says which file it is and which package it loads.
PROGRAM = f"""#!{sys.executable} -S
import json, os, sys
version = "VERSION" if "better-sqlite3" not in sys.argv else "1"
loaded = os.environ.get("SQLITMUS_BETTER_SQLITE3", "its own")
identity = {{"runner": "x", "runtime": {{"name": sys.argv[0], "version": version}},
            "driver": {{"name": "d", "version": loaded}}, "architecture": "x64"}}
features = {{"operations": [], "shapes": [], "integers": [], "statements": [], "transactions": [],
            "engine": ["threading", "memstatus"]}}
print(json.dumps({{"contract": 2, "identity": identity, "features": features,
    "sqlite": {{"version": "3", "source_id": "s", "compile_options": []}}}}))
"""
NODE = subject._node_package({"platform": sys.platform, "machine": os.uname().machine})  # pyright: ignore[reportPrivateUsage]
PACKAGE = {"package.json": '{"name": "better-sqlite3"}', "prebuilds/here.node": "binary VERSION"}


def runner(name: str, tool: str, driver: str) -> RunnerSpec:
    words = [f"{{{tool}}}", "--driver", driver]
    facts = {"name": name, "title": name, "runtime": tool, "driver": driver, "tool": tool}
    since = 26 if driver == "node:sqlite" else 0
    return RunnerSpec.model_validate({**facts, "command": words, "nul_in_text_from": since})


@pytest.fixture
def known(tmp_path: Path) -> Catalog:
    specs = [
        runner("node", "node", "node:sqlite"),
        runner("node-better-sqlite3", "node", "better-sqlite3"),
        runner("rust", "rust", "rusqlite"),
    ]
    (tmp_path / "sources").mkdir()
    folders = {spec.name: tmp_path / "sources" for spec in specs}
    named = {spec.name: spec for spec in specs}
    return KNOWN.model_copy(update={"runners": named, "folders": folders})


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Npm:
    made = Npm.make(tmp_path / "path")
    monkeypatch.setenv("PATH", str(made.folder))
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    package = {f"better-sqlite3/{file}": text for file, text in PACKAGE.items()}
    made.says(
        published={NODE: ["24.1.0", "24.2.0"], "better-sqlite3": ["13.1.0", "13.2.0"]},
        files={NODE: {f"{NODE}/bin/node": PROGRAM}, "better-sqlite3": package},
    )
    return made


@pytest.fixture
def tools(tmp_path: Path, npm: Npm) -> Tools:
    assert npm.calls() == []
    return Tools({"node": program(tmp_path / "own"), "rust": program(tmp_path / "rust")}, {})


def program(path: Path, text: str = PROGRAM) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return str(path)


def package(folder: Path, **changes: str) -> Path:
    for file, text in {**PACKAGE, **changes}.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, "utf-8")
    return folder


def installed(found: Resolved) -> list[runners.Installed]:
    return runners.discover(found.catalog, found.labels, found.tools)


def test_subjects_are_runners_of_the_catalogue(known: Catalog, tools: Tools) -> None:
    found = resolve(["node", "node@24", "rust+threading=serialized"], known, tools)
    assert found.labels == ["node", "node@24.2.0", "rust+threading=serialized"]
    assert found.subjects == found.labels
    assert set(found.catalog.runners) == {*known.runners, *found.labels}
    plain, fetched, threaded = installed(found)
    assert plain.spec == known.runners["node"]
    assert fetched.description
    assert fetched.description.identity.runtime.version == "24.2.0"
    assert not fetched.spec.nul_in_text
    assert fetched.command[0].endswith(f"/node_modules/{NODE}/bin/node")
    assert threaded.spec.engine == {"threading": "serialized"}
    assert threaded.command == [tools.paths["rust"], "--driver", "rusqlite"]


def test_a_version_that_cannot_be_had_is_missing_with_the_reason(
    known: Catalog, tools: Tools
) -> None:
    texts = ["node@24.1.0", "node@25.0.0", "rust@1.2.3"]
    catalog, told = with_versions(texts, known, tools, quiet=True)
    assert set(catalog.runners) == {*known.runners, *texts}
    fetched, unknown, none = runners.discover(catalog, texts, told)
    assert fetched.description
    assert fetched.description.identity.runtime.version == "24.1.0"
    assert not fetched.spec.nul_in_text
    assert unknown.missing == "npm has no node 25.0.0; the nearest are 24.1.0, 24.2.0"
    assert (none.missing or "").startswith("rust has no versions to choose from")


def test_fingerprints_differ_between_subjects(known: Catalog, tools: Tools, tmp_path: Path) -> None:
    other = program(tmp_path / "other" / "node")
    texts = ["node", "node@24.1.0", "node@24.2.0", f"node={other}", "node+memstatus=0"]
    texts += ["node+memstatus=1", "node-better-sqlite3", "node-better-sqlite3@13.1.0"]
    texts += ["node-better-sqlite3@13.2.0", f"node-better-sqlite3={package(tmp_path / 'p')}"]
    prints = {one.fingerprint for one in installed(resolve(texts, known, tools))}
    assert len(prints) == len(texts)


def test_a_driver_that_was_built_again_in_its_place_is_another(
    known: Catalog, tools: Tools, tmp_path: Path
) -> None:
    folder = package(tmp_path / "node_modules/better-sqlite3")
    text = f"node-better-sqlite3={folder}"
    (before,) = installed(resolve([text], known, tools))
    package(folder, **{"prebuilds/here.node": "another binary"})
    (after,) = installed(resolve([text], known, tools))
    assert before.fingerprint != after.fingerprint


def test_a_drivers_version_and_folder_reach_the_process(
    known: Catalog, tools: Tools, tmp_path: Path
) -> None:
    own = package(tmp_path / "built")
    name = "node-better-sqlite3"
    found = resolve([f"{name}@13.1", f"{name}={own}", f"{name}={own}/../own"], known, tools)
    assert found.labels == [
        "node-better-sqlite3@13.1.0",
        f"node-better-sqlite3=…/{tmp_path.name}/built",
        f"node-better-sqlite3=…/{tmp_path.name}/own",
    ]
    loaded: list[tuple[str, str]] = []
    for one in installed(found):
        assert one.description
        identity = one.description.identity
        loaded.append((identity.runtime.name, identity.driver.version.removeprefix("file://")))
    assert loaded[0][1].endswith("/node_modules/better-sqlite3/")
    assert loaded[1:] == [(tools.paths["node"], f"{own}/"), (tools.paths["node"], "its own")]


def test_a_title_keeps_the_whole_path(known: Catalog, tools: Tools, tmp_path: Path) -> None:
    other = program(tmp_path / "a/b/c/node")
    found = resolve([f"node={other}"], known, tools)
    assert found.labels == ["node=…/c/node"]
    assert found.catalog.runners["node=…/c/node"].title == f"node, {other}"


@pytest.mark.parametrize(
    "text",
    [
        *("rust@1.2", "node@25", "node=TMP/gone", "node=TMP/sources", "node=TMP/plain"),
        *("node-better-sqlite3=TMP/sources", "rust+thraeding=x", "rust+threading=serialised"),
        "rust+memstatus=2",
    ],
)
def test_what_does_not_exist_is_a_usage_error(
    known: Catalog, tools: Tools, tmp_path: Path, text: str, snapshot: SnapshotAssertion
) -> None:
    (tmp_path / "plain").touch()
    with refused() as raised:
        resolve(["node", text.replace("TMP", str(tmp_path))], known, tools)
    assert str(raised.value).replace(str(tmp_path), "TMP") == snapshot


@pytest.mark.parametrize(
    "texts", [["node", "node"], ["node@24", "node@24.2.0"], ["node=a/../x"] * 2]
)
def test_the_same_subject_twice_is_a_usage_error(
    known: Catalog, tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: list[str]
) -> None:  # fmt: skip
    program(tmp_path / "x")
    monkeypatch.chdir("/")
    monkeypatch.setenv("SQLITMUS_CALLED_FROM", str(tmp_path))
    with refused("is named twice; a comparison needs different subjects"):
        resolve(texts, known, tools)


def test_a_runner_without_engine_options_is_a_usage_error(
    known: Catalog, tools: Tools, tmp_path: Path
) -> None:
    text = PROGRAM.replace('["threading", "memstatus"]', "[]")
    other = program(tmp_path / "none", text)
    with refused() as raised:
        resolve([f"node={other}+threading=x"], known, tools)
    assert str(raised.value).endswith("/none+threading=x: this runner has no engine options")


def test_a_subject_that_does_not_start_is_told_with_its_reason(
    known: Catalog, tools: Tools, tmp_path: Path
) -> None:
    broken = program(tmp_path / "d/broken", "#!/bin/sh\necho no such module >&2; exit 3\n")
    with unfit() as raised:
        resolve(["node", f"node={broken}"], known, tools)
    told = "node=…/d/broken: `describe` failed: exit code 3: no such module"
    assert str(raised.value) == told
    with unfit(r"^rust: not for sale$"):
        resolve(["rust"], known, Tools({}, {"rust": "not for sale"}))


def test_a_driver_without_a_compiled_binding_is_told(
    known: Catalog, tools: Tools, npm: Npm, tmp_path: Path
) -> None:
    npm.says(
        published={"better-sqlite3": ["12.4.1"]},
        files={"better-sqlite3": {"better-sqlite3/package.json": "{}"}},
    )
    with unfit(r"^node-better-sqlite3@12\.4\.1: .* no compiled binding, and"):
        resolve(["node-better-sqlite3@12"], known, tools)
    (tmp_path / "src").mkdir()
    (tmp_path / "src/package.json").write_text('{"name": "better-sqlite3"}', "utf-8")
    with unfit("holds no compiled binding"):
        resolve([f"node-better-sqlite3={tmp_path / 'src'}"], known, tools)
    package(tmp_path / "src", **{"build/Release/better_sqlite3.node": "made here"})
    (tmp_path / "src/prebuilds/here.node").unlink()
    assert resolve([f"node-better-sqlite3={tmp_path / 'src'}"], known, tools).labels


@pytest.mark.runner
def test_a_real_version_of_a_driver_is_fetched_and_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out.tool("node")
    tools, npm = paths.tools(), shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not on PATH")
    ping = [npm, "ping", "--fetch-retries=0", "--fetch-timeout=5000"]
    if subprocess.run(ping, capture_output=True, check=False).returncode:
        pytest.skip("npm cannot reach its registry")
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))
    (found,) = installed(resolve(["node-better-sqlite3@13.1"], KNOWN, tools))
    assert found.description
    version = found.description.identity.driver.version
    assert version.startswith("13.1.")
    assert found.spec.name == f"node-better-sqlite3@{version}"
    (record,) = (tmp_path / "versions").glob("*/.sqlitmus-step.json")
    assert json.loads(record.read_bytes())["facts"]["version"] == version


def test_the_catalogue_given_stays_as_it_is(known: Catalog, tools: Tools) -> None:
    before: dict[str, Any] = dict(known.runners)
    resolve(["node+memstatus=0"], known, tools)
    assert known.runners == before
