"""All steps of the set-up, and the tools that they make for the harness."""

from bootstrap.addon_steps import BETTER_SQLITE3
from bootstrap.built_steps import DOTNET, HYPERFINE, RUST
from bootstrap.counter_steps import SYNC_COUNTER
from bootstrap.go_steps import ACTIONLINT
from bootstrap.npm_steps import NPM, NPM_DEV, NPM_LIBSQL, NPM_PEERS, NPM_TURSO
from bootstrap.plain_steps import PLAIN
from bootstrap.python_steps import PYTHON, PYTHON_DEV
from bootstrap.step import Step
from bootstrap.variant_steps import RUST_SQLX, RUST_SYSTEM, RUST_VARIANTS

# in the order of starting: what everything waits for, then the longest
STEPS: dict[str, Step] = {
    step.name: step
    for step in (
        *(PYTHON, RUST, HYPERFINE, NPM, DOTNET, PYTHON_DEV, NPM_DEV),
        *(SYNC_COUNTER, ACTIONLINT, BETTER_SQLITE3, *RUST_VARIANTS, RUST_SYSTEM, RUST_SQLX, *PLAIN),
        *(NPM_LIBSQL, NPM_PEERS, NPM_TURSO),
    )
}
# a tool's name in `runner.toml` -> (step, entry of the step)
ENTRIES = {tool: (step.name, tool) for step in STEPS.values() for tool in step.tools}
