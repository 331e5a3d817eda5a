"""Text of unknown origin without characters that drive a terminal or turn the order of a line.

Names, versions and messages come from runners, folders and files that anyone may have written.
"""

import re

# C0 and C1 controls, marks that join, hide or reorder (bidi), line separators, lone surrogates.
_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
# Blanks of one line, but the thin one between a number and its unit.
_BLANK = re.compile(r"[^\S\u202f]")
MOST_TOLD = 1000  # characters of a message that is one line among others


def visible(text: str) -> str:
    """`text` with "?" for each such character; line ends and tabs stay."""
    return _HIDDEN.sub("?", text.replace("\r\n", "\n"))


def shortened(text: str, most: int = MOST_TOLD) -> str:
    """`text`, visible, cut after `most` characters."""
    return visible(text if len(text) <= most else text[:most] + "…")


def one_line(text: str, most: int | None = None) -> str:
    """`text` as one line, cut after `most` characters."""
    if most is not None and len(text) > most:
        text = text[:most] + "…"
    return text if text.isprintable() else visible(_BLANK.sub(" ", text))


def json_text(text: str) -> str:
    """JSON with escapes for such characters, which says the same."""
    return _HIDDEN.sub(lambda match: _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
