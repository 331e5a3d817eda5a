"""stdout and stderr take every character and colour, and the same bytes leave on each system."""

import io
import sys


def prepare() -> None:
    """Set up both streams; to be called before anything is written.

    Windows writes a redirected stream in the code page of the country, which has no → or ≈, and
    with two characters at the end of a line; its older console shows colours as characters.
    Elsewhere only what the locale's encoding lacks is replaced.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):  # a test's, or none at all
            continue
        if sys.platform == "win32":
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")
        else:
            stream.reconfigure(errors="replace")
    if sys.platform == "win32":
        import colorama

        colorama.just_fix_windows_console()
