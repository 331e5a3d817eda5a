"""Verification counts what write cells sync, and says why where it does not."""

from pathlib import Path

import pytest

from sqlitmus.vocabulary.detail import Syncs
from tests.fakes.clone import Clone
from tests.faults.stage import use_tool

NO_COMPILER = "no C compiler found"


@pytest.fixture
def counting(clone: Clone, sync_counter: str) -> Clone:
    """Fakes whose syncs are counted."""
    use_tool(clone, "sync-counter", Path(sync_counter))
    return clone


def verified(clone: Clone, *cases: str) -> list[str]:
    given = [part for case in cases for part in ("--case", case)]
    return clone.sqlitmus("verify", "--size", "s", *given).out.splitlines()


def test_counts_are_printed_of_cells_that_write(counting: Clone) -> None:
    counting.runner("honest")
    read, write = sorted(verified(counting, "get", "insert"))
    assert read == "ok           get/honest"
    assert write.startswith("ok           insert/honest: no sync, ")
    assert write.endswith(" kB per transaction")


def test_counts_are_remembered(counting: Clone) -> None:
    counting.runner("honest")
    given = ("run", "--case", "insert", "-r", "honest", "--size", "s", "--blocks", "2")
    sizes = [0]
    counted: list[Syncs | None] = []
    for _ in range(2):
        counting.sqlitmus(*given)
        sizes.append(counting.state("honest").stat().st_size)
        (record,) = counting.latest().verified()
        counted.append(record.syncs)
    assert counted[0]
    assert counted[0].transactions == 3
    assert counted[1] == counted[0]
    assert sizes[1] - sizes[0] == sizes[2] - sizes[1] + 2, "two processes were counted once"


def test_a_process_that_breaks_while_it_is_counted_leaves_the_answer_right(
    counting: Clone,
) -> None:
    counting.runner("breaks", "fails-after=0")
    (line,) = verified(counting, "insert")
    assert line == (
        "ok           insert/breaks: not counted: failed while it was counted: ended with exit "
        "code 7 and wrote no result"
    )


def test_without_the_library_the_reason_is_told(clone: Clone) -> None:
    clone.runner("honest")
    text = (clone.root / "paths.json").read_text("utf-8")
    clone.write("paths.json", f'{text[:-1]}, "sync-counter": {{"missing": "{NO_COMPILER}"}}}}')
    assert verified(clone, "insert") == [f"ok           insert/honest: not counted: {NO_COMPILER}"]
