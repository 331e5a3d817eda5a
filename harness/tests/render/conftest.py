"""Reports for the tests of this folder, and the check of a page in a browser."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlitmus.results.machines import MergedReport, Refused
from tests.analysis.claims.claim_runs import claim, group, make, row
from tests.analysis.runs import analyse, case, plan
from tests.known import ROOT
from tests.machines.merged_runs import Directory
from tests.render import synthetic
from tests.render.printing import reported
from tests.render.synthetic import Report


@pytest.fixture(scope="session")
def small() -> Report:
    """Fourteen cases, ten runners: every outcome occurs."""
    return synthetic.build(cases=14, blocks=12)


@pytest.fixture(scope="session")
def ab() -> Report:
    """An A/B comparison in twenty-four cases; every verdict occurs."""
    return synthetic.build_compare(cases=24, blocks=12)


@pytest.fixture(scope="session")
def claimed() -> Report:
    """Claims with every verdict and every kind of table."""
    return analyse(make())


@pytest.fixture(scope="session")
def long() -> Report:
    """A claim's group of 24 rows on two runners; one row of them is key."""
    many = [row(mode, name=f"{mode} {n}") for n in range(4) for mode in ("same", "small", "noisy")]
    many[0]["key"] = True
    return analyse(make(claim(group(*many, runners=["fast", "slow"]), name="long")))


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[MergedReport, list[bytes]]:
    """Three machines with their pages; of each word something, one runner emulated, cases and a
    machine absent."""
    directory = Directory(tmp_path_factory.mktemp("merged"))
    shipped = case("get-pk@profile=shipped", axes={"profile": "shipped"})
    cases = [case("get-pk"), shipped, case("insert", group="writes", unit="row")]
    of = plan(("node", "bun", "deno", "rust-ffi"), cases=cases)
    part = {**of, "cases": cases[:2]}
    directory.add("linux-x64", of, ratios={"bun": 0.8, "deno": 1.06})
    directory.add("linux-x64 (2)", part, ratios={"bun": 0.82, "deno": 0.94})
    directory.add(
        *("macos-arm64", of),
        kind="macos-arm64",
        architecture="arm64",
        emulated=["deno"],
        ratios={"bun": 0.79, "rust-ffi": 1.001},
    )
    directory.refused.append(Refused("a/b", "plan: not JSON"))
    directory.expected.append("windows-x64")
    return reported(directory)


@pytest.fixture(scope="session", params=["small", "ab", "claimed", "long", "merged"])
def each(request: pytest.FixtureRequest) -> Report | MergedReport:
    """One of these."""
    merged = request.param == "merged"
    return request.getfixturevalue("made")[0] if merged else request.getfixturevalue(request.param)


NO_CHROMIUM = 3


@pytest.fixture
def check_page(node: str, tmp_path: Path) -> Callable[..., str]:
    """From a page to what `just check-report` prints of it; fails on a problem."""

    def check(text: str, *options: str) -> str:
        file = tmp_path / "report.html"
        file.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [node, str(ROOT / "reports/check/check.mjs"), str(file), *options],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if done.returncode == NO_CHROMIUM:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return check
