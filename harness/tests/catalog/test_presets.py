"""Presets of calls: what a file may say, and calls on the command line."""

from pathlib import Path

import pytest

from sqlitmus.catalog import cases, definitions, presets
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError

GOOD = 'title = "a service"\nsummary = "it reads"\n'
KNOWN = definitions.load()
FILE = paths.CLONE / "scenarios" / "presets.toml"


def written(folder: Path, text: str) -> Path:
    file = folder / "presets.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_clone_has_four_presets_whose_operations_have_names() -> None:
    read = presets.read(FILE, KNOWN)
    assert len(read) == 4
    assert all(preset.summary for preset in read.values())
    assert all(set(preset.calls) <= set(preset.names) for preset in read.values())


@pytest.mark.parametrize("suite", ["quick", "full"])
def test_a_suite_has_the_cases_of_all_presets(suite: str) -> None:
    known = KNOWN.suites[suite]
    there = {case.id for case in cases.cases_of(known, KNOWN, KNOWN.modes[known.mode])}
    for name, preset in presets.read(FILE).items():
        assert set(preset.calls) <= there, name


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        (f"[a]\n{GOOD}calls = {{ get-pk = 0 }}\n", 4, "a.calls.get-pk: Input should be greater"),
        (f"[a]\n{GOOD}calls = {{ get-pk = -1 }}\n", 4, "a.calls.get-pk: Input should be greater"),
        (f"[a]\n{GOOD}calls = {{ get-pk = 2e6 }}\n", 4, "a.calls.get-pk: Input should be less"),
        (f"[a]\n{GOOD}[a.calls]\nget-pk = 1\nall = nan\n", 6, "a.calls.all: Input should"),
        (f"[a]\n{GOOD}calls = {{}}\n", 4, "a.calls: Dictionary should have at least 1"),
        (f"[a]\n{GOOD}calls = {{ get-kp = 1 }}\n", 4, "there is no scenario 'get-kp'"),
        (f"[a]\n{GOOD}calls = {{ service-mixed = 1 }}\n", 4, "has no time of one call"),
        (f'[a]\n{GOOD}calls = {{ "parallel-all@workers=2" = 1 }}\n', 4, "no time of one call"),
        (f'[a]\n{GOOD}calls = {{ "all@rows=100" = 1 }}\n', 4, "is the case all; write that"),
        (f"[a]\n{GOOD}calls = {{ all = 1 }}\nlimit = 3\n", 5, "a.limit: Extra inputs"),
        (f"[a]\n{GOOD}calls = {{ all = 1 }}\nmemory_mib = 0\n", 5, "a.memory_mib: Input"),
        (f'[operations]\nlal = "list(s)"\n[a]\n{GOOD}calls = {{ all = 1 }}\n', 2, "'lal'"),
        (f"[operations]\nall = 1\n[a]\n{GOOD}calls = {{ all = 1 }}\n", 2, "operations.all: Input"),
    ],
)
def test_a_fault_is_named_with_file_and_line(
    tmp_path: Path, text: str, line: int, fault: str
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as raised:
        presets.read(file, KNOWN)
    assert f"{file}:{line}: " in str(raised.value)
    assert fault in str(raised.value)


def test_what_is_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not TOML"):
        presets.read(written(tmp_path, "[a\n"))


def test_calls_of_the_command_line_stand_first() -> None:
    there_are = presets.load()
    name = list(there_are)[-1]
    assert next(iter(presets.chosen(name, there_are))) == name
    assert presets.chosen(None, there_are) == there_are
    mine = presets.chosen("get-pk=600, get-index@profile=shipped=0.5", there_are, KNOWN)
    assert next(iter(mine)) == presets.OWN
    assert mine[presets.OWN].calls == {"get-pk": 600, "get-index@profile=shipped": 0.5}
    assert mine[presets.OWN].name("get-pk") == "point read(s)"
    assert mine[presets.OWN].name("get-index") == "call(s) of get-index"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("read-heavy", "there is no preset 'read-heavy'; did you mean read-heavy-api"),
        (
            "get-pk=x",
            "get-pk has 'x'; each case needs its calls per 1,000 requests, a number above",
        ),
        (
            "get-pk=0",
            "get-pk has '0'; each case needs its calls per 1,000 requests, a number above",
        ),
        ("get-pk=1,get-pk=2", "get-pk has two numbers; keep one"),
        ("get-pk=1,,all=2", "a case has ''; each case needs its calls"),
        ("gte-pk=1", "there is no scenario 'gte-pk'; did you mean get-pk"),
        ("reads=3,writes=1", "there is no scenario 'reads'"),
        ("service-mixed=1", "service-mixed has no time of one call"),
    ],
)
def test_other_calls_are_refused(text: str, fault: str) -> None:
    with pytest.raises(UsageError) as raised:
        presets.chosen(text, presets.load(), KNOWN)
    assert fault in str(raised.value)


def test_calls_of_a_case_that_a_run_lacks_are_refused() -> None:
    with pytest.raises(UsageError, match="there is no case 'get-index'; did you mean get-pk"):
        presets.chosen("get-index=1", presets.load(), cases=["get-pk", "all"])
