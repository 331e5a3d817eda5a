"""What others take of a process: waits for a processor, interrupts, disks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sqlitmus.machine import proc, process_tree
from sqlitmus.machine.proc import Look, between

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's counters")
AT_FIRST = Look({1: 10, 2: 500}, read_bytes=4096, away_ns=70)


def test_what_others_took_is_of_all_threads_and_of_their_processor() -> None:
    later = Look({1: 30, 2: 500, 3: 7}, read_bytes=4096, away_ns=100)
    assert between(AT_FIRST, later) == 20 + 7 + 30


def test_a_thread_that_has_ended_takes_nothing_back() -> None:
    assert between(AT_FIRST, Look({1: 30}, read_bytes=4096, away_ns=70)) == 20


def test_it_is_unknown_beside_a_disk_and_where_the_system_does_not_tell() -> None:
    assert between(AT_FIRST, Look({1: 30}, read_bytes=8192, away_ns=70)) is None
    assert between(AT_FIRST, None) is None
    assert between(None, AT_FIRST) is None
    assert proc.look(2**22 + 1, None) is None


@needs_linux
def test_this_process_and_what_it_started(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    stat = "cpu0 1 1 1 1 1 2 3 4 0 0\ncpu1 1 1 1 1 1 20 30 40 0 0\n"
    (tmp_path / "proc/stat").write_text(stat)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        before = proc.look(os.getpid(), 1, tmp_path)
        assert before is not None
        assert {os.getpid(), child.pid} <= before.waited_ns.keys()
        assert before.away_ns == 90 * 10**7
        everywhere = proc.look(os.getpid(), None, tmp_path)
        assert everywhere is not None
        assert everywhere.away_ns == 99 * 10**7
        assert process_tree.read_bytes(child.pid) is not None
        assert child.stdin
        child.stdin.close()


@needs_linux
def test_who_has_to_share_a_processor_waits_for_it() -> None:
    here = min(os.sched_getaffinity(0))
    spin = f"import os; os.sched_setaffinity(0, {{{here}}}); print(flush=True)\nwhile True: pass"
    command = [sys.executable, "-I", "-S", "-c", spin]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for child in children:
            assert child.stdout
            child.stdout.readline()
        before = proc.look(children[0].pid, here)
        while not (between(before, proc.look(children[0].pid, here)) or 0) > 1_000_000:
            os.sched_yield()
    finally:
        for child in children:
            child.kill()
            child.communicate()
