"""The oracle is believed for its answers to the vectors, and only as long as nothing changed."""

import shutil
import sys
from pathlib import Path

import pytest

from sqlitmus.catalog import definitions
from sqlitmus.catalog.runners import Installed, environment
from sqlitmus.run.verify import oracle
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit
from sqlitmus.vocabulary.paths import Tools

SPEC = definitions.load().runners["python"]
CONTRACT = paths.RUNNERS / "contract" / "vectors"
VECTORS = ("get-hit-and-miss-verify", "types-all-verify")


@pytest.fixture
def runners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue's runners with a few vectors, and a memory of its own."""
    folder = tmp_path / "runners"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(paths.RUNNERS / "python", folder / "python", ignore=ignore)
    for name in VECTORS:
        shutil.copytree(CONTRACT / name, folder / "contract" / "vectors" / name)
    monkeypatch.setattr(paths, "OWN_RUNNERS", folder)
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    return folder


def installed(runners: Path, fingerprint: str = "f") -> Installed:
    command = [sys.executable, "-X", "utf8", str(runners / "python" / "main.py")]
    return Installed(SPEC, command, environment(SPEC, Tools({}, {})), None, None, fingerprint)


def prove(runners: Path, fingerprint: str = "f", *, fresh: bool = False) -> None:
    scratch = runners.parent / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    oracle.prove(installed(runners, fingerprint), scratch, fresh=fresh)


def break_it(runners: Path) -> None:
    file = runners / "python" / "values.py"
    file.write_text(file.read_text("utf-8").replace("h * 31 + term", "h * 33 + term"), "utf-8")


def test_the_clones_oracle_knows_all_that_it_can_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLITMUS_TOOLCHAIN", str(tmp_path / "toolchain"))
    oracle.prove(installed(paths.RUNNERS), tmp_path / "scratch", fresh=False)
    performed = list((tmp_path / "scratch").glob("*/result.json"))
    assert len(performed) > 30


def test_a_broken_oracle_is_refused_with_the_vector_and_the_difference(runners: Path) -> None:
    break_it(runners)
    with pytest.raises(NotFit) as told:
        prove(runners)
    assert str(told.value).startswith(
        "the oracle does not reproduce the contract's vector get-hit-and-miss-verify (checksum: "
    )
    assert "not 3214193945), so no answer can be checked by it; restore" in str(told.value)


def test_an_oracle_that_crashes_is_told_with_its_last_words(runners: Path) -> None:
    main = runners / "python" / "main.py"
    main.write_text("raise SystemExit('no SQLite here')", "utf-8")
    with pytest.raises(NotFit, match=r"\(it wrote no result\)(.|\n)*no SQLite here"):
        prove(runners)


def test_it_is_asked_again_only_when_something_changed(runners: Path) -> None:
    prove(runners)
    break_it(runners)
    prove(runners)  # the fingerprint says that nothing changed
    with pytest.raises(NotFit):
        prove(runners, "another")
    with pytest.raises(NotFit):  # and what failed once is not believed on account of the past
        prove(runners)


def test_a_fresh_start_asks_again(runners: Path) -> None:
    prove(runners)
    break_it(runners)
    with pytest.raises(NotFit):
        prove(runners, fresh=True)


def test_a_changed_vector_asks_again(runners: Path) -> None:
    prove(runners)
    expected = runners / "contract/vectors/types-all-verify/expected.json"
    expected.write_text(expected.read_text("utf-8").replace('"checksum": ', '"checksum": 1'))
    with pytest.raises(NotFit, match="vector types-all-verify"):
        prove(runners)


def test_a_catalogue_without_vectors_takes_those_of_the_clone(runners: Path) -> None:
    shutil.rmtree(runners / "contract")
    assert [v.name for v in oracle.folders()] == sorted(f.name for f in CONTRACT.iterdir())
