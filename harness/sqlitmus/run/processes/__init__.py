"""Starts and times processes.

`process` is one under hyperfine, `launch` several at once behind a `barrier`, `relay` those of a
case in `turns`; `progress` tells of them.

Imports: nothing.
"""
