"""scipy, which these tests measure ours against; it has no type stubs."""

from importlib import import_module
from typing import Any

scipy_stats: Any = import_module("scipy.stats")
scipy_optimize: Any = import_module("scipy.optimize")
scipy_special: Any = import_module("scipy.special")
