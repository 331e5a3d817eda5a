"""What the harness asks of a runner and what it gets back: `job`, `result`, `description`.

These models are the source of the JSON Schemas in `runners/contract/`; the words are explained in
`runners/contract/CONTRACT.md`.

Imports: nothing.
"""
