"""Presets of weights: what a file may say, and weights on the command line."""

from pathlib import Path

import pytest

from sqlitmus.catalog import definitions, presets
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError

GOOD = 'title = "a service"\nsummary = "it reads"\n'


def written(folder: Path, text: str) -> Path:
    file = folder / "presets.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_clone_has_four_presets_of_groups_that_are_there() -> None:
    groups = definitions.groups(definitions.load().scenarios.values())
    read = presets.read(paths.CLONE / "scenarios" / "presets.toml", groups)
    assert len(read) == 4
    assert all(sum(preset.shares.values()) == pytest.approx(1) for preset in read.values())
    assert all(preset.summary for preset in read.values())


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        (f"[a]\n{GOOD}weights = {{ reads = 0 }}\n", 4, "a.weights.reads: Input should be greater"),
        (f"[a]\n{GOOD}weights = {{ reads = -1 }}\n", 4, "a.weights.reads: Input should be greater"),
        (f"[a]\n{GOOD}[a.weights]\nreads = 1\nwrites = nan\n", 6, "a.weights.writes: Input should"),
        (f"[a]\n{GOOD}weights = {{}}\n", 4, "a.weights: Dictionary should have at least 1"),
        (f"[a]\n{GOOD}weights = {{ raeds = 1 }}\n", 4, "there is no group 'raeds'"),
        (f"[a]\n{GOOD}weights = {{ reads = 1 }}\nlimit = 3\n", 5, "a.limit: Extra inputs"),
        (f"[a]\n{GOOD}weights = {{ reads = 1 }}\nmemory_mib = 0\n", 5, "a.memory_mib: Input"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_file_and_line(
    tmp_path: Path, text: str, line: int, fault: str
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as raised:
        presets.read(file, ["reads", "writes"])
    assert f"{file}:{line}: " in str(raised.value)
    assert fault in str(raised.value)


def test_what_is_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not TOML"):
        presets.read(written(tmp_path, "[a\n"))


def test_weights_of_the_command_line_stand_first() -> None:
    there_are = presets.load()
    name = list(there_are)[-1]
    assert next(iter(presets.chosen(name, there_are))) == name
    assert presets.chosen(None, there_are) == there_are
    mine = presets.chosen("reads=3, writes=1", there_are)
    assert next(iter(mine)) == presets.OWN
    assert mine[presets.OWN].shares == {"reads": 0.75, "writes": 0.25}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("read-heavy", "there is no preset 'read-heavy'; did you mean read-heavy-api"),
        ("reads=x", "the weight of reads is 'x'; each weight must be a number above 0"),
        ("reads=0", "the weight of reads is '0'; each weight must be a number above 0"),
        ("reads=1,reads=2", "reads has two weights; keep one"),
        ("raeds=1", "there is no group 'raeds'; did you mean reads"),
    ],
)
def test_other_weights_are_refused(text: str, fault: str) -> None:
    with pytest.raises(UsageError) as raised:
        presets.chosen(text, presets.load(), ["reads", "writes"])
    assert fault in str(raised.value)
