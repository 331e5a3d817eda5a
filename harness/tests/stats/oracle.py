"""scipy, which these tests measure ours against; it has no type stubs.

Its own modules are imported when they are first used: all tests are collected without them.
"""

from importlib import import_module
from typing import Any

scipy: Any = import_module("scipy")
