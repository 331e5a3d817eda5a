"""Runs of several machines, or of one kind's shards → one merged run directory.

`sources` what is there, copied within limits (`copying`) and judged (`guard`, `values`) · `agree`,
`machines` which of it belongs together, pure · `merge` top to bottom · `model` what is written.
"""
