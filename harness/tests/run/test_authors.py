"""The programs of a claim's authors: copied, set up, run in each block, and given up."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.catalog.published import Claim
from sqlitmus.run.measure.blocks import Authors
from sqlitmus.vocabulary import paths
from tests.analysis.claims import claim_runs
from tests.refusals import unfit
from tests.run import made

SCRIPT = "print('their program')"


@dataclass
class Fake:
    """An executor: what each command prints by its last word, and what it was asked."""

    prints: dict[str, str]
    codes: dict[str, int] = field(default_factory=dict[str, int])
    commands: list[tuple[list[str], Path | None]] = field(
        default_factory=list[tuple[list[str], Path | None]]
    )
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def execute(
        self,
        command: list[str],
        environment: dict[str, str],
        log: Path,
        timeout_s: float,
        folder: Path | None = None,
    ) -> object:
        assert timeout_s > 0
        self.environment = environment
        self.commands.append((command, folder))
        log.write_text(self.prints.get(command[-1], ""), "utf-8")
        code = self.codes.get(command[-1], 0)
        return made.timing(wall_ns=1000, user_ns=600, system_ns=300, exit_code=code)

    def ran(self) -> list[str]:
        """The last words of the commands so far, which are forgotten."""
        words = [command[-1] for command, _ in self.commands]
        self.commands.clear()
        return words


def program(word: str, tool: str = "node") -> dict[str, object]:
    return {
        "command": ["{" + tool + "}", "bench.js", word],
        "prints": r"(?P<figure>\d+) ns",
        "folder": "run",
    }


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "clone" / "run").mkdir(parents=True)
    (tmp_path / "clone" / "run" / "bench.js").write_text(SCRIPT, "utf-8")
    return tmp_path / "clone"


def authors(executor: Any, source: Path, **more: object) -> Authors:
    """Those of a claim, to whose evidence `more` is added."""
    evidence = {
        "repository": "https://example.org/bench",
        "commit": "ab" * 20,
        "licence": "MIT",
        "files": {"run/bench.js": hashlib.sha256(SCRIPT.encode()).hexdigest()},
        "setup": [{"command": ["{node}", "seed"], "prints": "", "folder": "run"}],
        "programs": {name: program(name) for name in ("new", "old", "named by no row")},
        **more,
    }
    group = claim_runs.group(claim_runs.row("same", theirs=("old", "new")))
    claim = Claim.model_validate(claim_runs.claim(group, evidence=evidence))
    tools = paths.Tools({"node": "/bin/node"}, {})
    folders = {"modes": str(source)} if source.exists() else {}
    return Authors([claim], folders, tools, executor, source.parent)


def test_programs_run_in_a_copy_once_a_block_and_every_second_block_mirrors(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake({"new": "100 ns", "old": "250 ns"})

    def read(folder: Path) -> None:
        fake.commands.append((["read"], folder))

    monkeypatch.setattr("sqlitmus.catalog.fixture.into_page_cache", read)
    monkeypatch.setattr(paths, "RUNNERS", source.parent / "runners")
    package = source.parent / "runners/node_modules/library"
    package.mkdir(parents=True)
    (package / "library.c").write_text("int main;", "utf-8")
    theirs = authors(fake, source, packages={"deps/library": "library"})
    copy = source.parent / "authors-modes"
    # it is read into the page cache before each program
    assert fake.commands == [(["read"], copy), (["/bin/node", "seed"], copy / "run")]
    assert (copy / "run/bench.js").read_text("utf-8") == SCRIPT
    assert (copy / "deps/library/library.c").read_text("utf-8") == "int main;"
    assert fake.environment["NODE_PATH"].startswith(str(source / "node_modules"))
    fake.commands.clear()
    came = [theirs.block(number, 7) for number in range(2)]
    words = fake.ran()
    assert words[::2] == ["read"] * 4
    assert sorted(words[1:4:2]) == ["new", "old"]
    assert words[5::2] == words[3:0:-2]
    assert came[0] == came[1]
    times = {name: (of.wall_ns, of.cpu_ns, of.printed_ns) for name, of in came[0].items()}
    assert times == {"modes/new": (1000, 900, 100), "modes/old": (1000, 900, 250)}


def test_a_program_that_goes_wrong_is_not_run_again(source: Path) -> None:
    fake = Fake({"new": "100 ns", "old": "no database"}, {"new": 3})
    theirs = authors(fake, source)
    assert {name: each.problem for name, each in theirs.block(0, 7).items()} == {
        "modes/new": "ended with exit code 3: 100 ns",
        "modes/old": r"it printed 'no database', not what matches '(?P<figure>\\d+) ns'",
    }
    assert theirs.block(1, 7) == {}


def test_nothing_of_theirs_runs_without_a_folder_nor_what_has_no_tool(source: Path) -> None:
    fake = Fake({"new": "1 ns"})
    assert authors(fake, source.parent / "gone").block(0, 7) == {}
    assert not fake.commands
    words = [["{node}", "seed"], ["{a build}", "-c", "driver.c"]]
    theirs = authors(
        fake,
        source,
        setup=[{"command": each, "prints": ""} for each in words],
        programs={"new": program("new"), "old": program("old", "a build")},
    )
    assert [*theirs.block(0, 7)] == ["modes/new"]
    assert fake.ran() == ["seed", "new"]


def test_a_folder_that_changed_or_a_set_up_that_fails_is_not_fit(source: Path) -> None:
    with unfit(r"modes: set-up: ended with exit code 1"):
        authors(Fake({}, {"seed": 1}), source)
    (source / "run" / "bench.js").write_text("half of it", "utf-8")
    with unfit(r"the claim modes: run/bench\.js is another"):
        authors(Fake({}), source)
