"""Which threads are bound to which processors, and that what they start is not."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import NamedTuple

import pytest

from sqlitmus.machine import process_tree, system
from sqlitmus.run.processes.relay import Binding, bound

pytestmark = pytest.mark.skipif(system.unsupported() is not None, reason="no pins here")


class Thread(NamedTuple):
    """The id of a thread that lives, and what lets it start another one, which tells its id."""

    id: int
    starts_another: Callable[[], int]


@pytest.fixture
def thread() -> Iterator[Thread]:
    ids, may_start, may_end = SimpleQueue[int](), threading.Event(), threading.Event()

    def be_another() -> None:
        ids.put(threading.get_native_id())
        may_end.wait()

    def live() -> None:
        ids.put(threading.get_native_id())
        may_start.wait()
        other = threading.Thread(target=be_another)
        other.start()
        other.join()

    first = threading.Thread(target=live)
    first.start()
    yield Thread(ids.get(), lambda: may_start.set() or ids.get())
    may_end.set()
    may_start.set()
    first.join()


@pytest.fixture(autouse=True)
def unbound() -> Iterator[None]:
    """Give all threads of this process back what they had."""
    here = os.sched_getaffinity(0)
    yield
    for thread in process_tree.siblings(threading.get_native_id()):
        with suppress(OSError):  # it has ended
            os.sched_setaffinity(thread, here)


def test_the_thread_that_iterated_has_its_processor_to_itself(thread: Thread) -> None:
    here = os.sched_getaffinity(0)
    last = max(here)
    elsewhere = (here - {last}) or here
    me = threading.get_native_id()
    held = bound({me: 5, thread.id: 1}, {me: 6, thread.id: 90}, last)
    assert held
    assert os.sched_getaffinity(thread.id) == {last}
    assert os.sched_getaffinity(me) == elsewhere
    started = thread.starts_another()
    assert os.sched_getaffinity(started) == {last}  # inherited
    held.keep_others_off()
    assert os.sched_getaffinity(started) == elsewhere
    assert os.sched_getaffinity(thread.id) == {last}


def test_of_one_processor_nobody_is_kept_off(thread: Thread) -> None:
    one = min(os.sched_getaffinity(0))
    for each in (thread.id, 0):
        os.sched_setaffinity(each, {one})
    Binding(thread.id, one)
    assert os.sched_getaffinity(thread.id) == {one}
    assert os.sched_getaffinity(0) == {one}


def test_what_a_thread_waited_for_its_processor_is_told_where_the_system_does(
    thread: Thread,
) -> None:
    before = process_tree.waited_ns(thread.id)
    thread.starts_another()
    assert 0 <= before <= process_tree.waited_ns(thread.id)
    assert process_tree.waited_ns(2**22 + 1) == 0  # no thread has such a number


GONE = 2**22 + 1  # more than Linux ever gives


@pytest.mark.parametrize(
    ("before", "after"),
    [({}, {}), ({1: 7}, {1: 7}), ({}, {GONE: 9})],
    ids=["nothing can be read", "nobody worked", "it has ended"],
)
def test_nobody_is_bound_where_it_is_not_known_who_iterates(
    before: dict[int, int], after: dict[int, int]
) -> None:
    assert bound(before, after, 0) is None


def test_a_thread_that_has_ended_is_not_bound() -> None:
    with pytest.raises(OSError, match=r"."):
        Binding(GONE, 0)
