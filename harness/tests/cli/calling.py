"""The command line within this process."""

import sys
from collections.abc import Callable

import pytest

from sqlitmus import cli
from tests.fakes.clone import Done

Call = Callable[..., Done]


def sqlitmus(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object
) -> Done:
    """Run `sqlitmus` with `arguments` to its end, on a dumb terminal of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "argv", ["sqlitmus", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return Done(ended.value.code, out, err)
