"""What users are refused, by the exit code and words that they see, not by the class."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

import pytest

from sqlitmus.vocabulary.errors import SqlitmusError


@contextmanager
def refused(words: str | None = None, code: int = 2) -> Generator[pytest.ExceptionInfo[Exception]]:
    """What runs in it is refused with text that matches `words`, as a use (2) or an unfit machine
    (3)."""
    with pytest.raises(SqlitmusError, match=words) as raised:
        yield raised
    assert raised.value.exit == code


def unfit(words: str | None = None) -> AbstractContextManager[pytest.ExceptionInfo[Exception]]:
    """What runs in it is refused since the machine or its set-up is not fit for it."""
    return refused(words, 3)


def refusal(do: Callable[..., object], *arguments: object) -> Exception | None:
    """With which error `do` refuses the arguments, if it does."""
    try:
        do(*arguments)
    except SqlitmusError as error:
        return error
    return None
