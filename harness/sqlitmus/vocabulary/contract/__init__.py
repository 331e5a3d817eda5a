"""What the harness asks of a runner and gets back: `job`, `step`, `result`, `description`.

These models are the source of the JSON Schemas in `runners/contract/`; the words are explained in
`runners/contract/CONTRACT.md`.

Imports: nothing.
"""
