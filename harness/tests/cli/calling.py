"""The command line within this process."""

import shlex
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlitmus import cli
from sqlitmus.run.processes.launch import unsupported
from tests.fakes.clone import MODES, Clone, Done

Call = Callable[..., Done]
together = pytest.mark.skipif(unsupported() is not None, reason="no processes together")


def data(name: str) -> str:
    """The text of a file beside the tests."""
    return Path(__file__).with_name(name).read_text("utf-8")


def with_mode(clone: Clone, name: str, of: str = "standard") -> None:
    """Give the catalogue the mode `of` under another name, too."""
    table = MODES[MODES.index(f"[{of}]") :].split("\n\n")[0].replace(of, name, 1)
    clone.write("scenarios/modes.toml", f"{MODES}\n{table}\n")


REFUSED = tomllib.loads(data("refused.toml"))


def refusals(table: str) -> pytest.MarkDecorator:
    """A test for each row of `refused.toml`'s table: words that are typed, what is said of them."""
    rows = [(shlex.split(typed), message) for typed, message in REFUSED[table].items()]
    return pytest.mark.parametrize(("typed", "message"), rows, ids=REFUSED[table])


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
