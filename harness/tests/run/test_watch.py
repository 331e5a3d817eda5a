"""Looks from outside at a write-ahead log and at memory."""

from pathlib import Path

from sqlitmus.run.processes import process


def of_log(tmp_path: Path, ended: list[str], most: int = 100) -> tuple[process.Watch, Path]:
    looks = process.of_log(tmp_path / "x.db", lambda: ended.append("x"), most=most)
    return looks, tmp_path / "x.db-wal"


def test_each_look_notes_the_size_and_none_where_there_is_no_log(tmp_path: Path) -> None:
    ended: list[str] = []
    looks, log = of_log(tmp_path, ended)
    looks.look()
    log.write_bytes(b"x" * 40)
    looks.look()
    assert [size for _, size in looks.sizes] == [0, 40]
    assert not looks.exceeded
    assert ended == []


def test_a_log_beyond_the_bound_ends_the_runner_once(tmp_path: Path) -> None:
    ended: list[str] = []
    looks, log = of_log(tmp_path, ended)
    log.write_bytes(b"x" * 101)
    looks.look()
    looks.look()
    assert looks.exceeded
    assert ended == ["x"]
    assert "before the disk was full" in looks.problem


def test_the_thread_looks_until_the_end(tmp_path: Path) -> None:
    looks = process.of_log(tmp_path / "x.db", lambda: None, every_s=0)
    with looks:
        while len(looks.sizes) < 2:
            pass
    before = len(looks.sizes)
    assert looks.sizes[0][0] <= looks.sizes[-1][0]
    assert len(looks.sizes) == before


def test_a_process_that_leaks_is_ended_once_and_told() -> None:
    ended: list[str] = []
    sizes = iter([40, 101, 300])
    looks = process.of_memory(lambda: next(sizes), lambda: ended.append("x"), most=100)
    for _ in range(3):
        looks.look()
    assert [size for _, size in looks.sizes] == [40, 101, 300]
    assert ended == ["x"]
    assert "its memory grew beyond" in looks.problem
