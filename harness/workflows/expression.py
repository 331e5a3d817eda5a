"""The part of GitHub's expressions that the workflows use; anything else is an `ExpressionError`.

https://docs.github.com/actions/reference/workflows-and-actions/expressions
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

_TOKEN = re.compile(r"\s*('(?:[^']|'')*'|\d+|&&|\|\||==|!=|[!()\[\].]|[A-Za-z_][\w-]*)")
_WHOLE = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)


Value: TypeAlias = "str | int | bool | list[Any] | dict[str, Any]"


class ExpressionError(Exception):
    """An expression that is not understood here."""


class _Parser:
    def __init__(self, text: str, contexts: Mapping[str, Any]) -> None:
        self._text = text
        self._contexts = contexts
        self._tokens: list[str] = []
        end = 0
        while text[end:].strip():
            found = _TOKEN.match(text, end)
            if not found:
                raise ExpressionError(f"{text.strip()!r}: not understood from {text[end:]!r}")
            self._tokens.append(found[1])
            end = found.end()

    def whole(self) -> Value:
        value = self._either()
        if self._tokens:
            raise ExpressionError(f"{self._text.strip()!r}: {self._tokens[0]!r} is too much")
        return value

    def _next(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def _take(self, *wanted: str) -> str:
        token = self._next()
        if not token or (wanted and token not in wanted):
            raise ExpressionError(f"{self._text.strip()!r}: {token!r} in place of {wanted}")
        return self._tokens.pop(0)

    def _either(self) -> Value:
        value = self._both()
        while self._next() == "||":
            self._take()
            other = self._both()
            value = value or other
        return value

    def _both(self) -> Value:
        value = self._compared()
        while self._next() == "&&":
            self._take()
            other = self._compared()
            value = value and other
        return value

    def _compared(self) -> Value:
        value = self._not()
        if self._next() in {"==", "!="}:
            equal = self._take() == "=="
            value = (value == self._not()) == equal
        return value

    def _not(self) -> Value:
        if self._next() == "!":
            self._take()
            return not self._not()
        value: Any = self._value()
        while self._next() in {".", "["}:
            if self._take() == ".":
                key = self._take()
            else:
                key = str(self._either())
                self._take("]")
            members = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
            value = members.get(key, "")
        return value

    def _value(self) -> Value:
        word = self._take()
        if word == "(":
            value = self._either()
            self._take(")")
            return value
        if word.startswith("'"):
            return word[1:-1].replace("''", "'")
        if word.isdigit():
            return int(word)
        if self._next() == "(":
            return self._call(word)
        if word not in self._contexts:
            raise ExpressionError(f"{self._text.strip()!r}: there is no {word!r} here")
        return self._contexts[word]

    def _call(self, name: str) -> Value:
        self._take("(")
        given = [] if self._next() == ")" else [self._either()]
        self._take(")")
        calls: dict[str, Callable[..., Value]] = {
            "fromJSON": json.loads,
            "cancelled": lambda: False,
            "failure": lambda: self._contexts["job"]["status"] != "success",
            "success": lambda: self._contexts["job"]["status"] == "success",
            "always": lambda: True,
        }
        if name not in calls:
            raise ExpressionError(f"{self._text.strip()!r}: there is no function {name!r} here")
        return calls[name](*given)


def evaluate(text: str, contexts: Mapping[str, Any]) -> Value:
    """The value of `text`, an expression with or without `${{ }}` around it."""
    found = _WHOLE.fullmatch(text.strip())
    return _Parser(found[1] if found else text, contexts).whole()


def fill(text: str, contexts: Mapping[str, Any]) -> str:
    """`text` with each `${{ }}` replaced by its value."""
    return _WHOLE.sub(lambda found: str(_Parser(found[1], contexts).whole()), text)


def holds(condition: str, contexts: Mapping[str, Any]) -> bool:
    """Whether an `if` lets its step or job run; without a status function success is asked, too."""
    asks_status = re.search(r"\b(cancelled|failure|success|always)\(", condition)
    if not asks_status and contexts["job"]["status"] != "success":
        return False
    return bool(evaluate(condition, contexts)) if condition else True
