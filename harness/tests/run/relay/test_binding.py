"""Which threads are bound to which processors, and that what they start is not."""

import os
import threading
from collections.abc import Iterator

import pytest

from sqlitmus.machine import affinity
from sqlitmus.run.relay.binding import Binding, bound

pytestmark = pytest.mark.skipif(affinity.unsupported() is not None, reason="no pins here")


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


def test_the_thread_that_iterated_is_bound_and_what_it_starts_is_not(thread: Thread) -> None:
    here = os.sched_getaffinity(0)
    last = max(here)
    me = threading.get_native_id()
    held = bound({me: 5, thread.id: 1}, {me: 6, thread.id: 90}, last)
    assert held
    assert os.sched_getaffinity(thread.id) == {last}
    assert os.sched_getaffinity(me) == here
    started = thread.starts_another()
    assert os.sched_getaffinity(started) == {last}  # inherited
    held.release_others()
    assert os.sched_getaffinity(started) == here
    assert os.sched_getaffinity(thread.id) == {last}


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
