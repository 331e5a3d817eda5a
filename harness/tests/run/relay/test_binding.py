"""Which threads are bound to which processors, and that what they start is not."""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from sqlitmus.machine import process_tree, system
from sqlitmus.run.processes.relay import Binding, bound

pytestmark = pytest.mark.skipif(system.unsupported() is not None, reason="no pins here")


class Thread:
    """A thread that starts another one when it is told to; both live until they may end."""

    def __init__(self) -> None:
        self.id, self.started = 0, 0
        self._may_start, self._may_end = threading.Event(), threading.Event()
        self._tells = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._live)
        self._thread.start()
        self._tells.acquire()

    def starts_another(self) -> int:
        """The id of a thread that inherits all from this one."""
        self._may_start.set()
        self._tells.acquire()
        return self.started

    def end(self) -> None:
        self._may_start.set()
        self._may_end.set()
        self._thread.join()

    def _live(self) -> None:
        self.id = threading.get_native_id()
        self._tells.release()
        self._may_start.wait()
        other = threading.Thread(target=self._be_another)
        other.start()
        self._may_end.wait()
        other.join()

    def _be_another(self) -> None:
        self.started = threading.get_native_id()
        self._tells.release()
        self._may_end.wait()


@pytest.fixture
def thread() -> Iterator[Thread]:
    one = Thread()
    yield one
    one.end()


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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),  # nothing can be read
        ({1: 7}, {1: 7}),  # nobody worked
    ],
)
def test_nobody_is_bound_where_it_is_not_known_who_iterates(
    before: dict[int, int], after: dict[int, int]
) -> None:
    assert bound(before, after, 0) is None


def test_a_thread_that_has_ended_is_not_bound() -> None:
    gone = 2**22 + 1  # more than Linux ever gives
    assert bound({}, {gone: 9}, 0) is None
    with pytest.raises(OSError, match=r"."):
        Binding(gone, 0)
