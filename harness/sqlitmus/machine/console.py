"""Makes stdout and stderr take every character and colour, with the same bytes on each system."""

import io
import sys


def prepare() -> None:
    """Set up both streams; call it before anything is written.

    Windows writes a redirected stream in the country's code page, which lacks → and ≈, and ends
    lines with two characters; its older console prints colours as characters. Elsewhere only
    characters that the locale's encoding lacks are replaced.
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
