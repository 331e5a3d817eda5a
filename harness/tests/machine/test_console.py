"""Output in encodings that lack characters, and in Windows' way."""

import io
import sys
from types import SimpleNamespace

import pytest

from sqlitmus.machine import system

TEXT = "1.2 µs ± 3 % → ok\n"


def streams(
    monkeypatch: pytest.MonkeyPatch, encoding: str, newline: str | None = None
) -> tuple[io.BytesIO, io.BytesIO]:
    """Both streams in `encoding`, as the bytes that leave."""
    both = io.BytesIO(), io.BytesIO()
    for name, raw in zip(("stdout", "stderr"), both, strict=True):
        stream = io.TextIOWrapper(raw, encoding, newline=newline, write_through=True)
        monkeypatch.setattr(sys, name, stream)
    return both


def test_what_a_locale_lacks_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = streams(monkeypatch, "iso-8859-1")
    system.prepare()
    print(TEXT, end="")
    print(TEXT, end="", file=sys.stderr)
    assert out.getvalue() == err.getvalue() == "1.2 µs ± 3 % ? ok\n".encode("iso-8859-1")


def test_windows_writes_utf_8_with_one_character_at_the_end_of_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, err = streams(monkeypatch, "cp1252", "\r\n")
    called: list[bool] = []
    colorama = SimpleNamespace(just_fix_windows_console=lambda: called.append(True))
    monkeypatch.setitem(sys.modules, "colorama", colorama)
    monkeypatch.setattr(sys, "platform", "win32")
    system.prepare()
    print(TEXT, end="")
    print(TEXT, end="", file=sys.stderr)
    assert out.getvalue() == err.getvalue() == TEXT.encode()
    assert called


def test_a_stream_that_is_none_of_the_system_s_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    system.prepare()
