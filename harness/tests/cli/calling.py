"""The command line within this process."""

import os
import shlex
import signal
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


def check_refusals(table: str, call: Call, *, begins: bool = True, **places: object) -> None:
    """Each row of `refused.toml`'s table: words that are typed, and how the refusal begins, or what
    is said somewhere."""
    for typed, message in REFUSED[table].items():
        done = call(*shlex.split(typed.format(**places)))
        assert (done.code, done.out) == (2, ""), (typed, done)
        told = done.err.startswith(f"sqlitmus: {message}") if begins else message in done.err
        assert told, (typed, done.err)


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


def ctrl_c(name: str, number: int, times: int = 1) -> Callable[[str, int], None]:
    """For a desk: Ctrl-C comes while that runner is measured for so-manieth time."""

    def interrupt(runner: str, measured: int) -> None:
        if (runner, measured) == (name, number):
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)

    return interrupt
